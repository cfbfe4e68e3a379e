/** Random changes of the book, and random misfortune of listeners, streams, stores and buses; then all comes to rest. */

import { type BookOrder, isOpenOrder, type StreamFault } from './upstream.ts';
import { canaries, World, type WorldOptions } from './world.ts';

export interface ChaosOptions extends WorldOptions {
  readonly minutes: number;
  /** Of how much goes wrong, between 0 and 1; each is drawn about every ten seconds. */
  readonly kills?: number;
  readonly freezes?: number;
  readonly streamFaults?: number;
  readonly storeFaults?: number;
  readonly busRefusals?: number;
  readonly readFaults?: number;
  /** What goes on beside the listeners, from their first start on. */
  readonly beside?: (world: World) => void;
  /** Mean time between two changes of the book. */
  readonly changeEveryMs?: number;
}

const faults: readonly StreamFault[] = ['drop', 'expire', 'mute', 'silence', 'goaway'];

export async function runChaos(options: ChaosOptions): Promise<World> {
  const world = new World({ shiftMs: 4 * 60_000, ...options });
  world.schedule();
  options.beside?.(world);
  await world.pass(10_000);
  world.upstream.partlyFilled = world.random() < 0.5 ? 'SUBMITTED' : 'PARTIAL_FILLED';
  world.upstream.lagMs = Math.round(world.random() * 10_000);
  const share = (part: number | undefined) => () => world.random() < (part ?? 0);
  const storeFails = share((options.storeFaults ?? 0) / 4);
  world.storeFault = () => (storeFails() ? (world.random() < 0.5 ? 'before' : 'after') : undefined);
  world.busRefuses = share(options.busRefusals);
  world.upstream.readFault = share(options.readFaults);
  const end = world.time.now() + options.minutes * 60_000;
  let nextFault = 0;
  for (let orders = 0; world.time.now() < end; ) {
    await world.pass(-Math.log(1 - world.random()) * (options.changeEveryMs ?? 3_000));
    orders += change(world, orders) ? 1 : 0;
    if (world.time.now() < nextFault) continue;
    nextFault = world.time.now() + 10_000;
    misfortune(world, options);
  }
  world.storeFault = undefined;
  world.busRefuses = undefined;
  world.upstream.readFault = undefined;
  for (const instance of world.listening) instance.diesAt = undefined;
  world.upstream.bring('drop');
  // A lease runs out, a start comes, and the comparisons of a settled stream.
  await world.pass(20 * 60_000);
  return world;
}

/** One change of the book. Whether it is a new order. */
function change({ upstream, random }: World, orders: number): boolean {
  const open = [...upstream.orders.values()].filter(isOpenOrder);
  if (open.length < 4 || (open.length < 12 && random() < 0.3)) {
    const account = random() < 0.7 ? canaries.account : canaries.other;
    upstream.place(account, `CID-CANARY-${orders}`, 10, 100);
    return true;
  }
  const order = open[Math.floor(random() * open.length)]!;
  act(upstream, order, random);
  return false;
}

function act(upstream: World['upstream'], order: BookOrder, random: () => number): void {
  const drawn = random();
  if (drawn < 0.4) upstream.fill(order, 1 + Math.floor(random() * 5));
  else if (drawn < 0.55) upstream.cancel(order);
  else if (drawn < 0.6) upstream.fail(order);
  else if (drawn < 0.85) upstream.modify(order, 100 + Math.floor(random() * 50));
  else upstream.refuse(order, random() < 0.5 ? 'MODIFY_FAILED' : 'CANCEL_FAILED');
}

function misfortune(world: World, options: ChaosOptions): void {
  const { random, upstream } = world;
  const living = world.listening.filter(({ isDead }) => !isDead);
  const unlucky = living[Math.floor(random() * living.length)];
  if (unlucky && random() < (options.kills ?? 0)) {
    // Between any two steps, before or after the effect of a call.
    unlucky.diesAt = { call: unlucky.calls + 1 + Math.floor(random() * 30), after: random() < 0.5 };
  }
  if (unlucky && random() < (options.freezes ?? 0))
    unlucky.frozenUntil = Math.max(
      unlucky.frozenUntil,
      world.time.now() + 1_000 + Math.round(random() * 90_000),
    );
  if (random() < (options.streamFaults ?? 0)) {
    upstream.bring(faults[Math.floor(random() * faults.length)]!);
    if (random() < 0.5) upstream.repeat = Math.floor(random() * 20);
  }
}
