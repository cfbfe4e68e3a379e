import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { Send } from '../../../lib/gateway/index.ts';
import {
  type CountingJournal,
  createMemoryOrderJournal,
  JournalUnavailable,
} from '../../../lib/orders/index.ts';
import { accountId, ask, newOrder, orderBody, orderPath, problemOf } from '../../support/core.ts';
import { startInstances } from '../../support/instances.ts';

const place = (change = {}) => ({ body: orderBody({ client_order_id: 'order-of-this-test', ...change }) });
const isReplay = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
  headers['idempotent-replayed'] === 'true';

describe('an order that is sent again', () => {
  test('is answered with the same bytes, by another instance, and placed once', async (t) => {
    const { gateways, simulator } = await startInstances(t, 2);
    const first = await ask(gateways[0]!, orderPath, place());
    assert.equal(first.status, 200, first.text);
    assert.equal(isReplay(first), false);
    const second = await ask(gateways[1]!, orderPath, place());
    assert.equal(second.status, 200, second.text);
    assert.equal(second.text, first.text);
    assert.equal(isReplay(second), true);
    assert.equal(simulator.orders.length, 1);
  });

  test('a hundred at once over five instances place one', async (t) => {
    const { gateways, simulator } = await startInstances(t, 5);
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask(gateways[index % 5]!, orderPath, place())),
    );
    assert.equal(simulator.orders.length, 1);
    assert.deepEqual(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assert.equal(replies.filter((one) => !isReplay(one)).length, 1);
  });

  test('with other contents is refused with 409, and nothing is sent', async (t) => {
    const { gateway, simulator } = await startInstances(t, 1);
    await ask(gateway, orderPath, place());
    problemOf(await ask(gateway, orderPath, place({ quantity: '11' })), {
      status: 409,
      code: 'idempotency_conflict',
    });
    // Its contents are the query and the header category, too.
    for (const other of [{ headers: { category: 'US_STOCK' } }, { query: [['a', '1']] as const }])
      problemOf(await ask(gateway, orderPath, { ...place(), ...other }), {
        status: 409,
        code: 'idempotency_conflict',
      });
    assert.equal(simulator.orders.length, 1);
  });
});

test('orders are told apart by their ids, of any characters', async (t) => {
  const { gateway, simulator } = await startInstances(t, 1);
  const ids = ['{braces-first', '[bracket-first', 'a "quote" in it', 'a \\ backslash', 'null-and-void'];
  for (const client_order_id of ids)
    for (const isSecond of [false, true]) {
      const reply = await ask(gateway, orderPath, place({ client_order_id }));
      assert.equal(reply.status, 200, reply.text);
      assert.equal(JSON.parse(reply.text).client_order_id, client_order_id);
      assert.equal(isReplay(reply), isSecond);
    }
  assert.equal(simulator.orders.length, ids.length);
});

describe('an order whose id the upstream knows and the journal does not', () => {
  test('is answered as that order', async (t) => {
    const { gateway, instance, simulator } = await startInstances(t, 1);
    const first = await ask(gateway, orderPath, place());
    const again = await ask(instance(createMemoryOrderJournal()), orderPath, place());
    assert.equal(again.status, 200, again.text);
    assert.equal(JSON.parse(again.text).order_id, JSON.parse(first.text).order_id);
    assert.equal(isReplay(again), true);
    assert.equal(simulator.orders.length, 1);
  });
});

describe('without the journal', () => {
  const away = async () => {
    throw new JournalUnavailable();
  };
  const journal: CountingJournal = {
    begin: away,
    beginCounted: away,
    finish: away,
    change: away,
    read: away,
    counters: away,
    unsettled: away,
    exposed: away,
  };

  test('no order is sent, and the answer says so', async (t) => {
    const { gateway, simulator } = await startInstances(t, 1, { journal });
    problemOf(await ask(gateway, orderPath, place()), { status: 503, code: 'journal_unavailable' });
    assert.equal(simulator.orders.length, 0);
  });

  test('a cancel is sent', async (t) => {
    const good = createMemoryOrderJournal();
    let isAway = false;
    const sometimes: CountingJournal = {
      ...good,
      begin: async (...call) => (isAway ? away() : good.begin(...call)),
      beginCounted: async (...call) => (isAway ? away() : good.beginCounted(...call)),
      finish: async (...call) => (isAway ? away() : good.finish(...call)),
      change: async (...call) => (isAway ? away() : good.change(...call)),
    };
    const { gateway } = await startInstances(t, 1, { journal: sometimes });
    const id = 'an-order-to-cancel';
    // Far from the market, so that it stays open.
    assert.equal(
      (await ask(gateway, orderPath, place({ client_order_id: id, limit_price: '1.10' }))).status,
      200,
    );
    isAway = true;
    const cancelled = await ask(gateway, '/trading/orders/cancel', {
      body: JSON.stringify({ account_id: accountId, client_order_id: id }),
    });
    assert.equal(cancelled.status, 200, cancelled.text);
  });

  test.for(['while it is sent', 'after its answer'])(
    'a cancel whose entry is written %s has its outcome in it, and does not hold up its key',
    async (when, t) => {
      let now = Date.UTC(2026, 10, 20, 15);
      const clock = () => now;
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      const good = createMemoryOrderJournal();
      let write = () => {};
      const written = new Promise<void>((resolve) => {
        write = resolve;
      });
      const slow: CountingJournal = {
        ...good,
        begin: async (...call) => {
          await written;
          return good.begin(...call);
        },
      };
      const fault = ({ path }: { readonly path: string }) => {
        if (path.endsWith('/cancel') && when === 'while it is sent') write();
        return undefined;
      };
      const { gateway, instance } = await startInstances(t, 1, {
        simulated: { clock, fault },
        journal: slow,
        options: { clock },
        sleep: async (ms) => {
          now += ms;
          await turn();
        },
      });
      const cancel = (client_order_id: string) =>
        ask(gateway, '/trading/orders/cancel', {
          body: JSON.stringify({ account_id: accountId, client_order_id }),
          headers: { 'idempotency-key': `cancel-of-${client_order_id}` },
        });
      await ask(instance(good), orderPath, place({ limit_price: '1.10', order_type: 'LIMIT' }));
      const ids = ['order-of-this-test', 'an-order-that-is-not-there'];
      const first = await Promise.all(ids.map(cancel));
      write();
      await turn();
      const again = await Promise.all(ids.map(cancel));
      const statuses = (replies: typeof first) => replies.map(({ status }) => status);
      assert.deepEqual(
        [statuses(first), statuses(again)],
        [
          [200, 422],
          [200, 422],
        ],
      );
      assert.deepEqual(again.map(isReplay), [true, false]);
    },
  );
});

test('more orders than the journal can begin at once are refused as wrong, not as "later"', async (t) => {
  const { gateway, simulator } = await startInstances(t, 1);
  const body = JSON.parse(orderBody());
  const new_orders = Array.from({ length: 101 }, (_, index) => ({
    ...body.new_orders[0],
    client_order_id: `one-of-many-${index}`,
  }));
  const problem = problemOf(await ask(gateway, orderPath, { body: JSON.stringify({ ...body, new_orders }) }));
  assert.equal(problem.status, 400);
  assert.match(problem.detail, /new_orders/);
  assert.equal(simulator.orders.length, 0);
});

describe('a batch', () => {
  const batchOrder = (client_order_id: string) =>
    newOrder({
      client_order_id,
      time_in_force: 'DAY',
      order_type: 'LIMIT',
      quantity: '3',
      limit_price: '1.00',
    });
  const batch = (...ids: readonly string[]) => ({
    body: JSON.stringify({
      account_id: accountId,
      batch_orders: ids.map(batchOrder),
    }),
  });
  const path = '/trading/orders/batch-place';

  test('two orders of one id are refused', async (t) => {
    const { gateway, simulator } = await startInstances(t, 1);
    const problem = problemOf(await ask(gateway, path, batch('batch-order-1', 'batch-order-1')));
    assert.equal(problem.status, 400);
    assert.match(problem.detail, /batch_orders\/1\/client_order_id/);
    assert.equal(simulator.orders.length, 0);
  });

  test('an order at which a server of the upstream failed is not called refused', async (t) => {
    const [id, other] = ['batch-order-1', 'batch-order-2'];
    const isShown = new Set<string>();
    const send: Send = async ({ method, url }) => {
      const asked = new URL(url).searchParams.get('client_order_id') ?? '';
      const shown = { client_order_id: id, order_id: '7', symbol: 'AAPL', side: 'BUY', status: 'SUBMITTED' };
      const failed = { client_order_id: id, error_code: 'OPENAPI_SYSTEM_ERROR', message: 'later' };
      const taken = { client_order_id: other, order_id: '8' };
      const placed = { total: 2, success: 1, failed: 1, batch_orders: [failed, taken] };
      if (method === 'GET' && !isShown.has(asked)) return { kind: 'lost' };
      const answer = method === 'GET' ? { orders: [shown] } : placed;
      const body = new TextEncoder().encode(JSON.stringify(answer));
      return { kind: 'answer', status: 200, header: () => undefined, body };
    };
    const { gateway } = await startInstances(t, 1, { options: { send }, sleep: async () => {} });
    const unknown = problemOf(await ask(gateway, path, batch(id, other)));
    assert.equal(unknown.code, 'outcome_unknown');
    isShown.add(id);
    const again = await ask(gateway, path, batch(id, other));
    assert.equal(again.status, 200, again.text);
    assert.equal(isReplay(again), true);
    assert.deepEqual(
      JSON.parse(again.text).batch_orders.map((one: { readonly order_id: string }) => one.order_id),
      ['7', '8'],
    );
  });

  test('sent again with one more order places that one alone, and answers for all', async (t) => {
    // Orders for the day are taken in the regular session alone.
    const clock = () => Date.UTC(2026, 10, 20, 15);
    const { gateway, simulator } = await startInstances(t, 1, { simulated: { clock }, options: { clock } });
    const first = JSON.parse((await ask(gateway, path, batch('batch-order-1', 'batch-order-2'))).text);
    const reply = await ask(gateway, path, batch('batch-order-1', 'batch-order-2', 'batch-order-3'));
    const second = JSON.parse(reply.text);
    assert.equal(simulator.orders.length, 3);
    assert.deepEqual(second.batch_orders.slice(0, 2), first.batch_orders);
    assert.equal(second.total, 3);
  });
});

test('a replacement with an Idempotency-Key is executed once', async (t) => {
  const changes: string[] = [];
  const fault = ({ method, path }: { readonly method: string; readonly path: string }) => {
    if (method === 'POST') changes.push(path);
    return undefined;
  };
  const { gateway } = await startInstances(t, 1, { simulated: { fault } });
  const id = 'an-order-to-replace';
  await ask(gateway, orderPath, place({ client_order_id: id, limit_price: '1.10' }));
  const replace = () =>
    ask(gateway, '/trading/orders/replace', {
      body: JSON.stringify({
        account_id: accountId,
        modify_orders: [{ client_order_id: id, limit_price: '1.20' }],
      }),
      headers: { 'idempotency-key': 'key-1' },
    });
  const [first, second] = [await replace(), await replace()];
  assert.equal(first.status, 200, first.text);
  assert.equal(second.text, first.text);
  assert.equal(isReplay(second), true);
  assert.deepEqual(changes, [orderPath, '/trading/orders/replace']);
});
