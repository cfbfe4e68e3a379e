/** What was measured, as text; and what the store's units cost. */

import type { Ages, Measured } from './study.ts';

/** On demand, us-east-1, since November 2024: dollars per million units. */
const dollars = { readUnit: 0.125, writeUnit: 0.625 };

/** @param from the second from which on answers are listed second by second */
export function report(name: string, measured: Measured, from = 0): string {
  const { requests, ages, waits, meter, limiter, units, limiterUnits } = measured;
  const seconds = ({ p50, p99, max }: Ages) => [p50, p99, max].map((ms) => (ms / 1000).toFixed(2)).join('/');
  const part = (count: number) => (count / requests).toFixed(3);
  const readUnits = units.total.read + limiterUnits.total.read;
  const writeUnits = units.total.write + limiterUnits.total.write;
  const cost = (readUnits * dollars.readUnit + writeUnits * dollars.writeUnit) / requests;
  return [
    `${name}: ${requests} requests, ${((100 * measured.answered) / requests).toFixed(3)} % answered 200`,
    `${measured.unavailable} unavailable, ${measured.overPlan} over the plan, ${measured.wrong} wrong`,
    `age p50/p99/max ${seconds(ages)} s, of the oldest in an answer ${seconds(measured.oldest)} s, wait ${seconds(waits)} s`,
    `upstream ${measured.upstreamRequests} (${measured.worstMinute} in the worst minute), ${measured.perUpstreamRequest.toFixed(0)} requests for each ${JSON.stringify(measured.results)}`,
    measured.counters
      .map(
        ({ name, requests, perSeconds, worst, utilisation }) =>
          `${name}: worst window ${worst} of ${requests} in ${perSeconds} s, ${(100 * utilisation).toFixed(1)} % used`,
      )
      .join('; '),
    `${measured.instances} instances; units per request ${part(readUnits)} read, ${part(writeUnits)} write; $${cost.toFixed(3)} per million; ${meter.refused} leases lost for ${meter.records}; ${(meter.recordBytes / Math.max(1, meter.records)).toFixed(0)} bytes an entry`,
    `limiter: ${limiter.given} given, ${limiter.turnedAway} refused, ${limiter.expired} too late; ${limiter.reads} reads, ${limiter.writes} writes (${limiter.refused} in vain), ${part(limiterUnits.total.read)} and ${part(limiterUnits.total.write)} units per request`,
    `${meter.starts} starts counted, ${meter.misses} misses published, ${meter.checkpoints} checkpoints written`,
    `platform: at most ${measured.peakInstances} instances at once, ${measured.platformRefused} refused; a key at most ${units.peakOfKey.read}/${units.peakOfKey.write} units a second (limiter ${limiterUnits.peakOfKey.read}/${limiterUnits.peakOfKey.write}), the table ${units.peakOfTable.read}/${units.peakOfTable.write}; ${units.throttled}+${limiterUnits.throttled} throttled`,
    `full answer within 5 s of the first request: ${((100 * measured.inFiveSeconds[0]) / measured.inFiveSeconds[1]).toFixed(3)} % of ${measured.inFiveSeconds[1]} clients; answered in seconds ${from} to ${from + 14}: ${measured.bySecond
      .slice(from, from + 15)
      .map(([answered, all]) => ((100 * answered) / all).toFixed(0))
      .join(' ')} %`,
  ].join('\n  ');
}
