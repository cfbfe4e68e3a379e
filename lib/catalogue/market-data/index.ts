/** Market data: snapshots, bars, depth, trades and options. */

export * from './bars.ts';
export * from './options.ts';
export * from './snapshots.ts';
export * from './trades.ts';
