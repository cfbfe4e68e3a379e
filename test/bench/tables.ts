/** The tables of a deployment in the DynamoDB engine of the emulator. */

import { createLimiterTable, createTable } from '../world/dynamo.ts';

export const tables = { budget: 'budget', cache: 'cache' } as const;

export async function createTables(endpoint: string): Promise<void> {
  await createLimiterTable(endpoint, tables.budget);
  await createTable(endpoint, tables.cache);
}
