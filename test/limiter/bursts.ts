/** Bursts that meet cold instances: a permit expires while its request still waits for a connection. */

import { keyCap } from './world/key-units.ts';
import { World, type WorldOptions } from './world/world.ts';

export interface BurstResult {
  /** How much of what a window grants was sent in the minute from the beginning of the burst on. */
  readonly used: number;
  readonly expired: number;
  readonly worst: number;
  /** Of the first three seconds. */
  readonly writes: number;
  readonly throttled: number;
}

/** So many callers ask cold instances within so many milliseconds, by default each its own; afterwards others ask as usual. */
export async function burst(
  callers: number,
  withinMs: number,
  { instances = callers, ...options }: Omit<WorldOptions, 'instances'> & { readonly instances?: number },
): Promise<BurstResult> {
  const world = new World({
    slowConnections: 1,
    unitCap: keyCap,
    tail: true,
    ...options,
    instances,
  });
  const from = world.clock.now();
  for (let caller = 0; caller < callers; caller++)
    world.clock.after(world.random() * withinMs, () => void world.request({}, caller % instances));
  await world.live(3000, []);
  const { writes } = world.operations;
  await world.live(57_000, [{ perMinute: 600 }]);
  const used = world.upstream.between(from, world.clock.now()) / 298;
  await world.live(90_000, [{ perMinute: 600 }]);
  const { expired } = world.counts;
  return {
    used,
    expired,
    writes,
    worst: world.upstream.worstWindow(),
    throttled: world.store.units.throttled,
  };
}
