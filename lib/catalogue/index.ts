/** The catalogue: every operation of the interface, once. */

import * as accounts from './accounts.ts';
import * as auth from './auth.ts';
import * as fundamentals from './fundamentals/index.ts';
import * as instruments from './instruments.ts';
import * as marketData from './market-data/index.ts';
import type { Operation } from './operation.ts';
import * as orders from './orders.ts';
import * as screeners from './screeners.ts';
import * as watchlists from './watchlists.ts';

export * from './accounts.ts';
export * from './auth.ts';
export { exposedOperations, openable, openByDefault } from './exposure.ts';
export * from './fundamentals/index.ts';
export { type Exposure, type Group, type GroupFacts, groups } from './groups.ts';
export * from './instruments.ts';
export { type LimitName, limits, type RequestLimit } from './limits.ts';
export * from './market-data/index.ts';
export type { Example, Operation, Paging, Source } from './operation.ts';
export * from './orders.ts';
export type { JsonForm, Parameter } from './parameters.ts';
export { appPlan, type PlanTier, planOfTier, planTiers, planWithin, type UsagePlan } from './plans.ts';
export { findRoute, type Route, type RouteMatch, routesOf } from './routes.ts';
export * from './screeners.ts';
export * from './watchlists.ts';

/** The operations by group; a file's exported entries are the operations of its group. */
const files = [accounts, orders, auth, instruments, marketData, screeners, watchlists, fundamentals] as const;

const byId = (a: Operation, b: Operation) => (a.id < b.id ? -1 : 1);

/** Every operation. Sorted here, because not every loader sorts the exports of a module by name. */
export const operations: readonly Operation[] = files.flatMap((file) =>
  Object.values<Operation>(file).sort(byId),
);
