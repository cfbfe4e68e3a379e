/** Keys of snapshots in the table that all functions share. */

/**
 * Full name of the partition that one operation of one account shares: see `snapshotPartition`.
 *
 * @param upstream name of the upstream
 */
export const storePartition = (upstream: string, partition: string): string => `${upstream}#${partition}`;

/** Partition key of the control item and the refresh log. */
export const logKey = (partition: string): string => `quotes#${partition}`;

/** Partition key of items that are spread over several partitions. */
export const shardKey = (partition: string, what: string, shard: number): string =>
  `quotes#${partition}#${what}#${shard}`;

/** Sort key of the control item, after every record of the log. */
export const controlKey = '~control';

/** Sort key of a record of the log. */
export const recordKey = (sequence: number): string => String(sequence).padStart(15, '0');

/** Sort key of a part of a checkpoint. */
export const partKey = (index: number): string => String(index).padStart(3, '0');
