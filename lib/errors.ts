/** Every code that an error of this library can have, in one union. */

import type { AccessChangeError } from './access/change.ts';
import type { ClientErrorKind } from './client/errors.ts';
import type { RefusalCode } from './problem.ts';
import type { SignErrorCode } from './signer/errors.ts';
import type { StoreThrottled } from './store-throttled.ts';
import type { OrderReadError } from './trade-events/gateway-order-reads.ts';
import type { StreamError } from './trade-events/ports.ts';

/**
 * - of `SignError`: why a request cannot be signed;
 * - of the client's errors: their `kind`. A `RefusedError` has the gateway's code where a gateway refused, and
 *   `refused` where the interface itself did (its own code is `errorCode`). A newer gateway may have more codes;
 * - of `StoreThrottled`: `store_throttled`;
 * - of `AccessChangeError`: why an operator’s change was not made;
 * - of `StreamError`: `stream_ended`;
 * - of `OrderReadError`: `order_read_failed`.
 */
export type ErrorCode =
  | SignErrorCode
  | ClientErrorKind
  | RefusalCode
  | StoreThrottled['code']
  | AccessChangeError['code']
  | StreamError['code']
  | OrderReadError['code'];
