/** Listeners whose clocks are up to half a minute fast or slow: who has the lease does not depend on any of them. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { beforeEach, describe, test } from 'vitest';
import type { TradeEventStore } from '../../../lib/trade-events/index.ts';
import { checkBus } from '../world/checks.ts';
import { useSynchronousCrypto } from '../world/synchronous-crypto.ts';
import { canaries, names, World } from '../world/world.ts';

beforeEach(useSynchronousCrypto);

const second = 1_000;
const minute = 60_000;
const hour = 60 * minute;
const clockOffMs = 30 * second;
const leaseMs = 12 * second;
const marginMs = 2 * second;
/** Of the listener and its successor, and of a start that is not needed: as many as a deployment keeps free. */
const reservedInstances = 3;
const { account } = canaries;

function fillOne(world: World, count: number): void {
  world.upstream.place(account, `CID-${count}`, 10);
  world.upstream.fill(world.upstream.orders.get(`${account} CID-${count}`)!, 10);
}

/** Hours of listeners, with a change of an order about every ten seconds; then all comes to rest. */
async function run(seed: number, each: (world: World) => void = () => {}): Promise<World> {
  const world = new World({ seed, clockOffMs, shiftMs: 4 * minute });
  world.schedule();
  await world.pass(5 * second);
  for (let count = 0; count < 400; count++) {
    await world.pass(world.random() * 20 * second);
    fillOne(world, count);
    assert.ok(world.listening.length <= reservedInstances, `${world.listening.length} instances`);
    each(world);
  }
  await world.pass(20 * minute);
  assert.equal(world.upstream.open, 1);
  checkBus(world);
  assert.equal(Math.max(...world.upstream.openCounts), 1, 'two streams at one time');
  return world;
}

const longestGap = ({ upstream }: World) => Math.max(0, ...upstream.closedForMs);
const property = (check: (seed: number) => Promise<void>) =>
  fc.assert(fc.asyncProperty(fc.nat(), check), {
    numRuns: Number(process.env.CHAOS_RUNS ?? 4),
    endOnFailure: true,
  });

describe('clocks that differ by up to a minute', () => {
  test('hand over within a second, and there is one stream', () =>
    property(async (seed) => {
      const world = await run(seed);
      assert.ok(world.upstream.openCounts.length >= 10);
      assert.ok(longestGap(world) <= second, `no stream for ${longestGap(world)} ms`);
      assert.deepEqual(
        world.instances.filter(({ result }) => result === 'lease_lost'),
        [],
      );
    }));

  test('a listener that dies is followed after the schedule’s minute and a lease at the latest', () =>
    property(async (seed) => {
      let kills = 0;
      let killAt = 0;
      const world = await run(seed, (world) => {
        const { owner } = world;
        if (!owner || world.time.now() < killAt) return;
        world.kill(owner);
        kills++;
        // Two that die within one gap make a longer one.
        killAt = world.time.now() + (2 + world.random() * 3) * minute;
      });
      assert.ok(kills >= 5, `${kills} kills`);
      assert.ok(longestGap(world) <= minute + leaseMs + marginMs, `no stream for ${longestGap(world)} ms`);
    }));
});

describe('the owner’s own clock', () => {
  async function withoutStore(change: (world: World) => void): Promise<number> {
    const world = new World({ shiftMs: hour });
    world.start();
    await world.pass(20 * second);
    assert.equal(world.upstream.open, 1);
    world.storeFault = () => 'before';
    change(world);
    const from = world.time.now();
    while (world.upstream.open > 0 && world.time.now() - from < minute) await world.pass(100);
    return world.time.now() - from;
  }

  test('ends its stream before a lease that it cannot renew has run out', async () => {
    const ms = await withoutStore(() => {});
    assert.ok(ms <= leaseMs - marginMs, `${ms} ms`);
  });

  test('that is set back does not prolong the lease', async () => {
    const ms = await withoutStore((world) => {
      world.instances[0]!.offsetMs -= 30 * second;
    });
    assert.ok(ms <= leaseMs - marginMs, `${ms} ms`);
  });

  test('that is set forward costs the stream a moment', async () => {
    const world = new World({ shiftMs: hour });
    world.start();
    await world.pass(20 * second);
    world.instances[0]!.offsetMs += 30 * second;
    await world.pass(minute);
    assert.equal(world.upstream.open, 1);
    assert.equal(Math.max(...world.upstream.openCounts), 1);
    assert.ok(longestGap(world) <= second, `no stream for ${longestGap(world)} ms`);
  });

  test('that is set back again and again does not make its renewals look like none', async () => {
    const world = new World({ shiftMs: hour });
    const store = world.store as { renew: TradeEventStore['renew'] };
    const { renew } = store;
    const untils: number[] = [];
    store.renew = (lease, owner, state) => {
      untils.push(state.until);
      return renew(lease, owner, state);
    };
    world.schedule();
    for (let count = 0; count < 60; count++) {
      await world.pass(5 * second);
      world.instances[0]!.offsetMs -= 5 * second;
    }
    assert.ok(untils.length >= 60);
    assert.ok(untils.every((until, index) => index === 0 || until > untils[index - 1]!));
    assert.equal(Math.max(...world.upstream.openCounts), 1);
    assert.equal(world.owner, world.instances[0]);
  });
});

describe('a listener of a former version, whose clock is an hour fast', () => {
  /** It has its lease, and renews it for so long. */
  async function former(renewsForMs: number): Promise<World> {
    const world = new World({ shiftMs: 4 * minute });
    const lease = await names.nameOf('event', 'listener');
    const state = () => ({
      until: world.time.now() + hour + leaseMs,
      endsAt: world.startedAt + hour + 14 * minute,
    });
    await world.store.acquire({ lease, owner: 'former', ...state() });
    world.schedule();
    for (let ms = 0; ms < renewsForMs; ms += 3 * second) {
      await world.store.renew(lease, 'former', state());
      await world.pass(3 * second);
    }
    return world;
  }

  test('keeps its lease as long as it renews it', async () => {
    const world = await former(13 * minute);
    assert.equal(world.upstream.attempts.length, 0);
    assert.ok(world.instances.slice(0, 11).every(({ result }) => result === 'not_needed'));
  });

  test('is followed when it has died, and not an hour later', async () => {
    const world = await former(5 * minute);
    await world.pass(minute + leaseMs + second);
    assert.equal(world.upstream.open, 1);
  });
});
