/** What was measured, in words; and what the store's units cost. */

import type { Ages, Measured } from './study.ts';

/** On demand, us-east-1, since November 2024: dollars per million units. */
const dollars = { readUnit: 0.125, writeUnit: 0.625 };

export function report(name: string, measured: Measured): string {
  const { requests, ages, waits, meter, budget } = measured;
  const seconds = ({ p50, p99, max }: Ages) => [p50, p99, max].map((ms) => (ms / 1000).toFixed(2)).join('/');
  const part = (count: number) => (count / requests).toFixed(3);
  const readUnits = meter.readUnits + budget.readUnits;
  const writeUnits = meter.writeUnits + budget.writeUnits;
  const cost = (readUnits * dollars.readUnit + writeUnits * dollars.writeUnit) / requests;
  return [
    `${name}: ${requests} requests, ${((100 * measured.answered) / requests).toFixed(3)} % answered 200`,
    `${measured.unavailable} unavailable, ${measured.overPlan} over the plan, ${measured.wrong} wrong`,
    `age p50/p99/max ${seconds(ages)} s, of the oldest in an answer ${seconds(measured.oldest)} s, wait ${seconds(waits)} s`,
    `upstream ${measured.upstreamRequests} (${measured.worstMinute} in the worst minute), ${measured.perUpstreamRequest.toFixed(0)} requests for each ${JSON.stringify(measured.results)}`,
    `${measured.instances} instances; units per request ${part(readUnits)} read, ${part(writeUnits)} write; $${cost.toFixed(3)} per million; ${meter.refused} turns lost for ${meter.entries}; ${(meter.entryBytes / Math.max(1, meter.entries)).toFixed(0)} bytes an entry`,
    `budget: ${budget.given} given, ${budget.turnedAway} refused, ${budget.expired} too late; ${budget.reads} reads, ${budget.writes} writes (${budget.refused} in vain), ${part(budget.readUnits)} and ${part(budget.writeUnits)} units per request`,
  ].join('\n  ');
}
