/** Market data: snapshots, bars, depth, trades and options. */

export {
  getStockBars,
  listStockBars,
} from './bars.ts';
export {
  getOptionSnapshots,
  listOptionBars,
  listOptionTicks,
} from './options.ts';
export { getStockSnapshots } from './snapshots.ts';
export {
  getStockNoiiSnapshot,
  getStockQuotes,
  listStockFootprints,
  listStockNoiiBars,
  listStockTicks,
} from './trades.ts';
