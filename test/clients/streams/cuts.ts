/**
 * Readers of streams whose connections are cut again and again, while quotes change and orders are filled: at the end each
 * shows what a poll answers, and was told each order event that was published.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { getStockSnapshots, limits, placeOrder } from '../../../lib/catalogue/index.ts';
import { createClient, viaGateway } from '../../../lib/client/index.ts';
import { apiKey, startUpstream } from '../upstreams.ts';
import { cuts, startCuttingProxy } from './cutting-proxy.ts';
import { readers, type StreamReader, symbols, Told } from './readers.ts';

export interface CutsOptions {
  readonly readers: readonly StreamReader[];
  readonly cuts: number;
  readonly everySeconds: number;
}

export interface MeasuredReader {
  readonly name: string;
  /** How often a record was replaced. */
  readonly changes: number;
  /** Symbols that it shows otherwise than a poll does. */
  readonly otherThanPoll: readonly string[];
  /** From the last cut until it showed what a poll does, and missed nothing. */
  readonly settledMs: number | undefined;
  /** Order events that it was not told, that nobody published, and that it was told again. */
  readonly missing: number;
  readonly invented: number;
  readonly again: number;
}

export interface MeasuredCuts {
  /** Connections that were cut. */
  readonly connections: number;
  readonly published: number;
  readonly byReader: readonly MeasuredReader[];
}

/** A Wednesday at ten in New York: prices move whenever this runs. */
const whileOpen = Date.UTC(2026, 6, 15, 14);
const orderEveryMs = 2000;
/** Far above what a reader needs: 12 s of silence, and a pause before it connects again. */
const patienceMs = 60_000;

export async function measureCuts(options: CutsOptions): Promise<MeasuredCuts> {
  for (const reader of options.readers) await reader.prepare?.();
  const [started, over] = [Date.now(), new AbortController()];
  let stoodAt: number | undefined;
  const { run, close } = await startUpstream('usual', () => whileOpen + (stoodAt ?? Date.now()) - started, {
    corsOrigins: '*',
    plan: 'app',
    marketDataLimit: limits['market-data'],
  });
  const proxy = await startCuttingProxy(run.url);
  try {
    const published = new Set<string>();
    run.tradeEvents?.subscribe(({ detail }) => void published.add(JSON.parse(detail).event_id));
    const urls = { GATEWAY_URL: proxy.url, ISSUER_URL: `${proxy.url}/issuer` };
    const all = options.readers.map((reader) => ({ reader, told: new Told() }));
    const failed = Promise.all(all.map(({ reader, told }) => reader.read(told, urls, over.signal)));
    const orFailed = <T>(work: Promise<T>) => Promise.race([work, failed.then(() => work)]);
    const haveBegun = () =>
      all.every(
        ({ reader, told }) => told.quotes.size === symbols.length && told.hasBegun === reader.hasOrders,
      );
    await orFailed(until(haveBegun, Number.POSITIVE_INFINITY));

    const orders = placeOrders(run.url, run.users[0]?.accounts[0] ?? '');
    let connections = 0;
    for (let at = 0; at < options.cuts; at++) {
      await orFailed(delay(1000 * options.everySeconds));
      connections += proxy.cut(cuts[at % cuts.length] ?? 'reset');
    }
    await orders.end();
    const cutAt = Date.now();
    stoodAt = cutAt;
    const measured = async () => {
      const polled = await poll(run.url);
      return all.map(({ reader, told }) => compared(reader, told, polled, published));
    };
    const settled = new Map<string, number>();
    let byReader = await measured();
    await orFailed(
      until(async () => {
        // A poll may be ahead of a stream for a moment: all of them agree with one and the same.
        byReader = await measured();
        for (const { name, otherThanPoll, missing } of byReader)
          if (otherThanPoll.length + missing > 0) settled.delete(name);
          else if (!settled.has(name)) settled.set(name, Date.now() - cutAt);
        return settled.size === all.length;
      }, patienceMs),
    );
    over.abort();
    await failed;
    return {
      connections,
      published: published.size,
      byReader: byReader.map((one) => ({ ...one, settledMs: settled.get(one.name) })),
    };
  } finally {
    over.abort();
    proxy.close();
    await close();
  }
}

type Compared = Omit<MeasuredReader, 'settledMs'>;

function compared(
  { name, hasOrders }: StreamReader,
  { quotes, changes, orders }: Told,
  polled: ReadonlyMap<string, unknown>,
  published: ReadonlySet<string>,
): Compared {
  return {
    name,
    changes,
    otherThanPoll: symbols.filter((symbol) => !isDeepStrictEqual(quotes.get(symbol), polled.get(symbol))),
    missing: hasOrders ? [...published].filter((id) => !orders.has(id)).length : 0,
    invented: [...orders.keys()].filter((id) => !published.has(id)).length,
    again: [...orders.values()].reduce((sum, times) => sum + times - 1, 0),
  };
}

async function poll(url: string): Promise<ReadonlyMap<string, unknown>> {
  const target = `${url}${getStockSnapshots.path}?symbols=${symbols}&category=US_STOCK`;
  const response = await fetch(target, { headers: { 'x-api-key': apiKey } });
  const records = (await response.json()) as readonly { readonly symbol: string }[];
  return new Map(records.map((record) => [record.symbol, record]));
}

/** One after the other; each is filled within seconds. */
function placeOrders(baseUrl: string, account_id: string) {
  const client = createClient({ placeOrder }, viaGateway({ baseUrl, apiKey }));
  let isOver = false;
  const placing = (async () => {
    for (; !isOver; await delay(orderEveryMs))
      await client.placeOrder({
        account_id,
        new_orders: [
          {
            client_order_id: randomUUID(),
            combo_type: 'NORMAL',
            symbol: 'AAPL',
            instrument_type: 'EQUITY',
            market: 'US',
            side: 'BUY',
            order_type: 'MARKET',
            quantity: '1',
            entrust_type: 'QTY',
            time_in_force: 'DAY',
            support_trading_session: 'CORE',
          },
        ],
      });
  })();
  return {
    end() {
      isOver = true;
      return placing;
    },
  };
}

async function until(isSo: () => boolean | Promise<boolean>, patienceMs: number): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end && !(await isSo()); ) await delay(100);
}

/** @param args how many cuts (15), and each how many seconds (20) */
export async function studyCuts([times = '15', everySeconds = '20']: readonly string[]): Promise<boolean> {
  const here = readers.filter(({ name, missing }) => {
    const what = missing();
    if (what) console.log(`${name} is left out: ${what}`);
    return !what;
  });
  const measured = await measureCuts({
    readers: here,
    cuts: Number(times),
    everySeconds: Number(everySeconds),
  });
  const { connections, published, byReader } = measured;
  console.log(
    `${times} cuts, one each ${everySeconds} s: ${connections} connections, ${published} order events`,
  );
  for (const { name, changes, otherThanPoll, settledMs, missing, invented, again } of byReader)
    console.log(
      `  ${name}: ${changes} changes, ${otherThanPoll.length} symbols other than a poll, settled ${settledMs} ms after the last cut; order events missing ${missing}, invented ${invented}, again ${again}`,
    );
  return byReader.every(
    ({ otherThanPoll, missing, invented }) => otherThanPoll.length + missing + invented === 0,
  );
}
