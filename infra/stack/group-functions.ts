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
} from '../../lib/catalogue/functions.ts';
import { operations as catalogue, type Group } from '../../lib/catalogue/index.ts';
import { withLookUps } from '../../lib/gateway/look-ups.ts';
import { GroupFunction } from './group-function.ts';
import { lastPriceAccess } from './last-prices.ts';
import type { OrderJournal } from './order-journal.ts';
import type { Shared } from './shared.ts';
import type { TradingControls } from './trading-controls.ts';

export interface GroupFunctionsOptions {
  readonly shared: Shared;
  readonly journal: OrderJournal | undefined;
  readonly controls: TradingControls | undefined;
}

export function groupFunctions(
  scope: Construct,
  { shared, journal, controls }: GroupFunctionsOptions,
): Readonly<Partial<Record<FunctionName, LambdaFunction>>> {
  const { config, operations: exposed, cache, users } = shared;
  const { access, functions, origins } = config;
  const make = (name: FunctionName) => {
    const operations = operationsIn(name, exposed);
    const lastPrices = lastPriceAccess(name, operations, { exposed, cache });
    const asking = shared.asking([...withLookUps(operations, catalogue), ...(lastPrices?.asked ?? [])]);
    return new GroupFunction(scope, name, {
      ...asking,
      environment: { ...asking.environment, ...(origins.length > 0 && { CORS_ORIGINS: origins.join(',') }) },
      title: titleOf(name),
      entry: shared.entryOf(name),
      cache: cache.accessOf(operations),
      access: [
        users?.accessOf(groupOf(name)),
        journal?.accessOf(operations),
        lastPrices,
        controls?.accessOf(operations),
      ],
      ...functions,
      reservedConcurrency: functions.reservedConcurrency[name],
    }).function;
  };
  return Object.fromEntries(
    (Object.keys(access) as Group[])
      .flatMap(functionsOf)
      .filter((name) => exposed.some((operation) => functionOf(operation) === name))
      .map((name) => [name, make(name)]),
  );
}
