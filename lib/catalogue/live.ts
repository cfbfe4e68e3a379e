/** What a gateway tells as it comes. Each has a file of its own, so that a function has the facts of its own alone. */

import { streamOrderEvents } from './live-orders.ts';
import { streamStockSnapshots } from './live-quotes.ts';
import type { Operation } from './operation.ts';

export { streamOrderEvents, streamStockSnapshots };

/** All of them. They are no part of `operations`: only a gateway that can hold an answer open offers them. */
export const liveOperations: readonly Operation[] = [streamStockSnapshots, streamOrderEvents];
