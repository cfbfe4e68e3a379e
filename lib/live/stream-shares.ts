/**
 * How many streams each caller has, in all processes together: a stream takes room that others want, too. Counted by the
 * ids of streams, each with its end, so that what a dead process held is free again when it would have ended.
 */

import { anonymousCaller } from '../gateway/cache-options.ts';
import type { GatewayRequest } from '../gateway/http.ts';
import { type BackOff, jitteredMs, sleep as sleepFor } from '../kernel/pauses.ts';

export interface HeldStreams {
  /** Counts the writes. */
  readonly revision: number;
  /** By stream, when it ends at the latest, in milliseconds since the epoch. */
  readonly until: ReadonlyMap<string, number>;
}

/** Port. Rejects when the store cannot be asked. */
export interface StreamStore {
  /** With revision 0 where nothing is. It sees every write that was answered before. */
  read(caller: string): Promise<HeldStreams>;
  /** Of concurrent writes of one revision exactly one succeeds. */
  write(caller: string, next: HeldStreams): Promise<boolean>;
}

export interface StreamShares {
  /**
   * Room for one more stream of the caller. A store that fails lets it in: no money is at stake.
   *
   * @returns what frees it again; undefined when the caller has as many as one may have
   */
  take(request: GatewayRequest, until: number): Promise<(() => Promise<void>) | undefined>;
}

/**
 * A caller's streams begin and end at once where its network or a process is lost: each change is tried again after others
 * had time for theirs. Some three seconds in all at most, so that a stream that ends in time has freed its room in time.
 */
const maxTries = 8;
const backOff: BackOff = { firstMs: 25, maxMs: 1600 };
/** The callers of one IPv6 /48 have as many streams as two callers. */
const siteShares = 2;

export interface StreamShareOptions {
  /** Streams of one caller. */
  readonly max: number;
  readonly clock: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

/**
 * @example
 * const shares = createStreamShares(createMemoryStreamStore(), { max: 100, clock: Date.now });
 */
export function createStreamShares(
  store: StreamStore,
  { max, clock, sleep = sleepFor, random = Math.random }: StreamShareOptions,
): StreamShares {
  /** @returns whether the change was written, or none is wanted */
  async function change(unit: string, changed: (until: Map<string, number>) => boolean): Promise<boolean> {
    for (let tries = 0; tries < maxTries; tries++) {
      if (tries > 0) await sleep(jitteredMs(backOff, tries - 1, random));
      const { revision, until } = await store.read(unit);
      const open = new Map([...until].filter(([, end]) => end > clock()));
      if (!changed(open)) return false;
      if (await store.write(unit, { revision: revision + 1, until: open })) return true;
    }
    return false;
  }
  return {
    async take({ caller: { unit, site } = anonymousCaller }, until) {
      // An id of our own: a client may choose that of its request, and give all of its streams the same one.
      const id = crypto.randomUUID();
      const shares = [
        { of: unit, max },
        ...(site === undefined ? [] : [{ of: site, max: siteShares * max }]),
      ];
      const free = async () => {
        const freeing = shares.map((share) => change(share.of, (open) => open.delete(id)));
        await Promise.allSettled(freeing);
      };
      for (const share of shares) {
        const isTaken = await change(
          share.of,
          (open) => open.size < share.max && open.set(id, until).has(id),
        ).catch(() => true);
        if (isTaken) continue;
        await free();
        return undefined;
      }
      return free;
    },
  };
}

/**
 * For one process: the local run, and tests.
 *
 * @example const shares = createStreamShares(createMemoryStreamStore(), { max: 100, clock: Date.now });
 */
export function createMemoryStreamStore(): StreamStore {
  const held = new Map<string, HeldStreams>();
  return {
    read: async (caller) => held.get(caller) ?? { revision: 0, until: new Map() },
    async write(caller, next) {
      if ((held.get(caller)?.revision ?? 0) !== next.revision - 1) return false;
      // Nothing to know of a caller is worth no memory.
      if (next.until.size === 0) held.delete(caller);
      else held.set(caller, next);
      return true;
    },
  };
}
