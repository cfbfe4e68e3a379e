/** Limits and the kill switch of the local run, through everything: set with curl's own words, and obeyed. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { type LocalSettings, readSettings } from '../../infra/local/settings.ts';
import { openable } from '../../lib/catalogue/index.ts';
import { accountId, credentials, newOrder, orderPath, type Problem } from '../support/core.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const apiKey = 'key-of-this-test';

async function runFor(t: TestContext, change: Partial<LocalSettings> = {}) {
  const run = await startLocalRun({
    port: 0,
    apiKey,
    openGroups: openable,
    credentials,
    upstream: { simulatorPort: 0 },
    ...change,
  });
  t.onTestFinished(() => run.close());
  const ask = async (path: string, body?: object, key = apiKey) => {
    const answer = await fetch(`${run.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        'x-api-key': key,
        accept: 'application/problem+json',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: (await answer.json()) as Problem };
  };
  let placed = 0;
  const place = (more: object = {}) => {
    const order = newOrder({ client_order_id: `order-of-trading-${++placed}`, ...more });
    return ask(orderPath, { account_id: accountId, new_orders: [order] });
  };
  return { run, ask, place };
}

test('a member that the catalogue does not know is 400, unless the run was told of it', async (t) => {
  const more = { venue_hint: 'ARCX' };
  assert.equal((await (await runFor(t)).place(more)).json.code, 'invalid_parameter');
  const { orderMembers } = readSettings({ ORDER_MEMBERS: 'venue_hint, settlement_type' });
  assert.deepEqual(orderMembers, ['venue_hint', 'settlement_type']);
  const { place, run } = await runFor(t, { orderMembers: ['venue_hint'] });
  // The simulator knows no such member either; it is asked.
  await place(more);
  assert.ok(run.simulator?.received.some(({ body }) => body.includes('venue_hint')));
  assert.throws(() => readSettings({ ORDER_MEMBERS: 'Venue' }), /^.*ORDER_MEMBERS takes at most 20 names/);
});

test('the demo has limits, which a slip of the finger meets', async (t) => {
  const { place, run } = await runFor(t);
  assert.equal((await place()).status, 200);
  const slip = await place({ order_type: 'LIMIT', limit_price: '228.50', quantity: '10000' });
  assert.equal(slip.status, 403);
  assert.equal(slip.json.code, 'order_blocked');
  assert.deepEqual(
    slip.json.errors?.map(({ check, allowed, received }) => [check, allowed, received]),
    [['max_order_notional', '100000', '2285000']],
  );
  // Of a market order by the last price, which one call of the gateway's own has read.
  assert.equal((await place({ order_type: 'MARKET', limit_price: undefined, quantity: '1' })).status, 200);
  const dear = await place({ order_type: 'MARKET', limit_price: undefined, quantity: '10000' });
  assert.equal(dear.json.code, 'order_blocked');
  assert.equal(
    run.simulator?.orders.filter(({ clientOrderId }) => /of-trading/.test(clientOrderId)).length,
    2,
  );
});

test('limits are set for all, for an account and for a user', async (t) => {
  const { ask, place } = await runFor(t, { tradingLimits: {} });
  for (const whose of [{}, { account: accountId }, { user: 'ada' }]) {
    const set = (limit: string | null) =>
      ask('/_trading/limits', { ...whose, set: { max_order_quantity: limit } });
    assert.equal((await set('2')).status, 200);
    // Instances look again after some seconds.
    await untilAnswered(403, () => place({ quantity: '3' }));
    assert.equal((await place({ quantity: '2' })).status, 200);
    assert.equal((await set(null)).status, 200);
    await untilAnswered(200, () => place({ quantity: '3' }));
  }
  const { status, json } = await ask('/_trading/limits', { set: { max_order_quantity: '-1' } });
  assert.equal(status, 400);
  assert.match(json.detail, /max_order_quantity/);
});

test('the switch stops placing and replacing, and cancels go through', async (t) => {
  const { ask, place } = await runFor(t);
  const order = { client_order_id: 'order-before-the-stop', order_type: 'LIMIT', limit_price: '1.00' };
  assert.equal((await place({ ...order, time_in_force: 'GTC' })).status, 200);
  assert.equal((await ask('/_trading/stop', {})).status, 400);
  assert.equal((await ask('/_trading/stop', { reason: 'a strategy runs wild' })).status, 200);
  await untilAnswered(403, place);
  const stopped = await place();
  assert.match(stopped.json.detail, /Trading of this gateway has been stopped since .* Cancels go through/);
  assert.doesNotMatch(JSON.stringify(stopped.json), /wild/);
  const { client_order_id } = order;
  const replaced = await ask('/trading/orders/replace', {
    account_id: accountId,
    modify_orders: [{ client_order_id, quantity: '2' }],
  });
  assert.equal(replaced.json.code, 'order_blocked');
  const cancelled = await ask('/trading/orders/cancel', { account_id: accountId, client_order_id });
  assert.equal(cancelled.status, 200);
  assert.equal((await ask('/_trading/resume', { reason: 'it is fixed' })).status, 200);
  await untilAnswered(200, place);
  const shown = await ask('/_trading');
  assert.match(JSON.stringify(shown.json), /a strategy runs wild/);
});

test('nobody but the operator sees or changes what is behind an underscore', async (t) => {
  const otherKey = 'a-further-key';
  const { ask, place, run } = await runFor(t, { otherApiKeys: [otherKey] });
  const entry = { source: 'try', 'detail-type': 'QuoteLookupRequested', detail: { request_id: 'r-1' } };
  const asked: readonly (readonly [string, object?])[] = [
    ['/_trading'],
    ['/_trading/limits', { set: { max_order_notional: null } }],
    ['/_trading/stop', { reason: 'none' }],
    ['/_trading/resume', { reason: 'none' }],
    ['/_events', entry],
    ['/_orders/audit'],
  ];
  const published: unknown[] = [];
  run.bus.subscribe((event) => published.push(event));
  for (const [path, body] of asked) {
    const { status, json } = await ask(path, body, otherKey);
    assert.deepEqual([path, status, json.status, json.code], [path, 403, 403, 'forbidden']);
    assert.match(json.detail, /first key of the run alone.*not sent/);
  }
  assert.deepEqual(published, []);
  const { json } = await ask('/_trading');
  assert.deepEqual((json as unknown as { history: unknown[] }).history, []);
  const slip = await place({ order_type: 'LIMIT', limit_price: '228.50', quantity: '10000' });
  assert.equal(slip.json.code, 'order_blocked');
});

test('what is open is cancelled at once, for a stop and for a check that asks for it', async (t) => {
  const { ask, place } = await runFor(t, { tradingLimits: {} });
  const limited = { order_type: 'LIMIT', limit_price: '1.00', time_in_force: 'GTC' };
  const open = async () => {
    const { json } = await ask(`/trading/orders/open-orders/list?account_id=${accountId}`);
    return JSON.stringify(json);
  };
  /** Long before the next minute's run. */
  const untilCancelled = async (id: string) => {
    for (let left = 300; (await open()).includes(id); left--) {
      assert.ok(left > 0, `${id} is still open`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const limits = { max_order_quantity: '2', actions: { max_order_quantity: 'block_and_cancel' } };
  assert.equal((await place({ ...limited, client_order_id: 'order-before-the-check' })).status, 200);
  assert.match(await open(), /order-before-the-check/);
  assert.equal((await ask('/_trading/limits', { set: limits })).status, 200);
  await untilAnswered(403, () => place({ ...limited, quantity: '3' }));
  await untilCancelled('order-before-the-check');
  const { json } = await place({ ...limited, quantity: '3' });
  assert.match(json.detail, /Open orders of this user are being cancelled\. The request was not sent/);

  assert.equal((await place({ ...limited, client_order_id: 'order-before-the-stop' })).status, 200);
  assert.equal((await ask('/_trading/stop', { reason: 'why', cancel_open: 'yes' })).status, 400);
  const stopped = await ask('/_trading/stop', { reason: 'a strategy runs wild', cancel_open: true });
  assert.equal(stopped.status, 200);
  const { mass_cancels } = stopped.json as unknown as { mass_cancels: readonly { scope: string }[] };
  assert.ok(mass_cancels.some(({ scope }) => scope === 'stack'));
  await untilCancelled('order-before-the-stop');
});

/** What was set is effective within five seconds. */
async function untilAnswered(status: number, ask: () => Promise<{ readonly status: number }>): Promise<void> {
  for (let left = 600; (await ask()).status !== status; left--) {
    assert.ok(left > 0, `never ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
