/** Streams of quotes: what clients know at the end is what the process knows, however slowly each of them reads. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { type Look, viewOf } from '../../lib/cache/snapshots/index.ts';
import { Quotes } from '../../lib/client/followed.ts';
import { type ServerSent, serverSentEvents } from '../../lib/client/server-sent.ts';
import { QuoteHub } from '../../lib/live/quote-hub.ts';
import type { QuoteStreamCall } from '../../lib/live/quote-stream.ts';
import { VirtualTime } from '../world/virtual-time.ts';

const view = viewOf([['category', 'US_STOCK']]);
const bytes = (text: string) => new TextEncoder().encode(text);

/** What a process knows, and streams that follow it. */
function world() {
  const time = new VirtualTime();
  const known = new Map<string, Look>();
  const counted = new Map<string, number>();
  const asked: (readonly string[])[] = [];
  const seen = {
    turns: 0,
    cause: undefined as string | undefined,
    failures: [] as unknown[],
    looked: new Set<string>(),
    isCurrent: true,
  };
  let aheadMs = 0;
  let callers = 0;
  const hub = new QuoteHub({
    snapshots: {
      follow: async () => void seen.turns++,
      look: (_, symbol) => {
        seen.looked.add(symbol);
        return known.get(symbol) ?? { kind: 'missing' };
      },
      count: (_, symbol, times) => void counted.set(symbol, (counted.get(symbol) ?? 0) + times),
    },
    cause: () => seen.cause,
    isCurrent: async () => seen.isCurrent,
    clock: () => time.now() + aheadMs,
    sleep: time.sleep,
    random: () => 0.5,
    onFailure: (error) => void seen.failures.push(error),
  });
  return {
    time,
    step: (ms: number) => {
      aheadMs += ms;
    },
    known,
    counted,
    asked,
    seen,
    hub,
    run: (ms: number) => time.runUntil(time.now() + ms),
    put(symbol: string, record: string, stale = false) {
      known.set(symbol, {
        kind: 'known',
        stale,
        snapshot: { symbol, record: bytes(record), hash: undefined, sentAt: time.now() },
      });
    },
    follow(symbols: readonly string[], more: Partial<QuoteStreamCall> = {}) {
      const call = { view, symbols, endsAt: Number.POSITIVE_INFINITY, endsFor: 'time' as const, ...more };
      const askFor = async (missing: readonly string[]) => void asked.push(missing);
      return reader(hub.open({ caller: `caller ${++callers}`, askFor, ...call }), time);
    },
  };
}

/** A client that is ready for the next text a while after the last. */
function reader(stream: AsyncIterable<string>, time: VirtualTime) {
  const iterator = stream[Symbol.asyncIterator]();
  const events: (ServerSent & { readonly at: number })[] = [];
  const quotes = new Quotes<Readonly<Record<string, unknown>>>(time.now);
  const state = { pauseMs: 0, stalled: undefined as Promise<void> | undefined, hasEnded: false, text: '' };
  async function read() {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) break;
      state.text += value;
      const taken: AsyncIterable<Uint8Array> = (async function* () {
        yield bytes(value);
      })();
      for await (const event of serverSentEvents(taken)) {
        quotes.take(event);
        events.push({ ...event, at: time.now() });
      }
      await (state.stalled ?? (state.pauseMs > 0 ? time.sleep(state.pauseMs) : undefined));
    }
    state.hasEnded = true;
  }
  void read();
  return {
    iterator,
    events,
    quotes,
    state,
    of: (name: string) => events.filter(({ event }) => event === name),
  };
}

const parsed = ({ data }: ServerSent) => JSON.parse(data) as Readonly<Record<string, unknown>>;

test('what every client knows at the end is what the process knows, whatever came and however it read', async () => {
  const symbols = ['A', 'B', 'C'];
  const step = fc.record({
    symbol: fc.constantFrom(...symbols),
    kind: fc.constantFrom('record', 'record', 'record', 'same', 'stale', 'unknown', 'missing'),
    members: fc.dictionary(
      fc.constantFrom('price', 'volume', 'bid', '__proto__', 'set'),
      fc.constantFrom('1', '"1.10"', 'null', '{"a":[1,2]}', '"\u2028"'),
      {
        maxKeys: 4,
      },
    ),
    waitMs: fc.integer({ min: 0, max: 700 }),
  });
  const readers = fc.array(
    fc.record({
      symbols: fc.subarray(symbols, { minLength: 1 }),
      pauseMs: fc.constantFrom(0, 50, 400, 3000),
    }),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), readers, async (steps, followers) => {
      const { run, put, known, follow, seen } = world();
      put('A', '{"symbol":"A","price":"1"}');
      const clients = followers.map(({ symbols: followed, pauseMs }) => {
        const client = follow(followed);
        client.state.pauseMs = pauseMs;
        return { ...client, followed };
      });
      for (const { symbol, kind, members, waitMs } of steps) {
        await run(waitMs + 1);
        const own = Object.entries(members).map(([name, value]) => `,${JSON.stringify(name)}: ${value} `);
        const before = known.get(symbol);
        if (kind === 'record') put(symbol, `{"symbol":"${symbol}"${own.join('')}}`);
        else if (kind === 'unknown' || kind === 'missing') known.set(symbol, { kind });
        else if (before?.kind === 'known')
          put(symbol, new TextDecoder().decode(before.snapshot.record), kind === 'stale');
      }
      // Longer than the slowest client pauses, and than the beat that tells of records that stayed as they were.
      await run(12_000);
      assert.deepEqual(seen.failures, []);
      for (const { followed, quotes } of clients)
        for (const symbol of followed) {
          const look = known.get(symbol) ?? { kind: 'missing' as const };
          const quote = quotes.bySymbol.get(symbol);
          assert.equal(quote?.state, look.kind === 'known' ? (look.stale ? 'stale' : 'current') : look.kind);
          if (look.kind !== 'known') continue;
          const record = new TextDecoder().decode(look.snapshot.record);
          assert.deepEqual(quote?.record, JSON.parse(record));
          assert.equal(quote?.at, look.snapshot.sentAt);
        }
    }),
    { numRuns: 200 },
  );
});

test('what the upstream wrote is told as it wrote it, of a changed record the members that changed', async () => {
  const { run, put, follow } = world();
  const record =
    '{ "symbol":"A",\n"price" : "1.10", "size":1.50e2,"deep":{"x": [1.0,\r\n2]},"same":"\\u0041"}';
  put('A', record);
  const { state, of } = follow(['A']);
  await run(500);
  assert.ok(parsed(of('snapshot')[0]!).quotes);
  assert.ok(
    of('snapshot')[0]!.data.includes(record.replace('\r\n', '\n')),
    'line breaks between members are of the stream',
  );
  put('A', record.replace('1.10', '1.1').replace('1.50e2', '150'));
  await run(500);
  assert.match(of('quotes')[0]!.data, /"set":\{"price":"1.1","size":150\}/);
  put('A', '{"symbol":"A","price":"1.1"}');
  await run(500);
  assert.match(
    of('quotes')[1]!.data,
    /"record":\{"symbol":"A","price":"1.1"\}/,
    'whole, because members are gone',
  );
  assert.ok(!/\r/.test(state.text));
});

test('a client that does not read costs the others nothing, and gets the last value when it does', async () => {
  const { run, put, follow } = world();
  put('A', '{"symbol":"A","n":0}');
  const slow = follow(['A']);
  let goOn = () => {};
  slow.state.stalled = new Promise((resolve) => {
    goOn = resolve;
  });
  const quick = follow(['A']);
  for (let n = 1; n <= 50; n++) {
    await run(200);
    put('A', `{"symbol":"A","n":${n}}`);
  }
  await run(1000);
  assert.equal(slow.events.length, 1);
  assert.equal(quick.of('quotes').length, 50);
  slow.state.stalled = undefined;
  goOn();
  await run(1000);
  assert.equal(slow.of('quotes').length, 1);
  assert.deepEqual(slow.quotes.bySymbol.get('A')?.record, { symbol: 'A', n: 50 });
});

test('news are told within 250 ms of being known, and a beat comes each five seconds', async () => {
  const { run, put, follow, time } = world();
  put('A', '{"symbol":"A","n":0}');
  const { of } = follow(['A']);
  for (let n = 1; n <= 40; n++) {
    await run(137);
    put('A', `{"symbol":"A","n":${n}}`);
    const knownAt = time.now();
    await run(250);
    const last = of('quotes').at(-1)!;
    assert.match(last.data, new RegExp(`"n":${n}\\b`));
    assert.ok(last.at - knownAt <= 250);
  }
  await run(20_000);
  const beats = of('beat').map(({ at }) => at);
  for (const [index, at] of beats.entries())
    if (index > 0) assert.ok(at - beats[index - 1]! <= 5200, 'a client gives up after 12 s of silence');
});

test('a record that changed is told though it is not younger, as that of a symbol of which the stream has torn something', async () => {
  const { run, put, known, follow } = world();
  put('A', '{"symbol":"A","n":0}');
  const { of, quotes } = follow(['A']);
  await run(500);
  const look = known.get('A')!;
  assert.ok(look.kind === 'known');
  known.set('A', { ...look, snapshot: { ...look.snapshot, record: bytes('{"symbol":"A","n":1}') } });
  await run(500);
  assert.deepEqual(quotes.bySymbol.get('A')?.record, { symbol: 'A', n: 1 });
  await run(500);
  assert.equal(of('quotes').length, 1);
});

test('that a record stayed as it was comes with the beat, and is no news', async () => {
  const { run, put, follow, time } = world();
  put('A', '{"symbol":"A","n":0}');
  const { of, quotes } = follow(['A']);
  await run(1000);
  put('A', '{"symbol":"A","n":0}');
  const seenAt = time.now();
  await run(6000);
  assert.equal(of('quotes').length, 0);
  assert.deepEqual(parsed(of('beat')[0]!).at, { A: seenAt });
  assert.equal(quotes.ageMs('A'), time.now() - seenAt);
  await run(5000);
  assert.equal(parsed(of('beat')[1]!).at, undefined);
});

test('a state that changes is an event, with what keeps records from being refreshed', async () => {
  const { run, put, known, follow, seen, asked } = world();
  put('A', '{"symbol":"A"}');
  known.set('B', { kind: 'unknown' });
  const { of, quotes } = follow(['A', 'B', 'C']);
  await run(100);
  assert.deepEqual(parsed(of('snapshot')[0]!).states, { B: 'unknown', C: 'missing' });
  assert.deepEqual(asked, []);
  await run(2500);
  assert.deepEqual(asked, [['C']], 'as a request of the same client would ask');
  seen.cause = 'upstream_unreachable';
  put('A', '{"symbol":"A"}', true);
  await run(200);
  assert.deepEqual(parsed(of('states')[0]!), {
    states: { A: 'stale', C: 'missing' },
    cause: 'upstream_unreachable',
  });
  seen.cause = 'upstream_timeout';
  await run(200);
  assert.equal(
    parsed(of('states')[1]!).cause,
    'upstream_timeout',
    'also when it is known later than its effect',
  );
  seen.cause = undefined;
  put('C', '{"symbol":"C"}');
  await run(200);
  assert.equal(quotes.bySymbol.get('C')?.state, 'current');
  assert.deepEqual(quotes.bySymbol.get('C')?.record, { symbol: 'C' });
});

test('what is followed is in demand as what is polled, and nothing is once the streams are gone', async () => {
  const { run, put, follow, counted, seen, hub } = world();
  put('A', '{"symbol":"A"}');
  put('B', '{"symbol":"B"}');
  const clients = [follow(['A', 'B', 'A']), follow(['A'])];
  await run(30_500);
  assert.deepEqual([counted.get('A'), counted.get('B')], [14, 7], 'once in five seconds for each client');
  assert.equal(hub.size, 2);
  void clients[0]?.iterator.return?.();
  await run(6000);
  seen.looked.clear();
  await run(10_000);
  assert.deepEqual([...seen.looked], ['A'], 'B is followed by nobody any more');
  void clients[1]?.iterator.return?.();
  await run(6000);
  assert.equal(hub.size, 0);
  const [turns, times] = [seen.turns, [...counted]];
  await run(60_000);
  assert.equal(seen.turns, turns);
  assert.deepEqual([...counted], times);
});

for (const [reason, end] of [
  ['time', { endsFor: 'time' }],
  ['token_expired', { endsFor: 'token_expired' }],
] as const)
  test(`a stream says that it ends for ${reason}, and when to come again`, async () => {
    const { run, put, follow, time, hub } = world();
    put('A', '{"symbol":"A"}');
    const client = follow(['A'], { ...end, endsAt: time.now() + 60_000 });
    await run(59_000);
    assert.equal(client.of('end').length, 0);
    await run(1500);
    assert.deepEqual(parsed(client.events.at(-1)!), { reason, retry_after_ms: 500 });
    assert.ok(client.state.hasEnded);
    assert.equal(hub.size, 0);
  });

test('streams of a credential that is replaced end, and a client that was not reading is told, too', async () => {
  const { run, put, follow, hub } = world();
  put('A', '{"symbol":"A"}');
  const client = follow(['A']);
  client.state.pauseMs = 3000;
  await run(100);
  hub.close();
  await run(6000);
  assert.deepEqual(parsed(client.events.at(-1)!), { reason: 'restart', retry_after_ms: 500 });
  assert.ok(client.state.hasEnded);
});

test('a record beyond the hard bound is neither told nor kept, and one that was only seen again keeps its age', async () => {
  const { run, put, known, follow, time } = world();
  put('A', '{"symbol":"A"}');
  const first = follow(['A']);
  await run(60_000);
  put('A', '{"symbol":"A"}');
  const seenAt = time.now();
  await run(500);
  const second = follow(['A']);
  await run(100);
  assert.equal(second.quotes.bySymbol.get('A')?.at, seenAt);
  known.set('A', { kind: 'missing' });
  await run(500);
  const third = follow(['A']);
  await run(100);
  for (const { quotes } of [first, second, third])
    assert.deepEqual(quotes.bySymbol.get('A'), { symbol: 'A', state: 'missing' });
});

test('a symbol that is newer than the list of symbols is asked for', async () => {
  const { run, known, follow, asked } = world();
  known.set('NEW', { kind: 'unknown', mayExist: true });
  known.set('NOPE', { kind: 'unknown' });
  follow(['NEW', 'NOPE']);
  await run(3000);
  assert.deepEqual(asked, [['NEW']]);
});

test('streams end when app key or limits are others, but not for a moment', async () => {
  const { run, put, follow, seen, hub } = world();
  put('A', '{"symbol":"A"}');
  const client = follow(['A']);
  await run(1000);
  seen.isCurrent = false;
  await run(5000);
  seen.isCurrent = true;
  await run(10_000);
  assert.equal(hub.size, 1);
  seen.isCurrent = false;
  await run(10_500);
  assert.equal(parsed(client.events.at(-1)!).reason, 'restart');
});

test('a clock that is put back costs no client its beats', async () => {
  const { step, put, follow, run, counted } = world();
  put('A', '{"symbol":"A"}');
  const { of } = follow(['A']);
  await run(20_000);
  const [before, beats] = [counted.get('A') ?? 0, of('beat').length];
  step(-600_000);
  await run(20_000);
  assert.ok(of('beat').length >= beats + 3 && (counted.get('A') ?? 0) >= before + 3);
});

test('a turn that fails is told of, and the next one comes', async () => {
  const { run, put, follow, known, seen } = world();
  put('A', '{"symbol":"A","n":0}');
  const { of } = follow(['A']);
  await run(150);
  const fault = new Error('memory');
  Object.defineProperty(known, 'get', {
    configurable: true,
    value: () => {
      throw fault;
    },
  });
  await run(350);
  Reflect.deleteProperty(known, 'get');
  put('A', '{"symbol":"A","n":1}');
  await run(250);
  assert.ok(seen.failures.length >= 3 && seen.failures.every((one) => one === fault));
  assert.match(of('quotes')[0]!.data, /"n":1/);
});
