/** Cache step of a gateway that answers with streams: each begins like the answer to a request, and changes follow. */

import { FollowedSnapshots, type SnapshotCacheOptions, viewOf } from '../cache/snapshots/index.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { AdmittedRequest } from '../gateway/admit.ts';
import { type CacheStep, readsByOperation } from '../gateway/cache.ts';
import { anonymousCaller, type CacheOptions, type CacheParts } from '../gateway/cache-options.ts';
import { type Outcome, refused } from '../gateway/outcome.ts';
import {
  type AccountSnapshots,
  CachedSnapshots,
  type CachedSnapshotsOptions,
  createSnapshotsByAccount,
} from '../gateway/snapshots/by-account.ts';
import { onSteadyClock, steadyClock } from '../kernel/age.ts';
import { sleep } from '../kernel/pauses.ts';
import { QuoteHub, type QuoteHubOptions } from './quote-hub.ts';
import { FollowedDemand } from './stream-demand.ts';
import { streamEnd, tooManyStreams, whenOver, whileReached } from './stream-end.ts';
import type { StreamShares } from './stream-shares.ts';

export interface LiveOptions extends Pick<CacheOptions, 'snapshots' | 'streamed' | 'directory' | 'tuning'> {
  /** Longest duration of a stream; it ends earlier if the platform ends the request earlier. Default 15 minutes. */
  readonly maxMs?: number;
  /** Largest number of processes that follow the same snapshots. Default 1. */
  readonly processes?: number;
  readonly sleep?: QuoteHubOptions['sleep'];
  /** Limits the streams of a caller. Default: a caller may have any number of streams. */
  readonly shares?: StreamShares;
  /** From 0 to below 1. */
  readonly random?: () => number;
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
  const { random = Math.random, sleep: wait = sleep } = options;
  let isReplaced = false;
  const onReplaced = () => {
    isReplaced = true;
    own.onReplaced();
    hub.close();
  };
  const create = (cacheOptions: SnapshotCacheOptions) => {
    known = new FollowedSnapshots(cacheOptions, options.processes);
    return known;
  };
  let known: FollowedSnapshots;
  const snapshots = new CachedSnapshots(operation, { ...own, onReplaced }, parts, create);
  const demand = new FollowedDemand();
  const hub = new QuoteHub({
    source: {
      follow: () => known.follow(),
      look: (view, symbol) => known.look(view, symbol),
      count: (view, symbol) => known.count(view, symbol, demand.of(view, symbol)),
      cause: () => snapshots.recentFailure()?.code,
      async isCurrent() {
        const current = await parts.credentials.forRead();
        const isSameKey = !current.ok || current.credential.appKey === own.credential.appKey;
        return isSameKey && (await (parts.isInForce?.() ?? true));
      },
    },
    clock: steadyClock(clock),
    sleep: wait,
    random,
    onFailure: options.onFailure ?? (() => {}),
  });

  const askerFor = ({ request, valid }: Pick<AdmittedRequest, 'request' | 'valid'>) => {
    return (symbols: readonly string[]) => {
      const query = valid.query.map(
        ([name, value]) => [name, name === 'symbols' ? symbols.join() : value] as const,
      );
      return snapshots.ask({
        request: { ...request, deadline: clock() + askMs },
        valid: { ...valid, query },
      });
    };
  };

  return {
    async ask(read): Promise<Outcome> {
      const { request, valid, reachNow } = read;
      const symbols = valid.query.find(([name]) => name === 'symbols')?.[1].split(',') ?? [];
      const askFor = askerFor(read);
      const end = streamEnd(request, clock(), options);
      const free = options.shares ? await options.shares.take(request, end.endsAt) : async () => {};
      if (!free) return refused(tooManyStreams);
      const first = await Promise.race([askFor(symbols), wait(firstMs)]).catch(async (error) => {
        await free();
        throw error;
      });
      // The app key was replaced meanwhile: the gateway drops this stream and opens it again for the other account.
      if (isReplaced) await free();
      // During an outage the stream opens, and records follow when the upstream is back. Other refusals are final.
      if (first?.kind === 'refused' && !isOutage(first.refusal)) {
        await free();
        return first;
      }
      const view = viewOf(valid.query);
      const { unit } = request.caller ?? anonymousCaller;
      const call = { view, symbols, ...end, endsAt: onSteadyClock(clock, end.endsAt), askFor };
      const opened = demand.during(hub.open(call), { caller: unit, view, symbols });
      const events = whenOver(whileReached(opened, reachNow, { clock, random }), free);
      return { kind: 'stream', events, body: new Uint8Array() };
    },
  };
}

const isOutage = ({ partial, code }: { readonly partial?: unknown; readonly code: string }): boolean =>
  partial !== undefined && code !== 'throttled';
