/** The store lost, for all instances or for half of them, or throttled, while instances are replaced. */

import type { StoreFault } from './world/slow-store.ts';
import { World } from './world/world.ts';

export type Loss = 'lost for all' | 'lost for half' | number;

export interface LossOptions {
  readonly seed: number;
  readonly instances: number;
  readonly loss: Loss;
  readonly minutes: number;
  /** The reserved part of the limit, for as many instances as there are. Default none. */
  readonly part?: number;
}

export interface LossResult {
  /** The most that arrived in any true window of 60 s, before, meanwhile and after. */
  readonly worst: number;
  /** While the store was lost: the part of the requests that was sent, and the used part of the limit. */
  readonly served: number;
  readonly used: number;
  /** The same in the second and third minute after. */
  readonly usedAfter: number;
}

const minute = 60_000;
/** Instances are older than a window and a request when the store is lost. */
const ageMs = 95_000;

/** A store may be lost by an answer or by none; half of the instances are those with odd numbers. */
export const faultOf =
  (loss: Loss, random: () => number) =>
  (_now: number, instance: number): StoreFault | undefined => {
    if (typeof loss === 'number') return random() < loss ? 'throttled' : undefined;
    if (loss === 'lost for half' && instance % 2 === 0) return undefined;
    return instance % 3 === 0 ? 'silent' : 'unavailable';
  };

export async function loseStore({ seed, instances, loss, minutes, part }: LossOptions): Promise<LossResult> {
  const world = new World({
    seed,
    instances,
    extreme: seed % 2 === 0,
    killsPerMinute: Math.max(6, instances / 20),
    tail: true,
    ...(part && { limiter: { reserve: { instances, part } } }),
  });
  const demand = [{ perMinute: 600 }];
  await world.live(ageMs, demand);
  world.store.fault = faultOf(loss, world.random);
  const [from, asked] = [world.clock.now(), world.counts.asked];
  await world.live(minutes * minute, demand);
  const used = world.upstream.between(from, world.clock.now()) / (300 * minutes);
  const served = world.served.filter(({ askedAt }) => askedAt >= from).length / (world.counts.asked - asked);
  world.store.fault = () => undefined;
  // Every instance comes back at once.
  for (let index = 0; index < 350; index++) void world.request();
  await world.live(minute, demand);
  const back = world.clock.now();
  await world.live(2 * minute, demand);
  const usedAfter = world.upstream.between(back, world.clock.now()) / 600;
  await world.clock.pass(5000);
  return { worst: world.upstream.worstWindow(), served, used, usedAfter };
}
