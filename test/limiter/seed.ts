/** One seed of the study: phases of every kind of demand, until so many permits were used. */

import { marketData, World } from './world/world.ts';

export interface SeedOptions {
  readonly seed: number;
  readonly permits: number;
  readonly accidents: boolean;
  /** How long each phase of twice the demand is. Default 9. */
  readonly saturatedMinutes?: number;
}

export interface SeedResult {
  readonly sent: number;
  /** The most that arrived in any true window of 60 s. */
  readonly worst: number;
  /** The used part of the upstream's limit under twice the demand; one for each such phase. */
  readonly utilisation: readonly number[];
  readonly expired: number;
  readonly frozen: number;
  readonly killed: number;
  readonly minutes: number;
}

const minute = 60_000;
const { requests } = marketData['market-data'];

export async function runSeed({
  seed,
  permits,
  accidents,
  saturatedMinutes = 9,
}: SeedOptions): Promise<SeedResult> {
  const world = new World({
    seed,
    instances: 200,
    // Every other seed has all clocks and network times at their limits, the worst that is assumed.
    extreme: seed % 2 === 0,
    ...(accidents && { freezesPerMinute: 200, killsPerMinute: 40, slowConnections: 0.1 }),
  });
  const started = world.clock.now();
  const utilisation: number[] = [];
  while (world.counts.sent < permits) {
    const kind = world.random();
    if (kind < 0.2) await burst(world, 100 + Math.floor(world.random() * 300));
    else if (kind < 0.3) await world.live(minute, [{ perMinute: 100 * requests }]);
    else if (kind < 0.4) await world.live(2 * minute, [{ perMinute: requests * world.random() }]);
    else if (kind < 0.5) await mixed(world);
    else utilisation.push(await saturated(world, saturatedMinutes));
  }
  await world.clock.pass(minute);
  const { sent, expired, frozen, killed } = world.counts;
  const minutes = (world.clock.now() - started) / minute;
  return { sent, worst: world.upstream.worstWindow(), utilisation, expired, frozen, killed, minutes };
}

/** Quiet, and then everything at once. */
async function burst(world: World, count: number): Promise<void> {
  await world.clock.pass(minute * 1.2 * world.random());
  for (let index = 0; index < count; index++) void world.request();
  await world.live(5000 * world.random(), [{ perMinute: 30 }]);
}

async function mixed(world: World): Promise<void> {
  await world.live(2 * minute, [
    { perMinute: 200 },
    { perMinute: 200, priority: 'events', waitMs: 5000 },
    { perMinute: 200, priority: 'background', waitMs: 10_000 },
  ]);
}

/** The first minute and a bit still shows what was before. */
async function saturated(world: World, minutes: number): Promise<number> {
  await world.live(1.1 * minute, [{ perMinute: 2 * requests }]);
  const from = world.clock.now();
  await world.live(minutes * minute, [{ perMinute: 2 * requests }]);
  return world.upstream.between(from, world.clock.now()) / (minutes * requests);
}

export const percent = (part: number) => `${(100 * part).toFixed(2)} %`;
export const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
