/** Operations that answer with a stream. Each has a file of its own, so that a function's bundle has only its own entry. */

import { streamOrderEvents } from './live-orders.ts';
import { streamStockSnapshots } from './live-quotes.ts';
import type { Operation } from './operation.ts';

export { streamOrderEvents, streamStockSnapshots };

/** All streams. They are not in `operations`, because only a gateway that can hold an answer open offers them. */
export const liveOperations: readonly Operation[] = [streamStockSnapshots, streamOrderEvents];
