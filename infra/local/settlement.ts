/** The settlement of unknown orders in this process: each minute and by trade events, as it is deployed. */

import { setTimeout as delay } from 'node:timers/promises';
import type { KeyedNames } from '../../lib/access/directory.ts';
import type { Gateway } from '../../lib/gateway/index.ts';
import { limiterKey } from '../../lib/limiter/store.ts';
import { type CountingJournal, createSettlement } from '../../lib/orders/index.ts';
import { orderInEvent } from '../../lib/trade-events/event-order.ts';
import { createGatewayOrderReads, tradeEventNames } from '../../lib/trade-events/index.ts';
import type { LocalBus } from './bus.ts';

export interface LocalSettlementOptions {
  readonly journal: CountingJournal;
  /** Reads orders as the holder of the app key. */
  readonly orders: Pick<Gateway, 'ask'>;
  readonly names: KeyedNames;
  readonly appKey: string;
  /** Of trade events; absent where no listener runs. */
  readonly bus?: LocalBus | undefined;
  readonly onFailure?: (error: unknown) => void;
}

const everyMs = 60_000;
/** What is left of the minute is the next run's. */
const runMs = 40_000;

const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, { ref: false, ...(signal && { signal }) });

/**
 * @example
 * const settlement = startSettlement({ journal, orders, names, appKey });
 * settlement.close();
 */
export function startSettlement(options: LocalSettlementOptions): { close(): void } {
  const { journal, orders, names, appKey, bus, onFailure = () => {} } = options;
  const settlement = createSettlement({
    journal,
    counting: journal,
    orders: createGatewayOrderReads({ gateway: orders, sleep, maxWaitMs: runMs }),
    names,
    credential: () => limiterKey('account', appKey),
  });
  const ending = new AbortController();
  const unsubscribe = bus?.subscribe(({ detailType, detail }) => {
    const order = detailType === tradeEventNames.order ? orderInEvent(JSON.parse(detail)) : undefined;
    if (order) settlement.saw(order).catch(onFailure);
  });
  void (async () => {
    while (!ending.signal.aborted) {
      await sleep(everyMs, ending.signal).catch(() => {});
      if (!ending.signal.aborted) await settlement.run(Date.now() + runMs).catch(onFailure);
    }
  })();
  return {
    close() {
      unsubscribe?.();
      ending.abort();
    },
  };
}
