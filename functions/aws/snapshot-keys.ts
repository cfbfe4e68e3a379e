/** Where snapshots stand in the table that all functions share. */

/**
 * The whole name of what one operation of one account shares: see `snapshotPartition`.
 *
 * @param upstream names the upstream
 */
export const storePartition = (upstream: string, partition: string): string => `${upstream}#${partition}`;

/** Of the control item and the refresh log. */
export const logKey = (partition: string): string => `quotes#${partition}`;

/** Of what is spread over partitions of its own. */
export const shardKey = (partition: string, what: string, shard: number): string =>
  `quotes#${partition}#${what}#${shard}`;

/** Sorts after every record of the log. */
export const controlKey = '~control';

/** Of a record of the log. */
export const recordKey = (sequence: number): string => String(sequence).padStart(15, '0');

/** Of a part of a checkpoint. */
export const partKey = (index: number): string => String(index).padStart(3, '0');
