/** The name of a store's partition: what one operation of one account shares. */

/** Its partition has the account's name alone, as stored before there were several such operations. */
const firstOperation = 'getStockSnapshots';

/** @param account by a name that does not show its app key, and contains no `#` */
export const snapshotPartition = (account: string, operationId: string): string =>
  operationId === firstOperation ? account : `${account}#${operationId}`;
