/** Market data: snapshots, bars, depth, trades and options. These files export the operations of the group alone. */

import type { Operation } from '../operation.ts';
import * as bars from './bars.ts';
import * as optionSnapshots from './option-snapshots.ts';
import * as options from './options.ts';
import * as snapshots from './snapshots.ts';
import * as trades from './trades.ts';

export const marketData: readonly Operation[] = [bars, options, optionSnapshots, snapshots, trades].flatMap(
  (file) => Object.values<Operation>(file),
);
