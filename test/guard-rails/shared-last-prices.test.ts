/** Last prices of one instance: which of them are fresh enough, what is asked for, and how often. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { LastPrice } from '../../lib/guard-rails/last-price.ts';
import {
  createSharedLastPrices,
  type LastPriceFailure,
  type SharedPrices,
  type UpstreamPrice,
} from '../../lib/guard-rails/shared-last-prices.ts';
import { each } from '../support/each.ts';
import { VirtualTime } from '../world/virtual-time.ts';

interface World {
  /** What other instances have fetched, by symbol. */
  readonly shared?: Map<string, LastPrice> | 'away' | 'none';
  /** What the upstream answers, and how long it takes for that. */
  readonly answer?: (symbol: string, call: number, now: number, user?: string) => UpstreamPrice;
  readonly upstreamMs?: number;
  readonly sharedMs?: number;
}

function start({ shared = new Map(), answer, upstreamMs = 100, sharedMs = 10 }: World = {}) {
  const time = new VirtualTime();
  const calls: string[] = [];
  const looks: (readonly [symbol: string, since: number])[] = [];
  const ends: number[] = [];
  const failures: LastPriceFailure[] = [];
  const store: SharedPrices = async (symbol, since) => {
    looks.push([symbol, since]);
    await time.sleep(sharedMs);
    if (shared === 'away') throw new Error('the store is away');
    const found = shared === 'none' ? undefined : shared.get(symbol);
    return found && found.at >= since ? found : undefined;
  };
  const prices = createSharedLastPrices({
    ...(shared !== 'none' && { store }),
    async upstreamRead(symbol, endBy, user) {
      const sentAt = time.now();
      calls.push(symbol);
      ends.push(endBy);
      const call = calls.length;
      await time.sleep(upstreamMs);
      return answer?.(symbol, call, sentAt, user) ?? foundAt(sentAt, String(call));
    },
    clock: time.now,
    after(ms, run) {
      assert.ok(ms < 2 ** 31, 'a longer timer of the platform ends at once');
      return time.after(ms, run);
    },
    reportFailure: (failure) => failures.push(failure),
  });
  const ask = (symbol: string, maxAgeMs = 15_000, withinMs = 2000, user?: string) =>
    prices.lastPrice(symbol, maxAgeMs, time.now() + withinMs, user);
  /** The answer, and when it came, in milliseconds from now. */
  async function answered(asked: Promise<LastPrice | undefined>) {
    const from = time.now();
    let at = Number.NaN;
    const timed = asked.then((price) => {
      at = time.now() - from;
      return price;
    });
    await time.runUntil(from + 20_000);
    return { price: await timed, at };
  }
  return { time, calls, looks, ends, failures, ask, answered, prices };
}

const foundAt = (at: number, price: string): UpstreamPrice => ({ kind: 'found', found: { price, at } });

describe('freshness', () => {
  test('what was fetched as long ago as allowed is served, and a millisecond later it is not', async () => {
    for (const [olderMs, calls] of [
      [0, 0],
      [1, 1],
    ] as const) {
      const shared = new Map<string, LastPrice>();
      const world = start({ shared, sharedMs: 0 });
      shared.set('AAPL', { price: '1.10', at: world.time.now() - 15_000 - olderMs });
      const { price } = await world.answered(world.ask('AAPL'));
      assert.equal(price?.price, calls === 0 ? '1.10' : '1');
      assert.equal(world.calls.length, calls);
    }
  });

  test('an answer counts its age from when the upstream was asked', async () => {
    const { ask, answered, calls } = start({ shared: 'none', upstreamMs: 500 });
    assert.equal((await answered(ask('AAPL', 499))).price, undefined);
    assert.equal((await answered(ask('AAPL', 500))).price?.price, '2');
    assert.equal(calls.length, 2);
  });

  test('a price is kept for its age, and then read again', async () => {
    const { ask, answered, calls, looks, time } = start();
    const first = await answered(ask('AAPL', 60_000));
    assert.deepEqual([first.price?.price, calls.length, looks.length], ['1', 1, 1]);
    const from = first.price!.at;
    await time.runUntil(from + 60_000);
    const second = await ask('AAPL', 60_000);
    assert.deepEqual([second?.price, calls.length, looks.length], ['1', 1, 1]);
    await time.runUntil(from + 60_001);
    assert.equal((await answered(ask('AAPL', 60_000))).price?.price, '2');
    assert.equal(looks.length, 2);
  });

  test('what a clock that is wrong dates later counts for nothing; clocks may differ by a second', async () => {
    for (const [aheadMs, price] of [
      [1000, '7'],
      [1001, '1'],
    ] as const) {
      const shared = new Map<string, LastPrice>();
      const world = start({ shared, sharedMs: 0 });
      shared.set('AAPL', { price: '7', at: world.time.now() + aheadMs });
      assert.equal((await world.answered(world.ask('AAPL'))).price?.price, price);
    }
  });

  test('an older price never replaces a newer one', async () => {
    const shared = new Map<string, LastPrice>();
    const { time, ask, calls } = start({ shared, sharedMs: 100, upstreamMs: 50 });
    const from = time.now();
    shared.set('AAPL', { price: '9', at: from - 20_000 });
    const first = ask('AAPL', 15_000);
    await time.runUntil(from + 120);
    // Its look is under way when the answer of the first question's call comes, and finds the older price.
    const second = ask('AAPL', 60_000);
    await time.runUntil(from + 300);
    assert.deepEqual(await first, { price: '1', at: from + 100 });
    assert.deepEqual(await second, { price: '1', at: from + 100 });
    assert.equal((await ask('AAPL', 60_000, 0))?.price, '1');
    assert.equal(calls.length, 1);
  });
});

describe('how often', () => {
  test('concurrent questions for one symbol share one look and one call; each symbol has its own', async () => {
    const { ask, answered, calls, looks, time } = start();
    const asked = Array.from({ length: 50 }, (_, index) => ask(index % 2 ? 'AAPL' : 'SPY'));
    time.after(60, () => asked.push(ask('AAPL')));
    await answered(asked[0]!);
    const found = await Promise.all(asked);
    assert.equal(found.length, 51);
    assert.ok(found.every((one) => one !== undefined));
    assert.deepEqual([...calls].sort(), ['AAPL', 'SPY']);
    // The question that came during the call looked, too: that is what it is cheaper for.
    assert.deepEqual(looks.map(([symbol]) => symbol).sort(), ['AAPL', 'AAPL', 'SPY']);
  });

  test('a symbol that the upstream does not know is asked for once in ten seconds', async () => {
    const { ask, calls, failures, time } = start({ answer: () => ({ kind: 'unknown' }) });
    const from = time.now();
    // It is known 110 ms after the first question: a look of 10 ms, and a call of 100.
    for (const [afterMs, expected] of [
      [0, 1],
      [500, 1],
      [10_099, 1],
      [10_110, 2],
      [15_000, 2],
    ] as const) {
      await time.runUntil(from + afterMs);
      const asked = [ask('NONE'), ask('NONE')];
      await time.runUntil(time.now() + 110);
      assert.deepEqual(await Promise.all(asked), [undefined, undefined]);
      assert.equal(calls.length, expected, `${afterMs} ms`);
    }
    assert.deepEqual(failures, []);
  });

  test('after a failure the next question asks again', async () => {
    const { ask, answered, failures } = start({
      answer: (_, call, now) =>
        call === 1 ? { kind: 'failed', code: 'budget_used_up' } : foundAt(now, '2.50'),
    });
    assert.equal((await answered(ask('AAPL'))).price, undefined);
    assert.equal((await answered(ask('AAPL'))).price?.price, '2.50');
    assert.deepEqual(failures, [{ step: 'upstream', code: 'budget_used_up' }]);
  });

  test('one user’s refused share is not another’s answer: the others who waited ask once more, together', async () => {
    const { ask, answered, calls, failures } = start({
      answer: (_, __, now, user) =>
        user === 'greedy' ? { kind: 'failed', code: 'budget_used_up' } : foundAt(now, '2.50'),
    });
    const askAs = (user: string) => ask('AAPL', 15_000, 2000, user);
    const asked = ['greedy', 'greedy', 'other', 'other', 'third'].map(askAs);
    await answered(asked[0]!);
    const found = await Promise.all(asked);
    assert.deepEqual(
      found.map((one) => one?.price),
      [undefined, undefined, '2.50', '2.50', '2.50'],
    );
    // A user whose own call the limiter refused makes no second one.
    assert.deepEqual([calls.length, failures.length], [3, 1]);
  });

  test('what fails for another reason, or too late, is not asked for again', async () => {
    for (const [code, withinMs] of [
      ['upstream_error', 2000],
      ['budget_used_up', 100],
    ] as const) {
      const { ask, answered, calls } = start({ answer: () => ({ kind: 'failed', code }), sharedMs: 0 });
      const asked = [ask('AAPL', 15_000, 2000, 'one'), ask('AAPL', 15_000, withinMs, 'other')];
      await answered(asked[0]!);
      await Promise.all(asked);
      assert.equal(calls.length, 1, code);
    }
  });

  test('what is no one symbol is asked for nowhere', async () => {
    const { ask, calls, looks } = start();
    for (const symbol of ['', 'AAPL,MSFT', 'A B', 'Ä', 'A\n', 'A'.repeat(65)])
      assert.equal(await ask(symbol), undefined);
    assert.deepEqual([calls, looks], [[], []]);
  });

  test('it remembers a thousand symbols, the latest', async () => {
    const { ask, answered, calls, time } = start({ shared: 'none', upstreamMs: 0 });
    const all = Array.from({ length: 1001 }, (_, index) => `S${index}`);
    for (const symbol of all) {
      const asked = ask(symbol, 600_000);
      await time.runUntil(time.now());
      assert.ok(await asked);
    }
    assert.ok(await ask('S1', 600_000));
    assert.equal(calls.length, 1001);
    await answered(ask('S0', 600_000));
    assert.equal(calls.length, 1002);
  });
});

describe('in time', () => {
  test('without time left only memory answers', async () => {
    const { ask, answered, calls, looks } = start();
    assert.equal(await ask('AAPL', 15_000, 0), undefined);
    assert.deepEqual([calls, looks], [[], []]);
    const { price } = await answered(ask('AAPL', 60_000));
    assert.deepEqual(await ask('AAPL', 60_000, 0), price);
  });

  test('the answer comes when it is needed, and the call serves the next question', async () => {
    const { ask, answered, calls, ends, time } = start({ upstreamMs: 2500 });
    const from = time.now();
    const first = ask('AAPL', 60_000, 1000);
    const second = ask('AAPL', 60_000, 5000);
    let firstAt = Number.NaN;
    first.then(() => {
      firstAt = time.now() - from;
    });
    const { price, at } = await answered(second);
    assert.equal(await first, undefined);
    assert.equal(firstAt, 1000);
    assert.deepEqual([price?.price, at], ['1', 2510]);
    // The call's own end is that of no question.
    assert.deepEqual([calls.length, ends[0]! - from], [1, 3010]);
    assert.deepEqual(await ask('AAPL', 60_000, 0), price);
  });

  test('a store that does not answer in time leaves none for the upstream', async () => {
    const { ask, answered, calls } = start({ sharedMs: 5000 });
    const { price, at } = await answered(ask('AAPL', 15_000, 1000));
    assert.deepEqual([price, at, calls.length], [undefined, 1000, 0]);
  });

  test('a question without an end is answered', async () => {
    const { answered, prices } = start();
    const { price } = await answered(prices.lastPrice('AAPL', 60_000, Number.POSITIVE_INFINITY));
    assert.equal(price?.price, '1');
  });
});

describe('it never throws', () => {
  test('a store that is away is reported, and the upstream asked', async () => {
    const { ask, answered, failures } = start({ shared: 'away' });
    assert.equal((await answered(ask('AAPL'))).price?.price, '1');
    assert.deepEqual(each(failures, 'step'), ['shared']);
  });

  test('a read that throws is reported, and so is nothing of a log that does', async () => {
    for (const reportFailure of [undefined, () => assert.fail('a broken log')]) {
      const broken = createSharedLastPrices({
        upstreamRead: () => Promise.reject(new Error('a defect')),
        ...(reportFailure && { reportFailure }),
      });
      assert.equal(await broken.lastPrice('AAPL', 1000, Date.now() + 60_000), undefined);
    }
  });
});

test('whatever was fetched where and when: an answer is fresh, and there is one whenever the upstream has it in time', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        sharedAgeMs: fc.option(fc.integer({ min: -2000, max: 40_000 })),
        upstreamMs: fc.integer({ min: 0, max: 4000 }),
        questions: fc.array(
          fc.record({
            afterMs: fc.integer({ min: 0, max: 10_000 }),
            maxAgeMs: fc.integer({ min: 0, max: 30_000 }),
            withinMs: fc.integer({ min: 0, max: 6000 }),
          }),
          { minLength: 1, maxLength: 8 },
        ),
      }),
      async ({ sharedAgeMs, upstreamMs, questions }) => {
        const shared = new Map<string, LastPrice>();
        const { time, ask, calls } = start({ shared, upstreamMs });
        const from = time.now();
        if (sharedAgeMs !== null) shared.set('AAPL', { price: '3', at: from - sharedAgeMs });
        const judged = questions.map(async ({ afterMs, maxAgeMs, withinMs }) => {
          await time.sleep(afterMs);
          const asked = time.now();
          const price = await ask('AAPL', maxAgeMs, withinMs);
          const now = time.now();
          assert.ok(now <= asked + withinMs, 'late');
          if (price) assert.ok(now - price.at <= maxAgeMs && price.at <= now + 1000, 'not fresh');
          // A look takes 10 ms.
          else assert.ok(upstreamMs > maxAgeMs || withinMs <= 10 + upstreamMs, 'not found');
        });
        const all = Promise.all(judged);
        await Promise.race([time.runUntil(from + 60_000), all]);
        await all;
        assert.ok(calls.length <= questions.length);
      },
    ),
    { numRuns: 300 },
  ));
