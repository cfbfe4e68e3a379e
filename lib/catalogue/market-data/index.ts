/** Market data: snapshots, bars, depth, trades and options. What these files export are the group's operations. */

import type { Operation } from '../operation.ts';
import * as bars from './bars.ts';
import * as optionSnapshots from './option-snapshots.ts';
import * as options from './options.ts';
import * as snapshots from './snapshots.ts';
import * as trades from './trades.ts';

export const marketData: readonly Operation[] = [bars, options, optionSnapshots, snapshots, trades].flatMap(
  (file) => Object.values<Operation>(file),
);
