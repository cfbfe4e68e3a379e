import { CountersignError } from '../signer/errors.ts';

/**
 * Error of a store that receives too many requests. The store can be reached: later and fewer requests help, and treating
 * it as unavailable makes things worse. Any other rejection means that the store is unavailable. The limiter and the
 * caches share this error.
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
