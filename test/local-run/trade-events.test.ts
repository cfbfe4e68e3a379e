/** Trade events of the local run: from an order over HTTP through stream, listener and bus to those who follow them. */

import assert from 'node:assert/strict';
import { describe, onTestFinished, test, vi } from 'vitest';
import type { LogEntry } from '../../functions/log/log.ts';
import { createTradeEventsMetrics } from '../../functions/log/trade-events-metrics.ts';
import { createLocalBus } from '../../infra/local/bus.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { lineOf } from '../../infra/local/log-lines.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { createTradeEventLines } from '../../infra/local/trade-event-lines.ts';
import { welcome } from '../../infra/local/welcome.ts';
import { type EventFault, startSimulator } from '../../infra/simulator/index.ts';
import { streamOrderEvents } from '../../lib/catalogue/live.ts';
import { parseTradeEvent, type TradeEventReport } from '../../lib/trade-events/index.ts';
import { closedPort } from '../support/closed-port.ts';
import { newOrder, orderPath } from '../support/core.ts';
import { freePorts } from '../support/free-ports.ts';
import { until } from '../support/until.ts';
import { type Followed, follow } from './event-follower.ts';

const key = 'key-of-this-test';
const { path } = streamOrderEvents;
const resting = { order_type: 'LIMIT', limit_price: '1.00', quantity: '100' };

async function runFor(env: Readonly<Record<string, string>> = {}) {
  const logged: LogEntry[] = [];
  const settings = readSettings({
    API_KEY: key,
    ...freePorts,
    ...env,
  });
  const defects: unknown[] = [];
  const run = await startLocalRun(settings, {
    log: (entry) => logged.push(entry),
    defect: (error) => defects.push(error),
  });
  onTestFinished(async () => {
    await run.close();
    assert.deepEqual(defects, []);
  });
  const count = (name: string) => logged.filter(({ event }) => event === name).length;
  const connections = () => count('trade_stream_subscribed');
  const ends = () => count('trade_stream_ended');
  return { ...run, settings, connections, ends };
}

/** A run whose listener has its stream, and one who follows. */
async function scene(env?: Readonly<Record<string, string>>) {
  const run = await runFor(env);
  const { simulator, url } = run;
  assert.ok(simulator);
  await until(() => simulator.events.open === 1 && run.connections() === 1);
  const [own = ''] = simulator.accounts.map(({ account_id }) => account_id);
  return {
    ...run,
    simulator,
    account: own,
    async follow(headers: Readonly<Record<string, string>> = {}) {
      const follower = await follow(url + path, { 'x-api-key': key, ...headers });
      onTestFinished(() => follower.leave());
      return follower;
    },
    /** Places an order that rests. @returns fills one share of it */
    async place(account = own, more: Readonly<Record<string, string>> = {}) {
      const order = newOrder(resting);
      const response = await fetch(url + orderPath, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json', ...more },
        body: JSON.stringify({ account_id: account, new_orders: [order] }),
      });
      assert.equal(response.status, 200, await response.text());
      return () => simulator.trading.fill(account, order.client_order_id, '1');
    },
  };
}

const filledOf = (events: readonly Followed[]) =>
  events.map(({ data }) => {
    const event = parseTradeEvent(data);
    return event?.detailType === 'OrderChanged' ? Number(event.detail.filled_quantity) : undefined;
  });

test('the lines that npm start prints: one follows, one places an order whose fill is followed', async () => {
  const { simulator, account, settings, ...run } = await scene();
  const lines = welcome(settings, { ...run, simulator }).split('\n');
  const [, followed = ''] =
    /^ {2}curl -sN -H 'x-api-key: key-of-this-test' '(.*\/trading\/events\/stream)' \| head -n 20 &$/m.exec(
      lines.join('\n'),
    ) ?? [];
  const follower = await follow(followed, { 'x-api-key': key });
  onTestFinished(() => follower.leave());
  const [, body = '', target = ''] =
    /^ {2}curl -H '.*' -H 'content-type: application\/json' -d '(.*)' '(.*)'$/m.exec(lines.join('\n')) ?? [];
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: body.replace("'$(date +%s)'", '1795370000'),
  });
  assert.equal(response.status, 200, await response.text());
  simulator.trading.fill(account, 'try-1795370000');
  const [first] = await follower.came(1, 'change');
  assert.equal(follower.status, 200);
  assert.equal(follower.headers.get('content-type'), 'text/event-stream');
  assert.equal(follower.headers.get('cache-control'), 'no-store');
  const event = parseTradeEvent(first?.data);
  assert.ok(event?.detailType === 'OrderChanged');
  const { client_order_id, status, scene: what, account_id } = event.detail;
  assert.deepEqual(
    [client_order_id, status, what, account_id],
    ['try-1795370000', 'FILLED', 'FINAL_FILLED', account],
  );
  const [again] = lines.filter((line) => line.includes('/snapshots/stream?'));
  assert.match(again ?? '', /^ {2}curl -sN /);
});

describe('a follower that comes back', () => {
  test('gets what it has missed, in its order', async () => {
    const { place, follow } = await scene();
    const fill = await place();
    const one = await follow();
    fill();
    const [first] = await one.came(1, 'change');
    const witness = await follow();
    await one.leave();
    fill();
    fill();
    await witness.came(2, 'change');
    const again = await follow({ 'last-event-id': first?.id ?? '' });
    fill();
    assert.deepEqual(filledOf(await again.came(4, 'change')), [1, 2, 3, 4]);
    assert.deepEqual(filledOf(await witness.came(3, 'change')), [2, 3, 4]);
    // One with an id of another gateway gets all that is kept, and is told so.
    const lost = await follow({ 'last-event-id': 'of-another-run' });
    assert.deepEqual(filledOf(await lost.came(4, 'change')), [1, 2, 3, 4]);
    const resumed = ({ events: [start] }: Awaited<ReturnType<typeof follow>>) =>
      (JSON.parse(start?.data ?? '') as { readonly resumed: boolean }).resumed;
    assert.deepEqual([resumed(one), resumed(again), resumed(lost)], [false, true, false]);
  });

  test('is sent away when the run has ended', async () => {
    const { place, follow, close, simulator } = await scene();
    const fill = await place();
    const follower = await follow();
    fill();
    await follower.came(1, 'change');
    await close();
    await follower.leave();
    await until(() => simulator.events.open === 0);
    assert.equal(simulator.events.mostOpen, 1);
  });
});

describe('the upstream’s stream', () => {
  for (const fault of [
    { kind: 'drop' },
    { kind: 'goaway' },
    { kind: 'expire' },
  ] as const satisfies EventFault[])
    test(`${fault.kind}: what happens before the next one is found, and the rest comes by it`, async () => {
      const { place, follow, simulator, connections } = await scene();
      const fill = await place();
      const follower = await follow();
      fill();
      await follower.came(1, 'change');
      simulator.events.bring(fault);
      fill();
      assert.deepEqual(filledOf(await follower.came(2, 'change')), [1, 2]);
      await until(() => connections() === 2 && simulator.events.open === 1);
      fill();
      assert.deepEqual(filledOf(await follower.came(3, 'change')), [1, 2, 3]);
      assert.equal(simulator.events.mostOpen, 1);
    });

  test('what cannot be read ends nothing', async () => {
    const { place, follow, simulator } = await scene({ USERS: '{"ada":["*"]}' });
    const fill = await place();
    const follower = await follow();
    simulator.events.bring({ kind: 'send', what: 'not-protobuf' });
    simulator.events.bring({ kind: 'send', what: 'payload-cut' });
    fill();
    const events = await follower.came(2, 'change');
    assert.deepEqual(
      events.map(({ data }) => parseTradeEvent(data)?.detailType),
      ['TradeEventReceived', 'OrderChanged'],
    );
    assert.equal(simulator.events.subscriptions.length, 1);
  });

  test('of another upstream is followed at TRADE_EVENTS_URL', async () => {
    const simulator = await startSimulator({ appKey: 'k', appSecret: 's', accessToken: 'token' });
    onTestFinished(() => simulator.close());
    const { connections } = await runFor({
      UPSTREAM_BASE_URL: simulator.url,
      APP_KEY: 'k',
      APP_SECRET: 's',
      ACCESS_TOKEN: 'token',
      OPEN_GROUPS: 'orders',
      TRADE_EVENTS_URL: `http://127.0.0.1:${simulator.events.port}`,
    });
    await until(() => connections() > 0);
    assert.equal(simulator.events.open, 1);
  });

  test('that is not there keeps neither the start waiting nor the end', async () => {
    const simulator = await startSimulator({ appKey: 'k', appSecret: 's' });
    onTestFinished(() => simulator.close());
    const { ends, url, close } = await runFor({
      UPSTREAM_BASE_URL: simulator.url,
      APP_KEY: 'k',
      APP_SECRET: 's',
      OPEN_GROUPS: 'orders',
      TRADE_EVENTS_URL: `http://127.0.0.1:${await closedPort()}`,
    });
    assert.equal((await fetch(`${url}/health`)).status, 200);
    await until(() => ends() === 2);
    await close();
  });
});

describe('who may follow', () => {
  /** A run with two users, whom one follows each: `ada` by the first key, `ben` by a token of an hour. */
  async function twoFollowers() {
    const run = await scene({ OTHER_API_KEYS: 'another-key', USERS: '' });
    const { issuer, users } = run;
    const [ada = '', ben = ''] = users.flatMap(({ accounts }) => accounts);
    const form = new URLSearchParams({ grant_type: 'password', username: 'ben' });
    const headers = { accept: 'text/plain' };
    const token = await (await fetch(`${issuer}/token`, { method: 'POST', headers, body: form })).text();
    const asUser = { 'x-api-key': 'another-key', authorization: `Bearer ${token}` };
    const [asAda, asBen] = [await run.follow(), await run.follow(asUser)];
    const fills = [await run.place(ada), await run.place(ben, asUser)];
    return { ...run, ada, ben, asAda, asBen, fills, asUser };
  }

  test('what: each caller the events of its accounts, also one that asks for more', async () => {
    const { follow, ada, ben, asAda, asBen, asUser, fills } = await twoFollowers();
    for (const fill of [...fills, ...fills]) fill();
    assert.deepEqual(accountsOf(await asAda.came(2, 'change')), [ada, ada]);
    assert.deepEqual(accountsOf(await asBen.came(2, 'change')), [ben, ben]);
    // With the place of another’s event, and with none that is known: its own events come, and no others.
    for (const lastId of [asAda.events.at(-1)?.id ?? '', '000000000000000-x', 'of nobody']) {
      const forged = await follow({ ...asUser, 'last-event-id': lastId });
      assert.deepEqual(accountsOf(await forged.came(2, 'change')), [ben, ben]);
    }
  });

  test('for how long: until the token that the stream began with has expired, and none begins with it', async () => {
    // Before the run, which keeps its clock.
    vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const { follow, ben, asBen, asUser, fills } = await twoFollowers();
    for (const fill of fills) fill();
    assert.deepEqual(accountsOf(await asBen.came(1, 'change')), [ben]);
    // The hour, and the minute by which two clocks may differ.
    vi.setSystemTime(Date.now() + 3_661_000);
    await until(() => asBen.hasEnded);
    assert.equal(asBen.events.at(-1)?.event, 'end');
    assert.equal((await follow(asUser)).status, 401);
    assert.equal((await follow()).status, 200);
  });

  test('no one without a key, nor with one that stands for no user', async () => {
    const { url } = await runFor({ OTHER_API_KEYS: 'another-key' });
    for (const [headers, status, code] of [
      [{}, 403, 'missing_api_key'],
      [{ 'x-api-key': 'no-key' }, 403, 'unknown_api_key'],
      [{ 'x-api-key': 'another-key' }, 403, 'forbidden'],
      [{ 'x-api-key': key, authorization: 'Bearer of-no-user' }, 401, 'invalid_token'],
    ] as const) {
      const response = await fetch(url + path, { headers });
      assert.deepEqual([response.status, ((await response.json()) as { code: string }).code], [status, code]);
    }
    assert.equal((await fetch(url + path, { method: 'POST', headers: { 'x-api-key': key } })).status, 405);
  });

  test('nothing where there are no trade events', async () => {
    for (const env of [{ TRADE_EVENTS: 'off' }, { OPEN_GROUPS: 'market-data' }]) {
      const { url, settings, tradeEvents, ...run } = await runFor(env);
      assert.equal((await fetch(url + path, { headers: { 'x-api-key': key } })).status, 404);
      assert.equal(tradeEvents, undefined);
      assert.ok(!welcome(settings, { ...run, url }).includes(path));
      assert.equal(run.simulator?.events.subscriptions.length, 0);
    }
  });
});

const accountsOf = (events: readonly Followed[]) =>
  events.map(({ data }) => parseTradeEvent(data)?.detail.account_id);

describe('the console', () => {
  function console() {
    const lines: string[] = [];
    let over = () => {};
    const bus = createLocalBus();
    const print = (line: string) => void lines.push(line);
    const after = (_: number, run: () => void) => {
      over = run;
    };
    bus.subscribe(createTradeEventLines({ print, streamPath: path, after }));
    const tell = (detailType: string, detail: object) =>
      bus.publish({ source: 'countersign', detailType, detail: JSON.stringify(detail) });
    return { lines, tell, second: () => over() };
  }

  test('has a line for each event, without its account', () => {
    const { lines, tell } = console();
    const account = { account: 'hash', account_id: 'CANARY', event_id: 'one' };
    const order = { client_order_id: 'c-1', status: 'FILLED', filled_quantity: '2', order: { a: 'CANARY' } };
    tell('OrderChanged', { ...account, ...order, symbol: 'AAPL', scene: 'FINAL_FILLED', reconciled: false });
    tell('OrderChanged', { ...account, ...order, reconciled: true });
    tell('PositionChanged', { ...account, symbol: 'SPX', event_name: 'CANARY', position: {} });
    tell('TradeEventReceived', { ...account, event_type: 4096, payload: 'CANARY' });
    tell('OrderChanged', { client_order_id: '\u001b[2J\n', status: 'x'.repeat(100), filled_quantity: '0' });
    assert.deepEqual(lines, [
      'OrderChanged FINAL_FILLED AAPL c-1 FILLED filled 2',
      'OrderChanged c-1 FILLED filled 2 (found by a read)',
      'PositionChanged SPX',
      'TradeEventReceived type 4096',
      `OrderChanged ?[2J? ${'x'.repeat(64)} filled 0`,
    ]);
  });

  test('has ten lines within a second, and the number of the others', () => {
    const { lines, tell, second } = console();
    const many = (count: number) => {
      for (let index = 0; index < count; index++) tell('TradeEventReceived', { event_type: index });
    };
    many(10);
    second();
    many(13);
    second();
    many(1);
    assert.equal(lines.length, 22);
    assert.equal(lines[20], `  and 3 more trade events within a second: GET ${path} has all.`);
    assert.equal(lines[21], 'TradeEventReceived type 0');
  });

  test('says what is wrong with the stream, and nothing of what is usual', () => {
    /** As the listener logs it. */
    const said = (report: TradeEventReport) => {
      const lines: (string | undefined)[] = [];
      const log = (entry: LogEntry) => void lines.push(lineOf(entry));
      createTradeEventsMetrics(log, { functionName: 'local' }).report(report);
      assert.equal(lines.length, 1);
      return lines[0];
    };
    const ended = (reason: string) => said({ kind: 'ended', reason } as TradeEventReport);
    assert.match(ended('broken') ?? '', /^Trade events: the stream broke; the next one is opened\.$/);
    assert.match(ended('authentication_error') ?? '', /does not take the app key/);
    for (const usual of ['handed_over', 'expired', 'secret_changed', 'lease_lost'])
      assert.equal(ended(usual), undefined);
    const cause = Object.assign(new Error('CANARY'), { code: 'STORE_AWAY' });
    // Of an error its code, and not its words, which may quote an account.
    assert.equal(said({ kind: 'failed', step: 'store', cause }), 'trade events failed: store: STORE_AWAY.');
    assert.equal(said({ kind: 'state', connected: false }), undefined);
  });
});
