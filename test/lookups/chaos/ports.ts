/** The ports of one function, with all that can go wrong on the way there and back. */

import type { Refusal } from '../../../lib/gateway/index.ts';
import type { createLookups, LookupMessage, LookupsOptions } from '../../../lib/lookups/index.ts';
import type { Dice } from '../../world/random.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';
import { market, type Upstream, type World } from '../world.ts';
import type { Trouble } from './trouble.ts';

export interface Scene {
  readonly world: World;
  readonly time: VirtualTime;
  readonly dice: Dice;
  /** Of this moment. */
  readonly trouble: () => Trouble;
  readonly create: typeof createLookups;
}

export type Ports = Pick<LookupsOptions, 'store' | 'queue' | 'bus' | 'gateway'>;

export const never = () => new Promise<never>(() => {});

/** @param isAlive a function that is dead has no effect any more, and receives nothing */
export function createPorts(scene: Scene, isAlive: () => boolean): Ports {
  const { world, time, dice, trouble } = scene;
  const { store, queue, bus, gateway } = world.options;

  async function way(): Promise<void> {
    await time.sleep(dice.chance(trouble().slow) ? 1000 + dice.below(8000) : dice.below(60));
    if (!isAlive()) await never();
    // Its queue goes by its own clock.
    world.now = time.now();
  }

  async function mishap({ fails, hangs }: { readonly fails: boolean; readonly hangs: boolean }) {
    if (fails) throw new Error('away');
    if (hangs) await never();
  }

  const faulty =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const drawn = { fails: dice.chance(trouble().fails), hangs: dice.chance(trouble().hangs) };
      const isBefore = dice.chance(0.5);
      await way();
      if (isBefore) await mishap(drawn);
      const result = await call(...given);
      await way();
      if (!isBefore) await mishap(drawn);
      return result;
    };

  return {
    store: {
      claim: faulty(store.claim),
      saveReply: faulty(store.saveReply),
      complete: faulty(store.complete),
      release: faulty(store.release),
    },
    queue: {
      deadLetter: faulty(queue.deadLetter),
      putAgain: faulty(async (waits) => {
        const refused = new Set<LookupMessage>();
        for (const { message } of waits) if (dice.chance(trouble().refusesOne)) refused.add(message);
        // One that is said to be missing may be there all the same.
        await queue.putAgain(waits.filter(({ message }) => !refused.has(message) || dice.chance(0.5)));
        return refused;
      }),
    },
    bus: {
      publish: faulty(async (entries) => {
        if (dice.chance(trouble().busHangs)) await never();
        const taken = entries.map(() => !dice.chance(trouble().refusesOne));
        await bus.publish(entries.filter((_, at) => taken[at] || dice.chance(0.3)));
        return taken;
      }),
    },
    gateway: {
      async ask(request) {
        const { deadline = Number.POSITIVE_INFINITY } = request;
        const longest = dice.chance(0.1) ? 9000 : 300;
        await time.sleep(Math.max(0, Math.min(dice.below(longest), deadline - time.now())));
        if (!isAlive() || dice.chance(trouble().gatewayHangs)) await never();
        return gateway.ask(request);
      },
    },
  };
}

export const moodyMarket =
  ({ dice, trouble }: Pick<Scene, 'dice' | 'trouble'>): Upstream =>
  (request) =>
    dice.chance(trouble().gatewayRefuses)
      ? dice.oneOf<Refusal>([
          { code: 'budget_used_up', retryAfterSeconds: 1 },
          { code: 'budget_used_up', retryAfterSeconds: 1 + dice.below(30) },
          { code: 'upstream_error' },
        ])
      : market(request);
