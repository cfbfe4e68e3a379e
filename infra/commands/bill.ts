/** `countersign cost`: a month's bill for the operator's own figures, by the prices and measurements of docs/cost.md. */

import { costOf, totalOf } from '../cost/cost.ts';
import { prices, type Situation, situations } from '../cost/cost-figures.ts';
import { dollars, number, readRows } from '../cost/cost-tables.ts';
import { StartError } from '../environment.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { configOf } from '../stack/stages.ts';
import { keysInWords } from './preflight-bounds.ts';

export interface BillOptions {
  readonly stage: string;
  readonly users: number;
  /** Seconds between two requests of a user. */
  readonly interval: number;
  /** Hours of use a day, on `days` days a month. */
  readonly hours: number;
  readonly days: number;
}

interface Bill {
  readonly reads: number;
  /** Dollars a month, by what they are paid for. */
  readonly lines: Readonly<Record<string, number>>;
  readonly total: number;
}

/** Metrics that functions write while there are reads: three of the limiter, four of shared answers. */
const metricCount = 3 + 4;

/** Spreads the measured DynamoDB units over the reads: refreshes depend on time, so fewer reads each bear more. */
export async function billOf({ stage, users, interval, hours, days }: BillOptions): Promise<Bill> {
  const { atRest, resourcesOf } = await import('../cost/deployment.ts').catch(() => {
    throw new StartError(
      'countersign cost needs the CDK, which counts what a stage consists of: run it in a clone, after npm ci.',
    );
  });
  const config = configOf(stage);
  const rest = atRest(resourcesOf(config));
  const measured = nearestSituation(users);
  const readsPerSecond = users / interval;
  const reads = readsPerSecond * 3600 * hours * days;
  const spread = measured.readsPerSecond / readsPerSecond;
  const { readUnits, writeUnits } = measured.snapshots;
  // Without the cache each read is a request to the upstream, up to its limit.
  const perMillion = costOf({
    ...measured,
    readsPerSecond,
    ...(config.cache === 'off'
      ? {
          snapshots: { readUnits: 0, writeUnits: 0 },
          upstreamPerSecond: Math.min(readsPerSecond, measured.upstreamPerSecond),
        }
      : { snapshots: { readUnits: readUnits * spread, writeUnits: writeUnits * spread } }),
  });
  const lines = {
    ...Object.fromEntries(
      Object.entries(perMillion).map(([part, each]) => [
        readRows[part as keyof typeof readRows],
        (each * reads) / 1_000_000,
      ]),
    ),
    'Secrets Manager, secrets': rest.secrets * prices.secretPerMonth,
    'CloudWatch, alarms': rest.alarmMetrics * prices.alarmPerMonth,
    'CloudWatch, metrics': metricCount * prices.metricPerMonth * ((hours * days) / (24 * 30)),
  };
  return { reads, lines, total: totalOf(lines) };
}

/** The measured situation whose clients are nearest, by their ratio. */
const nearestSituation = (users: number): Situation =>
  situations.reduce((best, one) => (distance(one, users) < distance(best, users) ? one : best));
const distance = ({ clients }: Situation, users: number) => Math.abs(Math.log(clients / users));

export function billInWords(
  { stage, users, interval, hours, days }: BillOptions,
  { reads, lines, total }: Bill,
): string {
  const rows = [...Object.entries(lines), ['All of it', total] as const];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    `The stage ${stage}: ${number(users)} users who read every ${interval} s, ${hours} h a day, ${days} days a month: ${number(reads)} reads.`,
    '',
    ...rows.map(([name, amount]) => `${name.padEnd(width)} ${dollars(amount).padStart(12)}`),
    '',
    ...keysInWords(resolveConfig(configOf(stage))),
    '',
    'Dollars a month, us-east-1, without free tiers. Nothing of it was measured on AWS: docs/cost.md says what is assumed, and what orders, lookups, trade events and the real-time channel add.',
  ].join('\n');
}
