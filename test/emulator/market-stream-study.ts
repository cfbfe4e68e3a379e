/**
 * `npm run study -- market-stream 600 10 400`: seconds, kills and symbols. The deployed listener in processes of its own,
 * over the emulator's tables and before the simulator's broker, killed again and again, and an instance that follows. It
 * looks for values that went back, and for ages that were wrong: a trade that came to light later, and that the upstream
 * had sent before the moment that an earlier look claimed to show.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoSnapshotStore } from '../../functions/aws/dynamo-snapshot-store.ts';
import { createDynamoStreamedLog } from '../../functions/aws/dynamo-streamed-log.ts';
import { storePartition } from '../../functions/aws/snapshot-keys.ts';
import { upstreamName } from '../../functions/compose/gateway.ts';
import { type PushedMessage, type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import { lastTradeTime, tradeBefore } from '../../infra/simulator/market/tape.ts';
import { createUniverse } from '../../infra/simulator/market/universe.ts';
import { FollowedSnapshots, snapshotPartition, viewOf } from '../../lib/cache/snapshots/index.ts';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import { createClient, direct } from '../../lib/client/index.ts';
import { accountOf, toCredential } from '../../lib/gateway/credential.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { Histogram } from '../snapshots/world/study.ts';
import { credentials, secretText } from '../support/core.ts';
import { startMinistack } from '../support/ministack.ts';
import { part } from '../support/parts.ts';
import { createLimiterTable, createTable, emulatorEnvironment } from '../world/dynamo.ts';

const view = viewOf([['category', 'US_STOCK']]);
const tables = { cache: 'cache', limiter: 'limiter' };

export async function studyMarketStream([
  seconds = '600',
  kills = '10',
  symbols = '400',
]: readonly string[]): Promise<boolean> {
  Object.assign(process.env, emulatorEnvironment);
  const emulator = await startMinistack();
  const sent = new SentTrades();
  const simulator = await startSimulator({
    ...credentials,
    marketStream: { onPush: (message) => sent.note(message) },
  });
  const listeners = new Listeners(simulator, emulator.endpoint);
  try {
    await createTable(emulator.endpoint, tables.cache);
    await createLimiterTable(emulator.endpoint, tables.limiter);
    const cache = await createFollower(simulator, emulator.endpoint);
    const watch = new Watch(cache, sent, busiest(Number(symbols)));
    // The second waits for the lease, as starts of a schedule do.
    listeners.start();
    listeners.start();
    const lifeMs = (1000 * Number(seconds)) / (Number(kills) + 1);
    for (let life = 0; life <= Number(kills); life++) {
      await watch.look(lifeMs);
      if (life < Number(kills)) listeners.kill(simulator);
    }
    console.log(watch.told(Number(seconds), Number(kills)));
    return watch.wentBack === 0 && watch.wrong === 0;
  } finally {
    listeners.close();
    await simulator.close();
    await emulator.stop();
  }
}

/** Those that trade most: 400 of them three times a second, as often as the upstream tells of one. */
function busiest(count: number): readonly string[] {
  const now = Date.now();
  const paces = [...createUniverse(1).values()].flatMap((instrument) => {
    const last = lastTradeTime(instrument, now);
    const paceMs = last - tradeBefore(instrument, last);
    return instrument.category === 'US_STOCK' ? [{ symbol: instrument.symbol, paceMs }] : [];
  });
  return paces
    .sort((a, b) => a.paceMs - b.paceMs)
    .slice(0, count)
    .map(({ symbol }) => symbol);
}

class Listeners {
  readonly #env: NodeJS.ProcessEnv;
  readonly #all = new Set<ChildProcess>();

  constructor({ url, marketStream }: Simulator, endpoint: string) {
    this.#env = {
      ...process.env,
      AWS_ENDPOINT_URL: endpoint,
      AWS_LAMBDA_FUNCTION_NAME: 'market-stream',
      SECRET_TEXT: secretText(),
      ...part('UPSTREAM', { baseUrl: url, secretId: 'app-secret' }),
      ...part('MARKET_STREAM', { url: marketStream?.url ?? '', tableName: tables.cache }),
      ...part('LIMITER', { tableName: tables.limiter, bucket: 'study' }),
    };
  }

  start(): void {
    const file = join(import.meta.dirname, 'market-stream-listener.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', file], {
      env: this.#env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.#all.add(child);
    child.once('exit', () => this.#all.delete(child));
  }

  /** The one that listens is the one that began first. */
  kill({ marketStream }: Simulator): void {
    const [first] = this.#all;
    first?.kill('SIGKILL');
    if (Object.keys(marketStream?.sessions ?? {}).length === 0)
      console.log('killed while no listener had a session');
    this.start();
  }

  close(): void {
    for (const child of this.#all) child.kill('SIGKILL');
  }
}

/** An instance as it is deployed, but for the limiter: what it fetches is far below any limit. */
async function createFollower({ url }: Simulator, endpoint: string): Promise<FollowedSnapshots> {
  const read = toCredential(secretText(), { clock: Date.now });
  if (!read.ok) throw new Error(read.code);
  const partition = storePartition(
    upstreamName(url),
    snapshotPartition(await accountOf(read.credential), getStockSnapshots),
  );
  const shared = {
    client: createDynamoClient(endpoint),
    tableName: tables.cache,
    partition,
    timeoutMs: 2000,
  };
  const client = createClient(
    { getStockSnapshots },
    direct({ baseUrl: url, signer: createSigner(credentials) }),
  );
  return new FollowedSnapshots({
    store: createDynamoSnapshotStore(shared),
    streamed: createDynamoStreamedLog(shared),
    permits: { acquire: async () => ({ ok: true, permit: { expiresAt: Infinity, consume: () => true } }) },
    upstream: async (_view, symbols) => {
      const asked = { symbols: [...symbols], category: 'US_STOCK' } as const;
      const { text } = await client.getStockSnapshots.answer(asked);
      return { kind: 'answer', body: new TextEncoder().encode(text) };
    },
  });
}

/** When the upstream first sent a trade, of those that it sent lately. */
class SentTrades {
  readonly #all = new Map<string, readonly (readonly [tradedAt: number, sentAt: number])[]>();

  note({ type, symbol, tradedAt, sentAt }: PushedMessage): void {
    if (type !== 'SNAPSHOT') return;
    const known = this.#all.get(symbol) ?? [];
    if (known.some(([one]) => one === tradedAt)) return;
    this.#all.set(symbol, [...known, [tradedAt, sentAt] as const].slice(-100));
  }

  /** When it sent the first trade after one and up to another. @returns undefined where all were fetched, and none sent */
  firstSentAt(symbol: string, after: number, upTo: number): number | undefined {
    return this.#all.get(symbol)?.find(([one]) => one > after && one <= upTo)?.[1];
  }
}

interface Shown {
  readonly tradedAt: number;
  /** The latest moment that was claimed for it, and for those before. */
  readonly claimedAt: number;
}

/** Looks ten times a second at what an instance shows, until it has seen a trade: without one it shows nothing. */
class Watch {
  readonly #cache: FollowedSnapshots;
  readonly #sent: SentTrades;
  readonly #symbols: readonly string[];
  readonly #shown = new Map<string, Shown>();
  readonly #ages = new Histogram();
  readonly #oldest: number[] = [];
  wentBack = 0;
  wrong = 0;
  #looks = 0;
  #checked = 0;
  #wrongMs = 0;

  constructor(cache: FollowedSnapshots, sent: SentTrades, symbols: readonly string[]) {
    this.#cache = cache;
    this.#sent = sent;
    this.#symbols = symbols;
  }

  async look(forMs: number): Promise<void> {
    let oldest = 0;
    const [endAt, before] = [Date.now() + forMs, this.#checked];
    for (let turn = 0; Date.now() < endAt || this.#checked === before; turn++) {
      await this.#cache.follow();
      if (turn % 50 === 0) await this.#ask();
      for (const symbol of this.#symbols) oldest = Math.max(oldest, this.#see(symbol));
      await delay(100);
      // What is missing at the beginning is no gap.
      if (turn === 0 && this.#looks < 100) oldest = 0;
    }
    this.#oldest.push(oldest);
  }

  async #ask(): Promise<void> {
    for (let from = 0; from < this.#symbols.length; from += 100) {
      const symbols = this.#symbols.slice(from, from + 100);
      for (const symbol of symbols) this.#cache.count(view, symbol, 1);
      await this.#cache.ask({ view, symbols, caller: 'study', deadline: Date.now() + 4000 });
    }
  }

  /** @returns its age */
  #see(symbol: string): number {
    const look = this.#cache.look(view, symbol);
    if (look.kind !== 'known') return 0;
    this.#looks++;
    const { record, sentAt } = look.snapshot;
    const { last_trade_time: tradedAt } = JSON.parse(new TextDecoder().decode(record)) as {
      last_trade_time: number;
    };
    const before = this.#shown.get(symbol) ?? { tradedAt: 0, claimedAt: 0 };
    if (tradedAt < before.tradedAt) this.wentBack++;
    if (tradedAt > before.tradedAt)
      this.#judge(before, this.#sent.firstSentAt(symbol, before.tradedAt, tradedAt));
    this.#shown.set(symbol, { tradedAt, claimedAt: Math.max(sentAt, before.claimedAt) });
    const ageMs = Date.now() - sentAt;
    this.#ages.add(ageMs);
    return ageMs;
  }

  /** A look that claimed a moment at which a newer trade had been sent, and did not have it, was wrong. */
  #judge({ claimedAt }: Shown, sentAt: number | undefined): void {
    if (sentAt === undefined) return;
    this.#checked++;
    if (sentAt >= claimedAt) return;
    this.wrong++;
    this.#wrongMs = Math.max(this.#wrongMs, claimedAt - sentAt);
  }

  told(seconds: number, kills: number): string {
    const { p50, p99, max } = this.#ages.quantiles();
    return (
      `${this.#symbols.length} symbols for ${seconds} s, listener killed ${kills} times: age p50/p99/max ${p50}/${p99}/${max} ms, ` +
      `oldest after each start ${this.#oldest.join(', ')} ms; went back ${this.wentBack}, ` +
      `told wrongly ${this.wrong} of ${this.#checked} trades (by ${this.#wrongMs} ms at most) in ${this.#looks} looks`
    );
  }
}
