import { CountersignError } from './signer/errors.ts';

/**
 * What a store's port rejects with when the store answered that it gets too many requests. The store is
 * there: asking again later and further apart is what helps, and acting as if the store were away makes it
 * worse. Any other rejection says that the store is unavailable.
 */
export class StoreThrottled extends CountersignError<'store_throttled'> {
  override readonly name = 'StoreThrottled';
  constructor(cause?: unknown) {
    super('store_throttled', 'the store is throttling requests', cause === undefined ? undefined : { cause });
  }
}
