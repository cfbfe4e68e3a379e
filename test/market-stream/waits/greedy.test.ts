/** One caller asks for hundreds of symbols as often as its plan lets it: the listener goes on carrying what many callers ask for. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  createMemorySnapshotStore,
  createMemoryStreamedLog,
  createSnapshotCache,
  viewOf,
} from '../../../lib/cache/snapshots/index.ts';
import { createRandom } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import { createListening, Market, ModelBroker, recordOf } from '../world.ts';

const view = viewOf([['category', 'US_STOCK']]);
const named = (letter: string, count: number) => Array.from({ length: count }, (_, at) => `${letter}${at}`);
const popular = named('P', 80);
const others = named('G', 400);

/** Two instances, and one session of a hundred symbols. */
function createScene() {
  const time = new VirtualTime();
  const random = createRandom(7);
  const market = new Market(time, [...popular, ...others], 0.02);
  const broker = new ModelBroker(time, market);
  const log = createMemoryStreamedLog(time.now);
  const store = createMemorySnapshotStore(time.now);
  const instances = Array.from({ length: 2 }, () =>
    createSnapshotCache({
      store,
      streamed: log,
      permits: { acquire: async () => ({ ok: true, permit: { expiresAt: Infinity, consume: () => true } }) },
      upstream: async (_view, asked) => {
        await time.sleep(80);
        const records = asked.map((symbol) => recordOf(symbol, market.lastOf(symbol)));
        return { kind: 'answer', body: new TextEncoder().encode(`[${records.join()}]`) };
      },
      clock: time.now,
      sleep: time.sleep,
      random,
    }),
  );
  createListening(time, broker, { log, store, sessions: 1 }).begin();

  /** Asks each `everyMs`, one instance or another. */
  function follow(caller: string, everyMs: number, symbols: () => readonly string[]): void {
    const ask = () => {
      const instance = instances[Math.floor(random() * instances.length)]!;
      void instance.ask({ view, symbols: symbols(), caller, deadline: time.now() + 3000 });
      time.after(everyMs, ask);
    };
    time.after(everyMs * random(), ask);
  }

  return {
    broker,
    run: (seconds: number) => time.runUntil(time.now() + 1000 * seconds),
    /** Each has twenty of the popular symbols. */
    phones(count: number): void {
      for (let phone = 0; phone < count; phone++) {
        const first = Math.floor(random() * popular.length);
        const own = [...popular, ...popular].slice(first, first + 20);
        follow(`phone-${phone}`, 5000, () => own);
      }
    },
    greedy(): void {
      let at = 0;
      follow('greedy', 50, () => {
        at = (at + 100) % others.length;
        return others.slice(at, at + 100);
      });
    },
    async carried(): Promise<readonly string[]> {
      const whole = (await log.read()).find((one) => one.carried);
      return whole?.carried?.flatMap((one) => one.symbols) ?? [];
    },
  };
}

const lacking = (carried: readonly string[]) => popular.filter((symbol) => !carried.includes(symbol));

test('it takes no place from a symbol that others ask for', async () => {
  const { run, phones, greedy, carried } = createScene();
  phones(40);
  await run(40);
  assert.deepEqual(lacking(await carried()), []);
  greedy();
  await run(60);
  assert.deepEqual(lacking(await carried()), []);
});

test('where it came first, what others ask for takes its places', async () => {
  const { broker, run, phones, greedy, carried } = createScene();
  greedy();
  await run(50);
  const gaveUp = broker.requests.filter(({ kind }) => kind === 'unsubscribe');
  assert.ok(
    gaveUp.every(({ symbols }) => symbols <= 20),
    'all have about the same demand, and few give place to others at once',
  );
  assert.equal((await carried()).length, 100, 'as long as no other caller asks');
  phones(40);
  await run(70);
  assert.deepEqual(lacking(await carried()), []);
});
