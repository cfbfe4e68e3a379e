/**
 * `npm run study -- control-delay [runs] [seed]`: twenty warm instances place orders without a pause while an operator
 * lowers a limit, or stops trading. How long after that does the last order leave that it should have held back?
 */

import { startSimulator } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createGateway, type Gateway } from '../../lib/gateway/index.ts';
import {
  type ControlChange,
  type ControlStore,
  createControlAdmin,
  createMemoryControls,
  maxControlAgeMs,
} from '../../lib/guard-rails/index.ts';
import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { ask, credentials, secretText } from '../support/core.ts';
import { identity, names } from '../support/instances.ts';
import { createRandom } from '../world/random.ts';
import { bodyOf, limited, outcomeOf, placePath } from './guarded.ts';

/** What the operator does, and which orders it holds back. */
export const changes = ['a lowered limit', 'a stop'] as const;

/** Mean milliseconds between two orders of an instance, and whether the store of limits is away while it happens. */
export const situations = {
  'two orders a second each': { everyMs: 500, isAway: false },
  // An instance then knows for longest what it has read: up to three seconds.
  'two in three seconds each': { everyMs: 1500, isAway: false },
  'the store is away from the change on': { everyMs: 500, isAway: true },
} as const;

export interface DelayOptions {
  readonly change: (typeof changes)[number];
  readonly everyMs: number;
  readonly isAway: boolean;
  readonly instances?: number;
  readonly seed: number;
}

export interface DelayFigures {
  /**
   * Milliseconds from the change to the last order that it should have held back; undefined when there was none. No
   * time passes while an order is on its way.
   */
  readonly lastAfterMs: number | undefined;
  /** Orders after the change: sent in spite of it, sent as it allows, blocked by it, refused because it is not known. */
  readonly late: number;
  readonly allowed: number;
  readonly blocked: number;
  readonly unavailable: number;
}

const lowered = '5';
const quantities = { small: '1', large: '10' };
const subject = { kind: 'gateway' } as const;
const limitOf = (max_order_quantity: string): ControlChange => ({
  action: 'limits',
  subject,
  changes: { max_order_quantity },
});

/** So long instances are warm before the change, and are watched after it. */
const warmMs = 2000;
const watchedMs = maxControlAgeMs + 2000;

/** One change while orders run. Every time is of a clock of its own. */
export async function measureDelay(options: DelayOptions): Promise<DelayFigures> {
  const { change, everyMs, isAway, instances = 20, seed } = options;
  const random = createRandom(seed);
  const start = Date.UTC(2026, 10, 23, 15);
  const state = { clock: start, isAway: false };
  const clock = () => state.clock;
  const memory = createMemoryControls();
  const controls: ControlStore = {
    read: (keys) => (state.isAway ? Promise.reject(new Error('away')) : memory.read(keys)),
  };
  const admin = createControlAdmin({ store: memory, identity, by: 'operator', clock });
  const simulator = await startSimulator({ ...credentials, clock });
  try {
    await admin.apply(limitOf('100'));
    const gateways = gatewaysOf(simulator.url, { count: instances, clock, controls });
    // Each has an order of its own soon, and the next one at random.
    const due = gateways.map(() => start + random() * everyMs);
    const changesAt = start + warmMs + random() * everyMs;
    const after: { readonly isLarge: boolean; readonly outcome: string; readonly at: number }[] = [];
    let isChanged = false;
    for (let orders = 0; ; orders++) {
      const next = due.indexOf(Math.min(...due));
      const at = due[next]!;
      if (!isChanged && at > changesAt) {
        state.clock = changesAt;
        await admin.apply(
          change === 'a stop' ? { action: 'stop', subject, reason: 'a study' } : limitOf(lowered),
        );
        [isChanged, state.isAway] = [true, isAway];
      }
      if (at > changesAt + watchedMs) break;
      state.clock = at;
      due[next] = at + 1 + 2 * everyMs * random();
      const isLarge = random() < 0.5;
      const quantity = isLarge ? quantities.large : quantities.small;
      const order = limited(`order-of-the-delay-${orders}`, '1', quantity);
      const reply = await ask(gateways[next]!, placePath, bodyOf({ new_orders: [order] }));
      if (isChanged) after.push({ isLarge, outcome: outcomeOf(reply), at: at - changesAt });
    }
    return figuresOf(after, change);
  } finally {
    await simulator.close();
  }
}

const gatewaysOf = (
  upstreamBaseUrl: string,
  parts: { readonly count: number; readonly clock: () => number; readonly controls: ControlStore },
): readonly Gateway[] => {
  const { count, clock, controls } = parts;
  const journal = createMemoryOrderJournal();
  return Array.from({ length: count }, () =>
    createGateway({
      operations,
      upstreamBaseUrl,
      secrets: { read: async () => secretText() },
      access: 'single-user',
      clock,
      orders: { journal, names, guard: { controls, journal } },
    }),
  );
};

function figuresOf(
  after: readonly { readonly isLarge: boolean; readonly outcome: string; readonly at: number }[],
  change: DelayOptions['change'],
): DelayFigures {
  const isHeldBack = ({ isLarge }: { readonly isLarge: boolean }) => change === 'a stop' || isLarge;
  const sent = after.filter(({ outcome }) => outcome === 'sent');
  const late = sent.filter(isHeldBack);
  const blocked = after.filter(({ outcome }) => outcome.startsWith('blocked: ')).length;
  return {
    lastAfterMs: late.at(-1)?.at,
    late: late.length,
    allowed: sent.length - late.length,
    blocked,
    unavailable: after.length - sent.length - blocked,
  };
}

/** @returns whether no order left later than five seconds after the change that should have held it back */
export async function studyControlDelay([runs = '5', seed = '1']: readonly string[]): Promise<boolean> {
  let isGood = true;
  for (const change of changes)
    for (const [name, situation] of Object.entries(situations)) {
      const all: DelayFigures[] = [];
      for (let run = 0; run < Number(runs); run++)
        all.push(await measureDelay({ change, ...situation, seed: Number(seed) + run }));
      const longest = Math.max(...all.map(({ lastAfterMs = 0 }) => lastAfterMs));
      const sum = (part: 'late' | 'allowed' | 'blocked' | 'unavailable') =>
        all.reduce((total, figures) => total + figures[part], 0);
      console.log(
        `${change}, ${name}: effective after ${(longest / 1000).toFixed(2)} s at most in ${runs} runs; ${sum('late')} orders left before that, ${sum('allowed')} that it allows, ${sum('blocked')} blocked, ${sum('unavailable')} refused because limits were not known`,
      );
      isGood &&= longest <= maxControlAgeMs;
    }
  return isGood;
}
