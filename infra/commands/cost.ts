/** What reads cost, computed from cost-figures.ts alone. */

import {
  answerBytes,
  deployed,
  logBytesPerRequest,
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

export function costOf({ quotes, budget, billedMs, upstreamPerSecond, readsPerSecond }: Situation): Cost {
  const gbSeconds = (million * (billedMs / 1000) * deployed.memoryMiB) / 1024;
  return {
    apiGateway: prices.apiGatewayPerMillion,
    lambdaRequests: prices.lambdaPerMillion,
    lambdaTime: gbSeconds * prices.lambdaPerGbSecond[deployed.architecture],
    quotes: unitsCost(quotes),
    budget: (upstreamPerSecond / readsPerSecond) * unitsCost(budget),
    transfer: transferCost(answerBytes.gzip + answerBytes.headers),
    logs: (million * logBytesPerRequest * prices.logsPerGb) / gigabyte,
  };
}

export const totalOf = (cost: Cost): number => Object.values(cost).reduce((sum, part) => sum + part, 0);

export const readsPerUserMonth = (user.secondsPerDay / user.everySeconds) * user.daysPerMonth;

/** @param perMillion dollars per million reads */
export const perUserMonth = (perMillion: number, reads = readsPerUserMonth): number =>
  (perMillion * reads) / million;
