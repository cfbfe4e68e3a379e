/** Computes from cost-figures.ts what streams cost, in comparison with polling. */

import { costOf, lambdaTime, logs, readsPerUserMonth, totalOf, transferCost, unitsCost } from './cost.ts';
import {
  answerBytes,
  hoursPerDay,
  managed,
  orderStreams,
  prices,
  type Situation,
  situations,
  type streamSituations,
  streams,
  user,
  users,
} from './cost-figures.ts';

const million = 1_000_000;
const gigabyte = 2 ** 30;
const [large, , small] = situations as readonly [Situation, Situation, Situation];

type StreamSituation = (typeof streamSituations)[number];

/** Hours of a month in which all clients are active. */
const hours = hoursPerDay.tradingHours * user.daysPerMonth;

/** Scales the largest measured load to fewer clients. Refreshes depend on time alone, so each read bears more of them. */
function situationOf(clients: number): Situation {
  const known = [large, small].find((one) => one.clients === clients);
  if (known) return known;
  const more = large.clients / clients;
  const { readUnits, writeUnits } = large.snapshots;
  const snapshots = { readUnits: more * readUnits, writeUnits: more * writeUnits };
  return { ...large, clients, readsPerSecond: large.readsPerSecond / more, snapshots };
}

/** Dollars a month for clients that poll at an interval. */
export const pollingMonth = (clients: number, seconds: number): number =>
  (totalOf(costOf(situationOf(clients))) * clients * hours * 3600) / seconds / million;

/** Dollars an hour of DynamoDB: all processes read the refresh log, and one of them refreshes. */
function dynamoHour(processes: number): number {
  const readsPerSecond = Math.min(streams.logReadsPerSecond, 1000 / processes) * processes;
  const { readsPerSecond: asked, snapshots, limiter, upstreamPerSecond } = large;
  const each =
    readsPerSecond * unitsCost({ readUnits: streams.readUnits, writeUnits: 0 }) +
    asked * unitsCost({ readUnits: 0, writeUnits: snapshots.writeUnits }) +
    upstreamPerSecond * unitsCost(limiter);
  return (3600 * each) / million;
}

/** Counts the execution environments while the market is open. */
export const environmentsOf = (clients: number, streamsPerVCpu: number): number =>
  Math.max(managed.atRest, Math.ceil(clients / streamsPerVCpu));

/** Hours of vCPUs in a month. Each environment has one, and is assumed to leave none of its instance unused. */
function vCpuHours(environments: number): number {
  const open = managed.hoursPerDay * user.daysPerMonth;
  return environments * open + managed.atRest * (managed.hoursPerMonth - open);
}

/** Dollars a month for clients with a stream each, all at the same time. */
export function streamMonth(clients: number, { streamsPerVCpu }: StreamSituation) {
  const processes = streamsPerVCpu ? environmentsOf(clients, streamsPerVCpu) : clients;
  const seconds = clients * hours * 3600;
  const calls = seconds / streams.seconds / million;
  const instances = streamsPerVCpu ? vCpuHours(processes) * prices.vCpuHour : 0;
  const answer = (managed.symbolsPerRefresh / 20) * answerBytes.plain;
  const natBytes = large.upstreamPerSecond * answer * hours * 3600;
  return {
    lambdaTime: streamsPerVCpu ? 0 : (lambdaTime(1000, streams.memoryMiB) * seconds) / million,
    instances,
    fee: instances * prices.managementFee,
    nat: streamsPerVCpu
      ? managed.hoursPerMonth * prices.natHour + (natBytes * prices.natPerGb) / gigabyte
      : 0,
    // API Gateway charges one request for each 10 MB; a stream sends less.
    apiGateway: calls * prices.apiGatewayPerMillion,
    lambdaRequests: calls * prices.lambdaPerMillion,
    transfer: (seconds / million) * transferCost(streamBytesPerSecond),
    dynamo: hours * dynamoHour(processes) + calls * unitsCost(streams.counted),
    logs: calls * logs,
  };
}

export const streamBytesPerSecond = streams.recordsPerSecond * streams.bytesPerRecord;

/** Dollars for keeping a client current for five seconds a million times, with 10,000 clients. */
export function streamMillion(situation: StreamSituation): ReturnType<typeof streamMonth> {
  const reads = (large.clients * readsPerUserMonth(hoursPerDay.tradingHours)) / million;
  const parts = Object.entries(streamMonth(large.clients, situation)).map(([name, sum]) => [
    name,
    sum / reads,
  ]);
  return Object.fromEntries(parts) as ReturnType<typeof streamMonth>;
}

/** Dollars a month of managed instances that never hold a stream. */
export const restMonth = (): number =>
  managed.hoursPerMonth * (managed.atRest * prices.vCpuHour * (1 + prices.managementFee) + prices.natHour);

/** Dollars an hour of a stream of order events: for its function, and for its reads of each account. */
export const orderStreamHour = {
  function: () =>
    (lambdaTime(3_600_000, streams.memoryMiB) +
      (3600 / 30) * unitsCost({ readUnits: users.readUnits, writeUnits: 0 })) /
    million,
  account: () =>
    (3600 * orderStreams.readsPerSecond * unitsCost({ readUnits: orderStreams.readUnits, writeUnits: 0 })) /
    million,
};
