/** The table of what all clients share, who may do what in it, and the functions' variables for it. */

import { RemovalPolicy } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { responsePartitions } from '../../functions/aws/dynamo-response-store.ts';
import { writePart } from '../../functions/settings/parts.ts';
import type { Operation } from '../../lib/catalogue/index.ts';
import type { ResolvedConfig } from './config.ts';
import { allowTable, createTable } from './tables.ts';

export interface Cache {
  /** None where nothing is shared. */
  readonly table?: Table;
  /** For a function with these operations; undefined where they have nothing to share. */
  readonly accessOf: (operations: readonly Operation[]) => CacheAccess | undefined;
}

/** What one function has of the cache. */
export interface CacheAccess {
  readonly right: PolicyStatement;
  readonly variables: Readonly<Record<string, string>>;
}

/** What the snapshot store and the response store call; a test compares it with their code. */
export const snapshotActions = ['BatchGetItem', 'PutItem', 'Query', 'UpdateItem'];
/** What the store of the directory of symbols calls, which is asked for snapshots of symbols that nobody knows. */
export const directoryActions = ['GetItem', 'PutItem'];
export const responseActions = ['DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'];
/** What a function calls that only ends shared answers: it writes a new version, as a response without a lease. */
export const endingActions = ['DeleteItem', 'PutItem'];

const isShared = ({ freshness }: Operation) => freshness !== undefined;
/** A side effect ends shared answers. */
const usesCache = ({ freshness, sideEffect }: Operation) =>
  freshness !== undefined || sideEffect !== undefined;
const isSharedBySymbol = ({ freshness }: Operation) => freshness === 'by-symbol';

/** @param operations those that are routed; without one whose responses are shared there is no table */
export function sharedCache(
  scope: Construct,
  { cache: config, marketStream }: Pick<ResolvedConfig, 'cache' | 'marketStream'>,
  operations: readonly Operation[],
): Cache {
  if (config === 'off' || !operations.some(isShared)) return { accessOf: () => undefined };
  const table = createTable(scope, 'Cache', {
    isSorted: true,
    expires: true,
    noBackups:
      'It holds copies of what the upstream sent a moment ago: an older copy would be stale, and a lost one is fetched again.',
    // With any `onRemoval`: all that it holds can be fetched again.
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return {
    table,
    accessOf(own) {
      const using = own.filter(usesCache);
      if (using.length === 0) return undefined;
      const hasSnapshots = using.some(isSharedBySymbol);
      const hasResponses = using.some((operation) => isShared(operation) && !isSharedBySymbol(operation));
      const actions = new Set([
        ...(hasSnapshots ? [...snapshotActions, ...directoryActions] : []),
        ...(hasResponses ? responseActions : []),
        ...(using.some(({ sideEffect }) => sideEffect) ? endingActions : []),
      ]);
      const right = allowTable([...actions].sort(), table.tableArn);
      // Orders are checked against the prices in snapshots: who serves none, changes none.
      if (!hasSnapshots)
        right.addCondition('ForAllValues:StringLike', { 'dynamodb:LeadingKeys': responsePartitions });
      return {
        right,
        variables: writePart('CACHE', {
          tableName: table.tableName,
          ...config,
          hasMarketStream: marketStream !== undefined,
        }),
      };
    },
  };
}
