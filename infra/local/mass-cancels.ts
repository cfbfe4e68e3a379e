/** Cancels what is open in this process, for stops and failed checks that ask for it: at once and each minute. */

import { setTimeout as delay } from 'node:timers/promises';
import type { KeyedNames } from '../../lib/access/directory.ts';
import type { Gateway } from '../../lib/gateway/index.ts';
import { createGatewayCancels } from '../../lib/gateway/order-cancels.ts';
import type { ControlAdminStore } from '../../lib/guard-rails/control-admin-store.ts';
import type { MassCancelStore, MemoryControls } from '../../lib/guard-rails/index.ts';
import { limiterKey } from '../../lib/limiter/store.ts';
import { createMassCancels, type OrderJournal } from '../../lib/orders/index.ts';
import { createGatewayOrderReads } from '../../lib/trade-events/index.ts';

export interface LocalMassCancelsOptions {
  readonly store: MassCancelStore;
  readonly journal: OrderJournal;
  /** Reads orders as the holder of the app key. */
  readonly orders: Pick<Gateway, 'ask'>;
  /** Cancels orders as the holder of the app key. */
  readonly cancels: Pick<Gateway, 'ask'>;
  readonly names: KeyedNames;
  readonly appKey: string;
  readonly onFailure?: (error: unknown) => void;
}

export interface LocalMassCancels {
  /** A request was written: a run begins now, or after the one that is under way. */
  wake(): void;
  close(): void;
}

const everyMs = 60_000;
/** What is left of the minute is the next run's. */
const runMs = 40_000;

const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, { ref: false, ...(signal && { signal }) });

/**
 * @example
 * const massCancels = startMassCancels({ store, journal, orders, cancels, names, appKey });
 * massCancels.close();
 */
export function startMassCancels(options: LocalMassCancelsOptions): LocalMassCancels {
  const { store, journal, orders, cancels, names, appKey, onFailure = () => {} } = options;
  const massCancels = createMassCancels({
    store,
    journal,
    orders: createGatewayOrderReads({ gateway: orders, sleep, maxWaitMs: runMs }),
    cancel: createGatewayCancels({ gateway: cancels, sleep }),
    names,
    credential: () => limiterKey('account', appKey),
    reportFailure: onFailure,
  });
  let isClosed = false;
  let pause = new AbortController();
  void (async () => {
    while (!isClosed) {
      await sleep(everyMs, pause.signal).catch(() => {});
      pause = new AbortController();
      if (!isClosed) await massCancels.run(Date.now() + runMs).catch(onFailure);
    }
  })();
  return {
    wake: () => pause.abort(),
    close() {
      isClosed = true;
      pause.abort();
    },
  };
}

/** The controls of the run, which tell of each request to cancel what is open. */
export function withWake(
  controls: MemoryControls,
  wake: () => void,
): { readonly controls: ControlAdminStore; readonly massCancels: MassCancelStore } {
  return {
    controls: {
      ...controls,
      async write(change) {
        const isWritten = await controls.write(change);
        if (isWritten && change.massCancel) wake();
        return isWritten;
      },
    },
    massCancels: {
      ...controls.massCancels,
      async request(massCancel) {
        await controls.massCancels.request(massCancel);
        wake();
      },
    },
  };
}
