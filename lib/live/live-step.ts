/** Cache step of a gateway that answers with streams: each begins like the answer to a request, and changes follow. */

import { FollowedSnapshots, type SnapshotCacheOptions, viewOf } from '../cache/snapshots/index.ts';
import type { Operation } from '../catalogue/operation.ts';
import { type CacheStep, readsByOperation } from '../gateway/cache.ts';
import { anonymousCaller, type CacheOptions, type CacheParts } from '../gateway/cache-options.ts';
import type { Refused } from '../gateway/outcome.ts';
import {
  type AccountSnapshots,
  CachedSnapshots,
  type CachedSnapshotsOptions,
  createSnapshotsByAccount,
} from '../gateway/snapshots/by-account.ts';
import { onSteadyClock, steadyClock } from '../kernel/age.ts';
import { sleep } from '../kernel/pauses.ts';
import { streamEnd, whileReached } from './event-stream.ts';
import { QuoteHub } from './quote-hub.ts';
import { openWithShare, type StreamShares } from './stream-shares.ts';

export interface LiveOptions extends Pick<CacheOptions, 'snapshots' | 'streamed' | 'directory' | 'tuning'> {
  /** Largest number of processes that follow the same snapshots. Default 1. */
  readonly processes?: number;
  readonly sleep?: (ms: number) => Promise<void>;
  /** Limits the streams of a caller. Default: a caller may have any number of streams. */
  readonly shares?: StreamShares;
  /** Cache step of the gateway's other reads, over the same stores. Default: the gateway offers streams alone. */
  readonly reads?: CacheStep;
  /** Called with the error when a turn of the loop failed. */
  readonly onFailure?: (error: unknown) => void;
}

/** Wait for the first answer, so that a stream begins within a second, with the records that are known by then. */
const firstMs = 700;
/** Time limit of a stream's requests for missing symbols, as for any request; a late answer is sent when it comes. */
const askMs = 5000;

/**
 * @example
 * const gateway = createCore({ operations: [streamStockSnapshots], cache: liveStep(createMemoryCacheStores()), ...others });
 * const { stream } = await gateway.handle(request);
 */
export const liveStep =
  (options: LiveOptions): CacheStep =>
  (parts) => {
    const streamsOf = readsByOperation((operation) =>
      createSnapshotsByAccount(operation, options, parts, (own) =>
        createStreams(operation, own, options, parts),
      ),
    );
    const reads = options.reads?.(parts);
    return {
      readsOf: (operation) => (operation.follows ? streamsOf(operation.follows) : reads?.readsOf(operation)),
      changed: async (...change) => reads?.changed(...change),
    };
  };

/** Streams of one account. */
function createStreams(
  operation: Operation,
  own: CachedSnapshotsOptions,
  options: LiveOptions,
  parts: CacheParts,
): AccountSnapshots {
  const { clock } = parts;
  const { random } = Math;
  const { processes, shares, sleep: wait = sleep, onFailure = () => {} } = options;
  let isReplaced = false;
  const onReplaced = () => {
    isReplaced = true;
    own.onReplaced();
    hub.close();
  };
  let followed!: FollowedSnapshots;
  const create = (cacheOptions: SnapshotCacheOptions) => {
    followed = new FollowedSnapshots(cacheOptions, processes);
    return followed;
  };
  const snapshots = new CachedSnapshots(operation, { ...own, onReplaced }, parts, create);
  const hub = new QuoteHub({
    snapshots: followed,
    cause: () => snapshots.recentFailure()?.code,
    async isCurrent() {
      const current = await parts.credentials.forRead();
      const isSameKey = !current.ok || current.credential.appKey === own.credential.appKey;
      return isSameKey && (await (parts.isInForce?.() ?? true));
    },
    clock: steadyClock(clock),
    sleep: wait,
    random,
    onFailure,
  });

  return {
    async ask({ request, valid, reachNow }) {
      const symbols = valid.query.find(([name]) => name === 'symbols')?.[1].split(',') ?? [];
      const askFor = (some: readonly string[]) => {
        const query = valid.query.map(
          ([name, value]) => [name, name === 'symbols' ? some.join() : value] as const,
        );
        return snapshots.ask({
          request: { ...request, deadline: clock() + askMs },
          valid: { ...valid, query },
        });
      };
      const { endsAt, endsFor } = streamEnd(request, clock(), random);
      return openWithShare(shares, { request, endsAt }, async (free) => {
        const first = await Promise.race([askFor(symbols), wait(firstMs)]);
        // The app key was replaced meanwhile: the gateway drops this stream and opens it again for the other account.
        if (isReplaced) await free();
        // During an outage the stream opens, and records follow when the upstream is back. Other refusals are final.
        if (first?.kind === 'refused' && !isOutage(first)) return first;
        const { unit: caller } = request.caller ?? anonymousCaller;
        const call = { caller, view: viewOf(valid.query), symbols, askFor };
        const opened = hub.open({ ...call, endsFor, endsAt: onSteadyClock(clock, endsAt) });
        return whileReached(opened, reachNow, { clock, random });
      });
    },
  };
}

const isOutage = ({ refusal }: Refused): boolean =>
  refusal.partial !== undefined && refusal.code !== 'throttled';
