/** A few instances, a store and an upstream on a virtual clock, for single requests. */

import assert from 'node:assert/strict';
import {
  packCheckpoint,
  packRecord,
  unpackCheckpoint,
  unpackRecord,
} from '../../../functions/aws/snapshot-items.ts';
import { createMemoryDirectoryStore } from '../../../lib/cache/snapshots/directory.ts';
import {
  createMemorySnapshotStore,
  noControl,
  type SnapshotStore,
} from '../../../lib/cache/snapshots/index.ts';
import type {
  AskUpstream,
  RefreshAnswer,
  RefreshPermits,
  SnapshotOptions,
} from '../../../lib/cache/snapshots/ports.ts';
import { cutRecords } from '../../../lib/cache/snapshots/records.ts';
import type { SnapshotCall, SnapshotOutcome } from '../../../lib/cache/snapshots/request.ts';
import { createSnapshotCache, type SnapshotCache } from '../../../lib/cache/snapshots/snapshot-cache.ts';
import { type View, viewOfId } from '../../../lib/cache/snapshots/view.ts';
import type { Priority } from '../../../lib/limiter/index.ts';
import { createRandom } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import { createVirtualListings } from './directory.ts';
import { exists } from './load.ts';
import { createVirtualUpstream, madeAt, type VirtualUpstreamOptions } from './upstream.ts';

export interface BenchOptions extends Partial<VirtualUpstreamOptions> {
  readonly figures?: Partial<SnapshotOptions>;
  /** The upstream's message names a symbol that exists. */
  readonly misleading?: boolean;
  /** The upstream gives nothing with this flag, whatever the symbols. */
  readonly deniedFlag?: string;
  /** What it does to a call instead of what it would, if anything. */
  readonly instead?: (view: View, symbols: readonly string[]) => RefreshAnswer | undefined;
  readonly seed?: number;
  /** What the upstream's lists hold; without it there is no directory. */
  readonly listed?: Readonly<Record<string, readonly string[]>>;
  readonly pageSize?: number;
  /** How long the store takes for anything; default 4 to 8 milliseconds. */
  readonly storeMs?: number;
  /** The cache that is judged. Default as it is. */
  readonly create?: typeof createSnapshotCache;
}

export const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

export const us = (call: Partial<SnapshotCall>): SnapshotCall => ({
  view: viewOfId('US_STOCK'),
  symbols: [],
  caller: 'key-1',
  ...call,
});

export const answered = (outcome: SnapshotOutcome) => {
  assert.equal(outcome.kind, 'snapshots', JSON.stringify(outcome));
  return outcome as Extract<SnapshotOutcome, { kind: 'snapshots' }>;
};

export const symbolsOf = (outcome: SnapshotOutcome) =>
  answered(outcome).snapshots.map(({ symbol }) => symbol);

export function createBench(options: BenchOptions = {}) {
  const { figures, misleading, deniedFlag, instead, storeMs, seed = 1 } = options;
  const time = new VirtualTime();
  const random = createRandom(seed);
  const upstream = createVirtualUpstream(time, random, { exists, ...options });
  const directory = createMemoryDirectoryStore();
  const listings = options.listed && createVirtualListings(time, random, options.listed, options.pageSize);
  const calls: {
    readonly view: string;
    readonly symbols: readonly string[];
    readonly kind: RefreshAnswer['kind'];
  }[] = [];
  const sent = new Map<string, Uint8Array>();
  let memory = createMemorySnapshotStore(time.now);
  let refusals = 0;
  let losesWrite = false;
  let isAway = false;
  let brokenOperations: readonly (keyof SnapshotStore)[] = [];
  let startsAtOnce = 1;
  const operations = new Map<string, number>();
  let isOpen = true;
  let breaks: 'limiter' | 'upstream' | undefined;
  const asked: Priority[] = [];

  let reads = 0;
  const wayMs = () => (storeMs === undefined ? 2 + 2 * random() : storeMs / 2);

  const trip = async <T>(work: () => Promise<T>): Promise<T> => {
    await time.sleep(wayMs());
    if (isAway) throw new Error('the store is away');
    const answer = await work();
    await time.sleep(wayMs());
    return answer;
  };
  const whole: SnapshotStore = {
    read: (after, missing) => {
      reads++;
      return trip(() => memory.read(after, missing));
    },
    acquire: (next, after) => trip(() => memory.acquire(next, after)),
    countStart: () => trip(async () => startsAtOnce),
    readCheckpoint: (copy) => trip(() => memory.readCheckpoint(copy)),
    writeCheckpoint: (copy, checkpoint) =>
      trip(async () => {
        const [part] = packCheckpoint(checkpoint, Number.POSITIVE_INFINITY);
        const asRead = part && unpackCheckpoint(part);
        if (asRead) await memory.writeCheckpoint(copy, asRead);
      }),
    writeMisses: (keys) => trip(() => memory.writeMisses(keys)),
    readMisses: () => trip(() => memory.readMisses()),
    write: (record) =>
      trip(async () => {
        // As it comes back from a table, or one that reads would know more than it does when deployed.
        const asRead = unpackRecord(packRecord(record));
        if (!losesWrite && asRead) await memory.write(asRead);
        losesWrite = false;
      }),
  };
  const store = Object.fromEntries(
    Object.entries(whole).map(([name, work]: [string, (...given: never[]) => Promise<unknown>]) => [
      name,
      (...given: never[]) => {
        operations.set(name, (operations.get(name) ?? 0) + 1);
        return brokenOperations.some((one) => one === name)
          ? trip(() => Promise.reject(new Error(`${name} is broken`)))
          : work(...given);
      },
    ]),
  ) as unknown as SnapshotStore;
  const permits: RefreshPermits = {
    async acquire({ priority }) {
      asked.push(priority);
      if (breaks === 'limiter') throw new Error('the limiter is broken');
      if (!isOpen) return { ok: false, retryAfterMs: 200 };
      let used = false;
      const consume = () => {
        const isFirst = !used;
        used = true;
        return isFirst;
      };
      return { ok: true, permit: { expiresAt: time.now() + 250, consume } };
    },
  };
  const ask: AskUpstream = async (view, symbols, permit, timeoutMs) => {
    if (breaks === 'upstream') throw new Error('the way to the upstream is broken');
    const answer = await answerTo(view, symbols, permit, timeoutMs);
    calls.push({ view: view.id, symbols, kind: answer.kind });
    if (answer.kind === 'answer')
      for (const [symbol, record] of cutRecords(answer.body) ?? []) sent.set(symbol, record);
    return answer;
  };
  const answerTo: AskUpstream = async (view, symbols, permit, timeoutMs) => {
    if (deniedFlag && view.query.some(([name]) => name === deniedFlag))
      return { kind: 'forbidden', error: { status: 403, errorCode: 'UNAUTHORIZED_CATEGORY' } };
    if (refusals > 0) {
      refusals--;
      return { kind: 'rejected', error: { status: 417, errorCode: 'INVALID_SYMBOL' } };
    }
    if (!permit.consume()) return { kind: 'failed' };
    const other = instead?.(view, symbols);
    if (other) await time.sleep(80);
    if (other) return other;
    const answer = await upstream.ask(view, symbols, permit, timeoutMs);
    if (answer.kind !== 'rejected' || !misleading) return answer;
    const named = symbols.find(exists) ?? symbols[0];
    return { ...answer, error: { ...answer.error, message: `Not known: ${named}` } };
  };

  /** Runs until the work is done, and nothing longer. */
  async function finish<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    for (let steps = 0; !isDone; steps++) {
      if (steps > 20_000) throw new Error('it never ends');
      await time.runUntil(time.now() + 5);
    }
    return done;
  }

  return {
    time,
    calls,
    directory,
    listings,
    /** Of the store, so far. */
    get reads() {
      return reads;
    },
    sent,
    upstream,
    /** @param aheadMs how wrong its clock is */
    instance: (aheadMs = 0): SnapshotCache =>
      (options.create ?? createSnapshotCache)({
        store,
        permits,
        upstream: ask,
        clock: () => time.now() + aheadMs,
        sleep: time.sleep,
        random,
        ...(figures && { options: figures }),
        ...(listings && { directory: { store: directory, listings } }),
      }),
    ask: (instance: SnapshotCache, call: Partial<SnapshotCall>): Promise<SnapshotOutcome> =>
      finish(instance.ask(us(call))),
    all: <T>(works: readonly (() => Promise<T>)[]): Promise<T[]> =>
      finish(Promise.all(works.map((work) => work()))),
    wait: (ms: number) => time.runUntil(time.now() + ms),
    /** When the record that was sent last was made, by the upstream. */
    madeAt: (symbol: string) => madeAt(sent.get(symbol)!),
    permits: {
      setOpen: (open: boolean) => {
        isOpen = open;
      },
      /** With which priority each was asked for. */
      asked,
    },
    /** From now on that port throws, against its contract. */
    setBroken(port: typeof breaks) {
      breaks = port;
    },
    refuseNext(count: number) {
      refusals = count;
    },
    loseNextWrite() {
      losesWrite = true;
    },
    setStoreAway(away: boolean) {
      isAway = away;
    },
    /** How often each of the store's was called so far. */
    operations: (): Partial<Record<keyof SnapshotStore, number>> => Object.fromEntries(operations),
    /** From now on these of its operations fail, and the others do not. */
    breakInStore(...operations: readonly (keyof SnapshotStore)[]) {
      brokenOperations = operations;
    },
    /** How many instances began in the same second, as the store counts. */
    setStarts(count: number) {
      startsAtOnce = count;
    },
    emptyStore() {
      memory = createMemorySnapshotStore(time.now);
    },
    /** Writes a control item in which nothing is due before. */
    async setDue(due: number) {
      const { control } = await memory.read(undefined, []);
      const next = { ...control, sequence: control.sequence + 1, probes: noControl.probes };
      await memory.acquire({ ...next, due: { refresh: due, miss: due, probe: due } }, control.sequence);
    },
  };
}
