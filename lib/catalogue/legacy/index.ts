/**
 * Older forms of operations that clients in the field still call, each an operation of its own in the group of the
 * current one, and in a file of that group. They are routed and documented like every other, but not exported by
 * name: new code has no use for them, so the typed client has no method for them.
 */

import type { Operation } from '../operation.ts';
import * as fundamentals from './fundamentals.ts';
import * as instruments from './instruments.ts';
import * as marketData from './market-data.ts';
import * as orders from './orders.ts';
import * as screeners from './screeners.ts';

export const legacy: readonly Operation[] = [
  fundamentals,
  instruments,
  marketData,
  orders,
  screeners,
].flatMap((file) => Object.values<Operation>(file));
