/** The catalogue: every operation of the interface, once. */

import * as accounts from './accounts.ts';
import * as marketData from './market-data.ts';
import type { Operation } from './operation.ts';
import * as orders from './orders.ts';

export * from './accounts.ts';
export { exposedOperations, openable, openByDefault } from './exposure.ts';
export { type Exposure, type Group, type GroupFacts, groups } from './groups.ts';
export { type LimitName, limits, type RequestLimit } from './limits.ts';
export * from './market-data.ts';
export type { Operation, Source } from './operation.ts';
export * from './orders.ts';
export type { Parameter } from './parameters.ts';
export { planWithin, type UsagePlan } from './plans.ts';
export { findRoute, type Route, type RouteMatch, routesOf } from './routes.ts';

/** Every operation; a file's exported entries are the operations of its group. */
export const operations: readonly Operation[] = [accounts, marketData, orders].flatMap((file) =>
  Object.values<Operation>(file),
);
