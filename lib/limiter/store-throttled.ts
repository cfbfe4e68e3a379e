import { CountersignError } from '../signer/errors.ts';

/**
 * The error by which a store says that it receives too many requests. The store is there: asking again later
 * and further apart helps, and treating it as lost makes things worse. Any other rejection says that the store
 * is unavailable. The limiter and the caches share it.
 *
 * @example
 * const response = await fetch(url);
 * if (response.status === 429) throw new StoreThrottled(response);
 */
export class StoreThrottled extends CountersignError<'store_throttled'> {
  override readonly name = 'StoreThrottled';
  constructor(cause?: unknown) {
    super('store_throttled', 'the store is throttling requests', cause === undefined ? undefined : { cause });
  }
}
