/**
 * Ten clients that ask for what the upstream never answers, or answers by 502, as often as they can: how many of another
 * caller's reads are refused meanwhile, and how old the shared quotes get. A whole gateway on a virtual clock.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { getStockBars, listStockTicks } from '../../../lib/catalogue/index.ts';
import {
  type Attempt,
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  limiterLimits,
  type Send,
} from '../../../lib/gateway/index.ts';
import { gatewayOf, requestOf, snapshotPath } from '../../support/core.ts';
import { sendTo, upstreamOfTest } from '../../support/upstream.ts';
import { useFakeTime } from '../../world/test-time.ts';

const time = useFakeTime();
const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** What the spoilers ask for. */
const stuck = 'F';
const badGateway = {
  kind: 'answer',
  status: 502,
  header: () => undefined,
  body: new Uint8Array(),
} as const satisfies Attempt;

/** An upstream on which something happens to requests with some symbols. */
function gatewayBefore(happens: (symbols: readonly string[]) => 'time-out' | '502' | undefined) {
  const counts = { received: 0 };
  const answering = sendTo(upstreamOfTest(), () => {});
  const send: Send = async (request, limits) => {
    const { searchParams } = new URL(request.url);
    const symbols = (searchParams.get('symbols') ?? searchParams.get('symbol') ?? '').split(',');
    const fault = happens(symbols);
    if (!fault) return answering(request, limits);
    if (limits.letGo && !(await limits.letGo(() => {}))) return { kind: 'not_sent' };
    counts.received++;
    await later(fault === '502' ? 100 : limits.timeoutMs);
    return fault === '502' ? badGateway : { kind: 'timeout' };
  };
  const gateway = gatewayOf({
    limiter: createLimiter({ store: createMemoryLimiterStore(), limits: limiterLimits(), bucket: 'test' }),
    cache: createMemoryCacheStores(),
    send,
  });
  const read = async (target: string, unit: string) => {
    const { status, headers } = await gateway.handle({
      ...requestOf(target),
      caller: { unit },
      deadline: Date.now() + 29_000,
    });
    return { status, age: Number(headers.age) };
  };
  return { read, counts };
}

const quote = (symbol: string) => `${snapshotPath}?symbols=${symbol}&category=US_STOCK`;
/** Each is another one, so that no cache has an answer. */
const bars = (symbol: string, nth: number) =>
  `${getStockBars.path}?symbol=${symbol}&category=US_STOCK&timespan=M1&count=${(nth % 1200) + 1}`;
const ticks = (symbol: string, nth: number) =>
  `${listStockTicks.path}?symbol=${symbol}&category=US_STOCK&count=${(nth % 1000) + 1}`;

/**
 * @param targetOf what a spoiler asks for the nth time
 * @param unitOf a spoiler's; the neighbour's is `neighbour`
 */
async function spoil(
  fault: 'time-out' | '502',
  targetOf: (spoiler: number, nth: number) => string,
  unitOf: (spoiler: number) => string,
  pauseMs = 200,
) {
  const { read, counts } = gatewayBefore((symbols) => (symbols.includes(stuck) ? fault : undefined));
  const busy = new Set<number>();
  let asked = 0;
  async function spoilAgain(spoiler: number) {
    busy.add(spoiler);
    await read(targetOf(spoiler, asked++), unitOf(spoiler));
    await later(pauseMs);
    busy.delete(spoiler);
  }
  const reads: Promise<Awaited<ReturnType<typeof read>>>[] = [];
  // By the 50th second the directory of symbols is there.
  await time.pass(110_000, (at) => {
    for (let spoiler = 0; at >= 35_000 && spoiler < 10; spoiler++)
      if (!busy.has(spoiler)) void spoilAgain(spoiler);
    if (at % 1500 !== 0) return;
    const target = at % 3000 === 0 ? quote('AAPL') : bars('AAPL', at / 1500);
    const answer = read(target, 'neighbour');
    if (at >= 50_000) reads.push(answer);
  });
  await time.pass(15_000);
  const answers = await Promise.all(reads);
  const refused = answers.filter(({ status }) => status !== 200).length;
  const age = Math.max(...answers.flatMap((answer) => (answer.age >= 0 ? [answer.age] : [])));
  console.log(`${fault}: ${refused} of ${answers.length} refused, quotes up to ${age} s old`);
  return { refused, of: answers.length, age, received: counts.received };
}

const readsOf = (spoiler: number, nth: number) => (spoiler % 2 ? ticks : bars)(stuck, nth);

let networks = 0;

describe('ten clients that ask for what always fails', () => {
  // Fast failures of a network with few other reads look like an upstream that is down for the network.
  for (const fault of ['time-out', '502'] as const)
    for (const [where, unitOf, pauseMs] of [
      ['of one network', () => 'spoilers', 200],
      ['of ten networks', (spoiler: number) => `spoiler-${spoiler}`, 200],
      // So seldom that there are permits left.
      ['of another network each time', () => `spoiler-${++networks}`, 5000],
      ['of the neighbour’s network', () => 'neighbour', 200],
    ] as const)
      if (fault === 'time-out' || where !== 'of the neighbour’s network')
        test(`by ${fault}, ${where}, cost a neighbour no read`, async () => {
          const { refused, of, age, received } = await spoil(fault, readsOf, unitOf, pauseMs);
          assert.deepEqual([refused, of], [0, 40]);
          assert.ok(age <= 3, `${age} s`);
          assert.ok(received <= 300, `${received} requests that fail`);
        });
});

test('ten clients that ask for the quote of a symbol that never gets an answer cost others’ quotes seconds, not a minute', async () => {
  const { refused, age } = await spoil(
    'time-out',
    () => quote(stuck),
    (spoiler) => `spoiler-${spoiler}`,
  );
  assert.equal(refused, 0);
  // Two or three as a rule, and a minute where the symbol shares calls with others.
  assert.ok(age <= 12, `${age} s`);
});

test('an upstream that is down for everybody gets few requests, and answers all soon after its return', async () => {
  let isDown = false;
  const { read, counts } = gatewayBefore(() => (isDown ? '502' : undefined));
  const readAll = async () => {
    const reads = Array.from({ length: 100 }, (_, nth) => read(bars('AAPL', nth), `unit-${nth}`));
    await time.pass(5000);
    return (await Promise.all(reads)).filter(({ status }) => status === 200).length;
  };
  isDown = true;
  for (let times = 0; times < 5; times++) assert.equal(await readAll(), 0);
  const { received } = counts;
  // The first hundred leave at once, before any failure is known.
  assert.ok(received <= 100 + 15, `${received} requests`);
  isDown = false;
  await time.pass(16_000);
  await readAll();
  assert.equal(await readAll(), 100);
});
