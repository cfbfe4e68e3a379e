/**
 * Instances as Lambda starts them: one request at a time each, another one when all are busy, none beyond the
 * cap, and each takes its time to start.
 */

import type { Request, World } from './world.ts';

export interface FleetOptions {
  /** Default 400 ms. */
  readonly startMs?: number;
  /** Default 1,000, as an account has them. */
  readonly cap?: number;
  /** How long the upstream takes for a request that is sent. Default 150 ms. */
  readonly upstreamMs?: number;
}

export function createFleet(
  world: World,
  { startMs = 400, cap = 1000, upstreamMs = 150 }: FleetOptions = {},
) {
  const idle: ReturnType<World['start']>[] = [];
  const counts = { instances: 0, refusedByPlatform: 0, answered: 0, refused: 0 };
  const retryAfter: number[] = [];

  async function instance() {
    const free = idle.pop();
    if (free || counts.instances >= cap) return free;
    counts.instances++;
    await new Promise<void>((resolve) => void world.clock.after(startMs, resolve));
    return world.start();
  }

  async function ask(request: Request): Promise<void> {
    const one = await instance();
    if (!one) {
      counts.refusedByPlatform++;
      return;
    }
    const answer = await world.requestOf(one, request);
    if (answer.ok) {
      counts.answered++;
      await new Promise<void>((resolve) => void world.clock.after(upstreamMs, resolve));
    } else {
      counts.refused++;
      retryAfter.push(answer.retryAfterMs);
    }
    idle.push(one);
  }

  return {
    counts,
    retryAfter,
    /** So many requests a second, evenly, for so long; runs the world meanwhile. */
    async storm(perSecond: number, forMs: number, request: Request = {}): Promise<void> {
      const until = world.clock.now() + forMs;
      const next = () => {
        if (world.clock.now() >= until) return;
        void ask(request);
        world.clock.after(1000 / perSecond, next);
      };
      next();
      await world.clock.pass(forMs);
    },
  };
}
