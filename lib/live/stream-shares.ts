/**
 * Limits the streams of each caller, in all processes together, because a stream takes room from others. The store holds
 * the id and the end of each stream, so that the streams of a dead process stop counting at their ends.
 */

import { anonymousCaller } from '../gateway/cache-options.ts';
import type { GatewayRequest } from '../gateway/http.ts';
import { type Outcome, type Refused, refused } from '../gateway/outcome.ts';
import { type BackOff, compareAndSet, jitteredMs, sleep as sleepFor } from '../kernel/pauses.ts';

interface HeldStreams {
  /** Number of writes. */
  readonly revision: number;
  /** Latest end of each stream, in milliseconds since the epoch, by the stream's id. */
  readonly until: ReadonlyMap<string, number>;
}

/** Port: store of the callers' open streams. Each method rejects when the store fails. */
export interface StreamStore {
  /** Reads a caller's streams; revision 0 if it has none. Sees every write that was answered before. */
  read(caller: string): Promise<HeldStreams>;
  /** Replaces a caller's streams. Exactly one of several concurrent writes of the same revision succeeds. */
  write(caller: string, next: HeldStreams): Promise<boolean>;
}

export interface StreamShares {
  /**
   * Takes a share for one more stream of the caller. If the store fails, the stream is allowed: no money is at stake.
   *
   * @returns a function that frees the share; undefined when the caller has as many streams as allowed
   */
  take(request: GatewayRequest, until: number): Promise<(() => Promise<void>) | undefined>;
}

/**
 * Attempts of a write. Many streams of a caller begin and end together when a network or a process is lost, so each change
 * is retried after a pause. All pauses take some three seconds at most, so that a stream frees its share before its
 * request ends.
 */
const maxTries = 8;
const backOff: BackOff = { firstMs: 25, maxMs: 1600 };
/** All callers of one IPv6 /48 together may have as many streams as two callers. */
const siteShares = 2;

interface StreamShareOptions {
  /** Largest number of streams of one caller. */
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
  /** @returns whether the change was written; false when `changed` wants none, or others wrote first each time */
  async function change(unit: string, changed: (until: Map<string, number>) => boolean): Promise<boolean> {
    const attempt = async () => {
      const { revision, until } = await store.read(unit);
      const open = new Map([...until].filter(([, end]) => end > clock()));
      if (!changed(open)) return false;
      return (await store.write(unit, { revision: revision + 1, until: open })) || undefined;
    };
    const pause = (failures: number) => sleep(jitteredMs(backOff, failures, random));
    return (await compareAndSet(maxTries, attempt, pause)) ?? false;
  }
  return {
    async take({ caller: { unit, site } = anonymousCaller }, until) {
      // The request's id will not do: a client may choose it, and give all of its streams the same one.
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
        const hasRoom = await change(
          share.of,
          (open) => open.size < share.max && open.set(id, until).has(id),
        ).catch(() => true);
        if (hasRoom) continue;
        await free();
        return undefined;
      }
      return free;
    },
  };
}

/** Refusal for a caller who has the largest number of streams. */
const tooManyStreams = {
  code: 'throttled',
  detail: 'This caller has as many streams as one may have here: end one, or wait until one has ended.',
  retryAfterSeconds: 5,
} as const;

/**
 * Opens a stream that takes a share of its caller's until its texts end. The share is taken before `open` runs, so that a
 * caller without one causes no reads.
 *
 * @param shares undefined when a caller may have any number of streams
 */
export async function openWithShare(
  shares: StreamShares | undefined,
  { request, endsAt }: { readonly request: GatewayRequest; readonly endsAt: number },
  open: (free: () => Promise<void>) => Promise<AsyncIterable<string> | Refused>,
): Promise<Outcome> {
  const free = shares ? await shares.take(request, endsAt) : async () => {};
  if (!free) return refused(tooManyStreams);
  const opened = await open(free).catch(async (error: unknown) => {
    await free();
    throw error;
  });
  if (!('kind' in opened)) return { kind: 'stream', events: whenOver(opened, free), body: new Uint8Array() };
  await free();
  return opened;
}

/**
 * Calls `over` when the texts have ended or the client has stopped reading, and waits for it: a function is frozen once its
 * answer has ended.
 */
export async function* whenOver(
  texts: AsyncIterable<string>,
  over: () => Promise<void>,
): AsyncGenerator<string, void> {
  try {
    yield* texts;
  } finally {
    await over();
  }
}

/**
 * Creates a store for one process: the local run, and tests.
 *
 * @example const shares = createStreamShares(createMemoryStreamStore(), { max: 100, clock: Date.now });
 */
export function createMemoryStreamStore(): StreamStore {
  const held = new Map<string, HeldStreams>();
  return {
    read: async (caller) => held.get(caller) ?? { revision: 0, until: new Map() },
    async write(caller, next) {
      if ((held.get(caller)?.revision ?? 0) !== next.revision - 1) return false;
      // A caller without streams needs no entry.
      if (next.until.size === 0) held.delete(caller);
      else held.set(caller, next);
      return true;
    },
  };
}
