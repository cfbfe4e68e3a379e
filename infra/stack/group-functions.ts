/** The functions behind the API: one for each part of an open group. */

import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import {
  type FunctionName,
  functionOf,
  functionsOf,
  groupOf,
  operationsIn,
  titleOf,
} from '../../functions/rows.ts';
import { writePart } from '../../functions/settings/parts.ts';
import {
  operations as catalogue,
  type Group,
  getOptionSnapshots,
  getStockSnapshots,
  type Operation,
} from '../../lib/catalogue/index.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';
import { withLookUps } from '../../lib/gateway/look-ups.ts';
import type { Cache } from './cache.ts';
import type { EventHistory } from './event-history.ts';
import { type FunctionAccess, GroupFunction } from './group-function.ts';
import type { ResolvedLive } from './live-config.ts';
import type { OrderJournal } from './order-journal.ts';
import type { Shared } from './shared.ts';
import { environmentMiB, oneLoop, StreamCapacity } from './stream-capacity.ts';
import { allowTable } from './tables.ts';
import type { TradingControls } from './trading-controls.ts';

interface GroupFunctionsOptions {
  readonly shared: Shared;
  readonly journal: OrderJournal | undefined;
  readonly controls: TradingControls | undefined;
  readonly history: EventHistory | undefined;
}

export function groupFunctions(
  scope: Construct,
  { shared, journal, controls, history }: GroupFunctionsOptions,
): Readonly<Partial<Record<FunctionName, LambdaFunction>>> {
  const { config, operations: exposed, cache, users } = shared;
  const { access, functions, live, origins } = config;
  const make = (name: FunctionName) => {
    const operations = operationsIn(name, exposed);
    const streams = live?.streams[name];
    const capacity = name === 'quote-streams' ? live?.capacity : undefined;
    const lastPrices = lastPriceAccess(operations, { exposed, cache });
    const asking = operations.every(({ answeredBy }) => answeredBy === 'trade events')
      ? { ...shared.place, environment: writePart('METRICS', { secretId: shared.secret.secretArn }) }
      : shared.asking([...withLookUps(operations, catalogue), ...(lastPrices?.asked ?? [])]);
    // Under another id, because Lambda cannot take a function to managed instances, nor away from them.
    const { function: made } = new GroupFunction(scope, capacity ? `${name}-managed` : name, {
      ...asking,
      environment: {
        ...asking.environment,
        ...(origins.length > 0 && writePart('CORS', origins[0] === '*' ? '*' : origins)),
        ...(streams !== undefined &&
          writePart('LIVE', { maxStreams: streams, processes: capacity?.environments })),
        ...(capacity && oneLoop),
      },
      title: titleOf(name),
      entry: shared.entryOf(name),
      cache: cache.accessOf(operations.map((operation) => operation.follows ?? operation)),
      access: [
        users?.accessOf(groupOf(name)),
        journal?.accessOf(operations),
        lastPrices,
        controls?.accessOf(operations),
        history?.accessOf(operations),
      ],
      ...functions,
      ...(live && streams !== undefined && ofStreams(live)),
      // Managed instances stand in a network of their own.
      ...(capacity && { memoryMiB: environmentMiB, network: undefined }),
      reservedConcurrency: functions.reservedConcurrency[name],
    });
    if (capacity) new StreamCapacity(scope, 'StreamCapacity', { function: made, capacity, ...shared.place });
    return made;
  };
  return Object.fromEntries(
    (Object.keys(access) as Group[])
      .flatMap(functionsOf)
      .filter((name) => exposed.some((operation) => functionOf(operation) === name))
      .map((name) => [name, make(name)]),
  );
}

/** Its time is what a stream costs, of which it waits for nearly all. */
const ofStreams = ({ streamSeconds }: ResolvedLive) => ({
  timeoutSeconds: streamSeconds,
  memoryMiB: 256,
});

/** What the function that places orders has of the quotes that the function of market data shares. */
interface LastPriceAccess extends FunctionAccess {
  /** What the function asks the upstream for, beside the operations that it offers. */
  readonly asked: readonly Operation[];
}

/** What a reader of last prices does to the cache's table; a test compares it with its code. */
export const lastPriceActions = ['BatchGetItem'];

/**
 * @param operations those of the function
 * @param exposed those of the stack
 * @returns undefined for a function that places no orders, and where no quotes are shared
 */
function lastPriceAccess(
  operations: readonly Operation[],
  { exposed, cache: { table } }: { readonly exposed: readonly Operation[]; readonly cache: Cache },
): LastPriceAccess | undefined {
  const shared = exposed.some(({ id }) => id === getStockSnapshots.id);
  if (!operations.some(isGuarded) || !shared || !table) return undefined;
  return {
    asked: [getStockSnapshots, getOptionSnapshots],
    policies: { ReadQuotes: [allowTable(lastPriceActions, table.tableArn)] },
    variables: writePart('LAST_PRICES', { tableName: table.tableName }),
  };
}
