/**
 * Streams of quotes: the step of a gateway that answers with streams, and the limit of streams for each caller.
 *
 * @example
 * const stores = createMemoryCacheStores();
 * const gateway = createCore({
 *   operations: [getStockSnapshots, streamStockSnapshots],
 *   upstreamBaseUrl: 'https://api.example.com',
 *   secrets: { read: async () => '{"app_key":"…","app_secret":"…"}' },
 *   cache: liveStep({ ...stores, reads: cacheStep(stores) }),
 * });
 */

export { liveOperations, streamStockSnapshots } from '../catalogue/live.ts';
export { type LiveOptions, liveStep } from './live-step.ts';
export {
  createMemoryStreamStore,
  createStreamShares,
  type StreamShares,
  type StreamStore,
} from './stream-shares.ts';
