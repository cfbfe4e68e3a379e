/** Streams of trade events, one rule after the other; in `order-streams-chaos.test.ts` stores fail and connections end. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { Standing } from '../../lib/access/directory.ts';
import { streamOrderEvents } from '../../lib/catalogue/live.ts';
import { type ServerSent, serverSentEvents } from '../../lib/client/server-sent.ts';
import { createCore } from '../../lib/gateway/core.ts';
import { type AccessOptions, accessStep } from '../../lib/gateway/who.ts';
import { orderEventsStep } from '../../lib/live/order-events.ts';
import { createMemoryStreamStore, createStreamShares } from '../../lib/live/stream-shares.ts';
import {
  createMemoryTradeEventHistory,
  keptBus,
  type TradeEventHistory,
} from '../../lib/trade-events/history.ts';
import { parseTradeEvent, type TradeEvent } from '../../lib/trade-events/index.ts';
import { claimsOf, grantsOf } from '../support/access.ts';
import { VirtualTime } from '../world/virtual-time.ts';

const secondMs = 1000;
const hourMs = 3_600_000;

function world() {
  const time = new VirtualTime();
  const memory = createMemoryTradeEventHistory(time.now);
  const state = { isAway: false, failsToRead: false };
  const reading = <T>(work: () => Promise<T>) =>
    state.failsToRead ? Promise.reject(new Error('the table is away')) : work();
  const history: TradeEventHistory = {
    append: memory.append,
    after: (...asked) => reading(() => memory.after(...asked)),
    last: (name) => reading(() => memory.last(name)),
  };
  // Without real cryptography, for which this clock would not wait.
  const standings = new Map<string, Standing>();
  const names = { nameOf: async (...texts: readonly string[]) => `name of ${texts.join(' ')}` };
  const access: AccessOptions = {
    names,
    directory: {
      async standing({ principal }) {
        if (state.isAway) throw new Error('the directory is away');
        const subject = 'subject' in principal ? principal.subject : '';
        return standings.get(subject) ?? { kind: 'unknown', user: subject };
      },
    },
  };
  const failures: unknown[] = [];
  const gateway = createCore({
    operations: [streamOrderEvents],
    access: accessStep(access),
    events: orderEventsStep({
      history,
      names,
      clock: time.now,
      sleep: time.sleep,
      shares: createStreamShares(createMemoryStreamStore(), {
        max: 3,
        clock: time.now,
        sleep: async () => {},
      }),
      random: () => 0.5,
      onFailure: (error) => failures.push(error),
    }),
    upstreamBaseUrl: 'https://upstream.invalid',
    secrets: { read: () => assert.fail('the secret is read') },
    clock: time.now,
  });
  /** A listener has a bus of its own, and what it knows is new. */
  const listener = (aheadMs = 0) =>
    keptBus({ publish: async (events) => events.map(() => true) }, history, {
      clock: () => time.now() + aheadMs,
      onFailure: (error) => failures.push(error),
    });
  const eventOf = async (id: string, account: string | undefined, more = ''): Promise<TradeEvent> => {
    const head = {
      event_id: id,
      status: 'FILLED',
      filled_quantity: '1',
      reconciled: false,
      client_order_id: id,
      event_type: 4096,
      payload: {},
    };
    const named = account && {
      account: await names.nameOf('account', account),
      account_id: account,
    };
    const detail = JSON.stringify({ ...head, ...named, received_at: new Date(time.now()).toISOString() });
    const detailType = account === undefined ? 'TradeEventReceived' : 'OrderChanged';
    return { id, detailType, detail: `${detail.slice(0, -1)},"order":{${more}}}` };
  };
  return {
    time,
    failures,
    state,
    grant: (user: string, accounts: Parameters<typeof grantsOf>[0]) =>
      void standings.set(user, { kind: 'granted', user, grants: grantsOf(accounts) }),
    revoke: (user: string) => void standings.set(user, { kind: 'revoked', user }),
    history,
    listener,
    eventOf,
    run: time.pass.bind(time),
    async publish(id: string, account: string | undefined, bus = listener()) {
      assert.deepEqual(await bus.publish([await eventOf(id, account)]), [true]);
    },
    async follow(subject: string, { lastId, ...claims }: { lastId?: string; expiresAt?: number } = {}) {
      const { status, body, stream } = await gateway.handle({
        method: 'GET',
        path: streamOrderEvents.path,
        query: [],
        headers: lastId === undefined ? {} : { 'last-event-id': lastId },
        // A client may choose it.
        requestId: 'of all requests',
        evidence: { claims: claimsOf(subject, claims) },
      });
      if (!stream) return { status, code: JSON.parse(new TextDecoder().decode(body)).error_code as string };
      assert.equal(status, 200);
      return reader(stream);
    },
  };
}

/** A client that takes each text when it comes. */
function reader(stream: AsyncIterable<string>) {
  const events: (ServerSent & { readonly id: string })[] = [];
  const iterator = stream[Symbol.asyncIterator]();
  const state = { hasEnded: false };
  async function* chunks() {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) return;
      yield new TextEncoder().encode(value);
    }
  }
  const reading = (async () => {
    for await (const event of serverSentEvents(chunks())) events.push(event);
    state.hasEnded = true;
  })();
  const of = (name: string) => events.filter(({ event }) => event === name);
  return {
    status: 200,
    code: undefined,
    events,
    state,
    reading,
    changes: () => of('change').map(({ data }) => idOf(data)),
    lastId: () => events.at(-1)?.id,
    last: () => JSON.parse(events.at(-1)?.data ?? '{}') as Readonly<Record<string, unknown>>,
    cut: () => iterator.return?.(),
  };
}
type Reader = ReturnType<typeof reader>;

function idOf(data: string): string {
  const event = parseTradeEvent(data);
  assert.ok(event, data);
  return event.detail.event_id;
}

async function opened(one: ReturnType<ReturnType<typeof world>['follow']>): Promise<Reader> {
  const found = await one;
  assert.ok('events' in found, JSON.stringify(found));
  return found as Reader;
}

const read = ['read'] as const;

describe('who', () => {
  test('each caller has the events of its accounts, and what names none only who has all', async () => {
    const { grant, run, publish, follow } = world();
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`m${index}`, read]));
    grant('ada', { a: read });
    grant('ben', { b: read });
    grant('all', { '*': read });
    grant('many', many);
    const [ada, ben, all, man] = await Promise.all(
      ['ada', 'ben', 'all', 'many'].map((name) => opened(follow(name))),
    );
    for (const [id, account] of [
      ['one', 'a'],
      ['two', 'b'],
      ['three', undefined],
      ['four', 'm3'],
      ['five', 'm7'],
    ] as const) {
      await publish(id, account);
      await run(10);
    }
    await run(secondMs);
    assert.deepEqual(ada?.changes(), ['one']);
    assert.deepEqual(ben?.changes(), ['two']);
    assert.deepEqual(all?.changes(), ['one', 'two', 'three', 'four', 'five']);
    assert.deepEqual(man?.changes(), ['four', 'five']);
  });

  test('a burst that is longer than a page is told whole and in order, also by a listener whose clock is ahead', async () => {
    const { grant, run, listener, eventOf, follow } = world();
    grant('ada', { a: read });
    const ada = await opened(follow('ada'));
    await run(secondMs);
    for (const aheadMs of [0, hourMs]) {
      const ids = Array.from({ length: 130 }, (_, index) => `${aheadMs} ${index}`);
      const before = ada.changes().length;
      await listener(aheadMs).publish(await Promise.all(ids.map((id) => eventOf(id, 'a'))));
      await run(5 * secondMs);
      assert.deepEqual(ada.changes().slice(before), ids);
    }
  });

  test('the ids that a caller sees do not say when others have events', async () => {
    const idsBeside = async (others: readonly string[]) => {
      const { grant, run, publish, follow } = world();
      // So many that the events of all are read, and those of others left out.
      grant('many', Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`m${index}`, read])));
      const many = await opened(follow('many'));
      await run(2000);
      await publish('own', 'm3');
      for (const account of others) {
        await run(7000);
        await publish(`of ${account}`, account);
      }
      await run(60_000 - 7000 * others.length);
      assert.deepEqual(many.changes(), ['own']);
      return many.events.map(({ id }) => id);
    };
    assert.deepEqual(await idsBeside(['a', 'b']), await idsBeside([]));
  });

  test('without a grant there is no stream, and with another scope none either', async () => {
    const { grant, follow } = world();
    grant('trader', { a: ['trade'] });
    for (const name of ['nobody', 'trader']) assert.equal((await follow(name)).status, 403);
  });

  test('a grant that is taken away ends the stream before the next event, and a token ends it with its hour', async () => {
    const { grant, revoke, time, run, publish, follow } = world();
    for (const name of ['ada', 'ben']) grant(name, { a: read });
    const ada = await opened(follow('ada'));
    const expiresAt = Math.floor(time.now() / 1000) + 60;
    const ben = await opened(follow('ben', { expiresAt }));
    await publish('one', 'a');
    await run(secondMs);
    grant('ada', { b: read });
    await publish('two', 'a');
    await run(secondMs);
    assert.deepEqual([ada.changes(), ben.changes()], [['one'], ['one', 'two']]);
    assert.equal(ada.state.hasEnded, false);
    revoke('ada');
    await run(secondMs);
    assert.deepEqual(
      [ada.last().reason, ada.last().code, ada.state.hasEnded],
      ['revoked', 'invalid_token', true],
    );
    // The minute that two clocks may differ.
    await run(118 * secondMs);
    await publish('three', 'a');
    await run(secondMs);
    assert.deepEqual([ben.last().reason, ben.changes()], ['token_expired', ['one', 'two']]);
  });

  test('while nobody can tell who may, nothing is told; then all of it', async () => {
    const { grant, state, run, publish, follow } = world();
    grant('ada', { a: read });
    const ada = await opened(follow('ada'));
    await run(secondMs);
    for (const [kind, code] of [
      ['isAway', 'access_unavailable'],
      ['failsToRead', 'journal_unavailable'],
    ] as const) {
      const away = (is: boolean) => {
        state[kind] = is;
      };
      const before = ada.changes();
      await publish(`during ${kind}`, 'a');
      away(true);
      await run(6 * secondMs);
      assert.deepEqual(ada.changes(), before);
      assert.equal(ada.last().cause, code);
      assert.equal((await follow('ada')).status, 503);
      away(false);
      await run(6 * secondMs);
      assert.deepEqual(ada.changes(), [...before, `during ${kind}`]);
      assert.equal(ada.last().cause, undefined);
    }
  });

  test('a caller has so many streams, whatever ids its requests have, and a place is free when one is left', async () => {
    const { grant, run, follow } = world();
    for (const name of ['ada', 'ben']) grant(name, { a: read });
    const first = await opened(follow('ada'));
    await Promise.all([opened(follow('ada')), opened(follow('ada'))]);
    assert.deepEqual(await follow('ada'), { status: 429, code: 'TOO_MANY_REQUESTS' });
    await opened(follow('ben'));
    void first.cut();
    // It is noticed with the next text.
    await run(6 * secondMs);
    await opened(follow('ada'));
  });
});

describe('what', () => {
  test('the upstream’s JSON is as it was written, whatever line breaks it has', async () => {
    const { grant, run, eventOf, listener, follow } = world();
    grant('ada', { a: read });
    const ada = await opened(follow('ada'));
    await listener().publish([await eventOf('one', 'a', '\r\n "price": 1.10,\r "b": "x\\ny\u2028"\n')]);
    await run(secondMs);
    const { data = '', id } = ada.events.find(({ event }) => event === 'change') ?? {};
    assert.match(data, /"price": 1\.10/);
    assert.ok(data.includes('x\\ny\u2028'));
    assert.match(id ?? '', /^\d{15}-/);
  });

  test('a stream that hears nothing has beats, and ends before its request does', async () => {
    const { grant, time, run, follow } = world();
    grant('ada', { a: read });
    const began = time.now();
    const ada = await opened(follow('ada'));
    await run(900 * secondMs);
    assert.ok(ada.state.hasEnded);
    const [start, ...rest] = ada.events;
    assert.deepEqual(
      [start?.event, JSON.parse(start?.data ?? '')],
      ['start', { now: began, resumed: false }],
    );
    assert.deepEqual(ada.last(), { reason: 'time', retry_after_ms: 500 });
    const beats = rest.slice(0, -1).map(({ data }) => JSON.parse(data).now as number);
    assert.ok(beats.length > 160);
    for (const [index, at] of beats.slice(1).entries()) assert.ok(at - (beats[index] ?? 0) < 6 * secondMs);
  });

  test('what a client of yesterday missed is not all there: it is told so, and has what is', async () => {
    const { grant, run, publish, follow } = world();
    grant('ada', { a: read });
    const first = await opened(follow('ada'));
    await publish('one', 'a');
    await run(secondMs);
    void first.cut();
    const lastId = first.lastId() ?? '';
    await publish('two', 'a');
    await run(secondMs);
    const resumed = await opened(follow('ada', { lastId }));
    await run(secondMs);
    // What came a moment before it was cut comes again.
    assert.deepEqual(
      [JSON.parse(resumed.events[0]?.data ?? '').resumed, resumed.changes()],
      [true, ['one', 'two']],
    );
    // Then it is known that nothing can come before it any more.
    await run(40 * secondMs);
    assert.notEqual(resumed.lastId(), lastId);
    void resumed.cut();
    await publish('three', 'a');
    const again = await opened(follow('ada', { lastId: resumed.lastId() ?? '' }));
    await run(secondMs);
    assert.deepEqual(again.changes(), ['three']);
    void again.cut();
    await run(26 * hourMs);
    await publish('four', 'a');
    for (const id of [lastId, 'of another gateway', '999999999999999-x', '0-x', `${lastId} x`]) {
      const late = await opened(follow('ada', { lastId: id }));
      await run(secondMs);
      assert.equal(JSON.parse(late.events[0]?.data ?? '').resumed, false, id);
      assert.deepEqual(late.changes(), ['four'], id);
      // What a client sends is not sent back.
      assert.ok(!late.events.some((event) => event.id === id), id);
      void late.cut();
      await run(6 * secondMs);
    }
  });
});
