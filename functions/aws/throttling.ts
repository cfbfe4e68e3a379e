/** Tells a throttled request from a failed one, by DynamoDB's error. */

import { StoreThrottled } from '../../lib/store-throttled.ts';

/** Above the partition's units, above the rate of the API, above the account's quota. */
const throttlingNames: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
]);

/** Whether the store refused a request because it gets too many; also true of a `StoreThrottled` itself. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof StoreThrottled || (error instanceof Error && throttlingNames.has(error.name));

/** What a store's port rejects with: `StoreThrottled` for a throttled request, any other error as it is. */
export const asStoreError = (error: unknown): unknown =>
  isThrottling(error) && !(error instanceof StoreThrottled) ? new StoreThrottled(error) : error;
