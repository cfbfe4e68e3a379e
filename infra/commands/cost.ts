/** What reads cost, computed from cost-figures.ts alone. */

import {
  answerBytes,
  deployed,
  type LookupSituation,
  logBytesPerRequest,
  lookupWrites,
  prices,
  type Situation,
  type Units,
  user,
} from './cost-figures.ts';

/** Dollars per million reads. */
export interface Cost {
  readonly apiGateway: number;
  readonly lambdaRequests: number;
  readonly lambdaTime: number;
  readonly quotes: number;
  readonly budget: number;
  readonly transfer: number;
  readonly logs: number;
}

const million = 1_000_000;
const gigabyte = 2 ** 30;

/** Units and dollars are both per million, so a unit for each read is its price. */
const unitsCost = ({ readUnits, writeUnits }: Units) =>
  readUnits * prices.readUnitsPerMillion + writeUnits * prices.writeUnitsPerMillion;

export const transferCost = (bytes: number): number => (million * bytes * prices.transferOutPerGb) / gigabyte;

/** Dollars of a million calls. */
const lambdaTime = (billedMs: number) =>
  ((million * (billedMs / 1000) * deployed.memoryMiB) / 1024) *
  prices.lambdaPerGbSecond[deployed.architecture];

/** Dollars of a million calls. */
const logs = (million * logBytesPerRequest * prices.logsPerGb) / gigabyte;

export function costOf({ quotes, budget, billedMs, upstreamPerSecond, readsPerSecond }: Situation): Cost {
  return {
    apiGateway: prices.apiGatewayPerMillion,
    lambdaRequests: prices.lambdaPerMillion,
    lambdaTime: lambdaTime(billedMs),
    quotes: unitsCost(quotes),
    budget: (upstreamPerSecond / readsPerSecond) * unitsCost(budget),
    transfer: transferCost(answerBytes.gzip + answerBytes.headers),
    logs,
  };
}

/** Dollars per million lookups by event. */
export interface LookupCost {
  readonly events: number;
  readonly queue: number;
  readonly lambdaRequests: number;
  readonly lambdaTime: number;
  readonly table: number;
  readonly logs: number;
}

/** Each put once on the bus, answered by one event, and never made to wait. */
export function lookupCostOf({ lookupsPerBatch, billedMs }: LookupSituation): LookupCost {
  const batches = 1 / lookupsPerBatch;
  const receives = 1 / Math.min(10, lookupsPerBatch);
  const writes = Object.values(lookupWrites).reduce((sum, units) => sum + units, 0);
  return {
    events: 2 * prices.eventsPerMillion,
    // The rule sends each by itself; Lambda receives and deletes.
    queue: (1 + 2 * receives) * prices.queuePerMillion,
    lambdaRequests: batches * prices.lambdaPerMillion,
    lambdaTime: batches * lambdaTime(billedMs),
    table: writes * prices.writeUnitsPerMillion,
    logs: batches * logs,
  };
}

export const totalOf = (cost: Cost | LookupCost): number =>
  Object.values(cost).reduce((sum: number, part: number) => sum + part, 0);

export const readsPerUserMonth = (user.secondsPerDay / user.everySeconds) * user.daysPerMonth;

/** @param perMillion dollars per million reads */
export const perUserMonth = (perMillion: number, reads = readsPerUserMonth): number =>
  (perMillion * reads) / million;
