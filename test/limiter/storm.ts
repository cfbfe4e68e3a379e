/** Storms: many instances at one item, cold or warm, on a key with the unit caps of DynamoDB. */

import { createFleet } from './world/fleet.ts';
import { keyCap, type Units } from './world/key-units.ts';
import { World } from './world/world.ts';

export interface StormResult {
  readonly asked: number;
  readonly sent: number;
  readonly refused: number;
  /** Refused because all instances were busy. */
  readonly refusedByPlatform: number;
  readonly instances: number;
  /** Units in the busiest second, throttled ones included. */
  readonly peakRead: number;
  readonly peakWrite: number;
  /** Units in all. */
  readonly read: number;
  readonly write: number;
  readonly throttled: number;
  readonly worst: number;
  /** The used part of the limit during the storm; above 1 when it begins after idling. */
  readonly used: number;
  readonly itemBytes: number;
}

const minute = 60_000;

/** What was before: nothing, all used half a minute ago, or some demand, which leaves an item in pieces. */
export type Before = 'idle' | 'used up' | 'half in use' | 'mostly in use';

async function live(world: World, before: Before): Promise<void> {
  if (before === 'half in use') await world.live(2 * minute, [{ perMinute: 150 }]);
  if (before === 'mostly in use') await world.live(2 * minute, [{ perMinute: 240 }]);
  if (before !== 'used up') return;
  for (let index = 0; index < 400; index++) void world.request();
  await world.clock.pass(minute / 2);
}

async function resultOf(
  world: World,
  from: number,
  before: number,
  fleet?: ReturnType<typeof createFleet>,
): Promise<StormResult> {
  const { store } = world;
  const { clock, counts, upstream } = world;
  return {
    asked: counts.asked - before + (fleet?.counts.refusedByPlatform ?? 0),
    sent: upstream.between(from, clock.now()),
    refused: counts.refused,
    refusedByPlatform: fleet?.counts.refusedByPlatform ?? 0,
    instances: fleet?.counts.instances ?? world.instances.length,
    peakRead: store.units.peak('read', from),
    peakWrite: store.units.peak('write', from),
    read: store.units.total('read', from),
    write: store.units.total('write', from),
    throttled: store.units.throttled,
    worst: upstream.worstWindow(),
    used: upstream.between(from, clock.now()) / ((clock.now() - from) / 200),
    itemBytes: await store.bytes(),
  };
}

/** A thousand warm instances, from the third minute on. */
export async function warm(seed: number, perMinute: number, minutes = 4): Promise<StormResult> {
  const world = new World({ seed, instances: 1000, unitCap: keyCap, tail: true });
  await world.live(2 * minute, [{ perMinute }]);
  const from = world.clock.now();
  const before = world.counts.asked;
  await world.live(minutes * minute, [{ perMinute }]);
  return resultOf(world, from, before);
}

export interface ColdOptions {
  readonly seed: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly before: Before;
  /** Default DynamoDB's own. */
  readonly unitCap?: Units;
}

/** No instance runs yet; each starts for a request that finds none free. */
export async function cold({
  seed,
  perSecond,
  seconds,
  before,
  unitCap = keyCap,
}: ColdOptions): Promise<StormResult> {
  const world = new World({ seed, instances: 20, unitCap, tail: true });
  await live(world, before);
  const fleet = createFleet(world);
  const from = world.clock.now();
  const { asked } = world.counts;
  await fleet.storm(perSecond, seconds * 1000);
  return resultOf(world, from, asked, fleet);
}

/** So many cold instances ask once each within so many milliseconds. */
export async function atOnce({
  seed,
  instances,
  withinMs,
  before,
}: {
  seed: number;
  instances: number;
  withinMs: number;
  before: Before;
}): Promise<StormResult> {
  const world = new World({ seed, instances: 20, unitCap: keyCap, tail: true });
  await live(world, before);
  const from = world.clock.now();
  const { asked } = world.counts;
  for (let index = 0; index < instances; index++)
    world.clock.after(world.random() * withinMs, () => void world.requestOf(world.start(), {}));
  await world.clock.pass(from - world.clock.now() + 5000);
  return { ...(await resultOf(world, from, asked)), instances };
}

export const tableRow = (label: string, result: StormResult): string =>
  `| ${label} | ${result.instances} | ${result.asked} | ${result.sent} | ${(100 * result.used).toFixed(1)} % | ` +
  `${result.refusedByPlatform} | ${result.peakRead} | ${result.peakWrite} | ${result.read} | ${result.write} | ` +
  `${result.throttled} | ${result.worst} | ${result.itemBytes} |`;
