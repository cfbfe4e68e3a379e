/**
 * What users of a deployment live through: an order's life, quotes, lookups and trade events. Each scenario takes a scene
 * and asserts what it sees, whichever ports the scene has.
 */

import assert from 'node:assert/strict';
import { cancelOrder, getOrderOutcome, replaceOrder } from '../../lib/catalogue/index.ts';
import { streamOrderEvents, streamStockSnapshots } from '../../lib/catalogue/live.ts';
import { accountId, newOrder, orderPath, snapshotTarget } from '../support/core.ts';
import { type Published, platformNames, type Reply, requester, type Scene } from './scene.ts';

export interface Scenario {
  readonly name: string;
  readonly run: (scene: Scene) => Promise<void>;
  /** Of the upstream's limit; all of it when absent. */
  readonly share?: number;
}

/** Of every scene: one order of 990 fits, two do not. Who orders is known, and a user has half of the gateway's limit. */
export const limits = { max_open_notional: '2000' };

let ids = 0;
const prefix = 'scenario-order-';
const newId = () => `${prefix}${Date.now()}-${++ids}`;

/** Far below the market: it stays open, and counts 990. */
const place = (scene: Scene, id: string, more = {}) =>
  scene.ask(orderPath, {
    account_id: accountId,
    new_orders: [
      newOrder({ client_order_id: id, order_type: 'LIMIT', limit_price: '9.90', quantity: '100', ...more }),
    ],
  });
const cancel = (scene: Scene, id: string) =>
  scene.ask(cancelOrder.path, { account_id: accountId, client_order_id: id });

const codeIn = ({ text }: Reply): string | undefined => (JSON.parse(text) as { readonly code?: string }).code;
const is = (reply: Reply, status: number, code?: string) =>
  assert.deepEqual([reply.status, status === 200 ? undefined : codeIn(reply)], [status, code], reply.text);
const placed = ({ simulator }: Scene, id: string) =>
  simulator.trading.changes().filter(({ clientOrderId }) => clientOrderId === id).length > 0 ||
  simulator.orders.some((order) => order.clientOrderId === id);
const isCancelled = ({ simulator }: Scene, id: string) =>
  simulator.trading
    .changes()
    .some(({ clientOrderId, scene }) => clientOrderId === id && scene === 'CANCEL_SUCCESS');

/** A stop may be unknown to a function for five seconds; a list of orders lags by half a minute. */
const minute = 60_000;

const releases: Scenario = {
  name: 'an order that is cancelled leaves the open notional, and the next one is placed',
  async run(scene) {
    const [first, second] = [newId(), newId()];
    is(await place(scene, first), 200);
    is(await place(scene, second), 403, 'order_blocked');
    assert.ok(!placed(scene, second));
    is(await cancel(scene, first), 200);
    await scene.pass(minute);
    assert.equal((await scene.settle()).released, 1);
    is(await place(scene, second), 200);
    is(await cancel(scene, second), 200);
  },
};

const replaces: Scenario = {
  name: 'a replacement is checked, and counts as what it makes of the order',
  async run(scene) {
    const id = newId();
    const to = (quantity: string) =>
      scene.ask(replaceOrder.path, {
        account_id: accountId,
        modify_orders: [
          { client_order_id: id, quantity, limit_price: '9.90', order_type: 'LIMIT', time_in_force: 'GTC' },
        ],
      });
    is(await place(scene, id, { quantity: '50' }), 200);
    is(await to('102'), 403, 'order_blocked');
    is(await to('100'), 200);
    is(await place(scene, newId(), { quantity: '2' }), 403, 'order_blocked');
    is(await cancel(scene, id), 200);
  },
};

const loses: Scenario = {
  name: 'an order whose answer is lost is settled, placed once, and replayed',
  async run(scene) {
    const id = newId();
    const { simulator } = scene;
    simulator.trading.showAfter(minute);
    simulator.bring(({ path }) => (path === orderPath ? { kind: 'drop-after' } : undefined));
    const lost = await place(scene, id);
    simulator.bring();
    assert.equal(codeIn(lost), 'outcome_unknown', lost.text);
    simulator.trading.showAfter(0);
    const lineOf = async () => (await scene.audited()).find(({ client_order_id }) => client_order_id === id);
    assert.equal((await lineOf())?.state, 'unknown');
    await scene.pass(2 * minute);
    assert.equal((await scene.settle()).accepted, 1);
    const again = await place(scene, id);
    is(again, 200);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    const outcome = await scene.ask(`${getOrderOutcome.path}?account_id=${accountId}&client_order_id=${id}`);
    assert.match(outcome.text, /accepted/);
    assert.equal(simulator.orders.filter(({ clientOrderId }) => clientOrderId === id).length, 1);
    const settled = await scene.published(platformNames.ordersBus);
    assert.ok(
      settled.some(({ detail }) => detail.client_order_id === id),
      JSON.stringify(settled),
    );
    const line = await lineOf();
    assert.deepEqual([line?.state, line?.evidence === 'answer'], ['accepted', false]);
    is(await cancel(scene, id), 200);
  },
};

const reappears: Scenario = {
  name: 'an order that counted as not placed, and shows after all, counts again without an event',
  async run(scene) {
    const { simulator } = scene;
    const [other, id] = [newId(), newId()];
    // It shows that look-ups work.
    is(await place(scene, other, { quantity: '1' }), 200);
    await scene.pass(60 * minute);
    simulator.trading.showAfter(30 * minute);
    simulator.bring(({ path }) => (path === orderPath ? { kind: 'drop-after' } : undefined));
    assert.equal(codeIn(await place(scene, id)), 'outcome_unknown');
    // An engine's stream tells what changed from one call to the next.
    await scene.published(platformNames.ordersBus);
    simulator.bring();
    await scene.pass(8 * minute);
    await scene.settle();
    await scene.pass(6 * minute);
    assert.equal((await scene.settle()).refused, 1);
    assert.match((await outcomeOf(scene, id)).text, /"state":"refused".*"evidence":"absence"/);
    await scene.published(platformNames.ordersBus);
    simulator.trading.showAfter(0);
    await scene.pass(20 * minute);
    // The account has its turn every five minutes.
    for (let run = 0; run < 5; run++) {
      await scene.pass(minute);
      await scene.settle();
    }
    assert.match((await outcomeOf(scene, id)).text, /"state":"accepted".*"evidence":"list"/);
    is(await place(scene, newId()), 403, 'order_blocked');
    assert.deepEqual(
      (await scene.published(platformNames.ordersBus))
        .filter(({ detail }) => detail.client_order_id === id)
        .map(({ detail }) => detail.state),
      ['refused', 'accepted'],
    );
    is(await cancel(scene, id), 200);
    is(await cancel(scene, other), 200);
    await scene.pass(minute);
    assert.equal((await scene.settle()).released, 2);
  },
};

const stops: Scenario = {
  name: 'a stop lets nothing be placed, cancels what is open, and lets cancels through',
  async run(scene) {
    const [open, other] = [newId(), newId()];
    is(await place(scene, open, { quantity: '10' }), 200);
    is(await place(scene, other, { quantity: '10' }), 200);
    await scene.operator.apply({
      action: 'stop',
      subject: { kind: 'gateway' },
      reason: 'scenario',
      cancelOpen: true,
    });
    await scene.pass(6000);
    const stopped = await place(scene, newId(), { quantity: '1' });
    is(stopped, 403, 'order_blocked');
    assert.match(stopped.text, /has been stopped/);
    // Where the request's own write starts the mass cancel, that one may have been faster.
    const cancelled = await cancel(scene, other);
    assert.ok(cancelled.status === 200 || /is CANCELLED already/.test(cancelled.text), cancelled.text);
    const report = await scene.cancelOpen();
    assert.deepEqual([report.requests, report.left], [1, 0]);
    assert.ok(isCancelled(scene, open));
    await scene.operator.apply({ action: 'resume', subject: { kind: 'gateway' }, reason: 'scenario' });
    await scene.pass(6000);
    is(await place(scene, newId(), { quantity: '1' }), 200);
  },
};

const alarms: Scenario = {
  name: 'an alarm stops trading',
  async run(scene) {
    is(await place(scene, newId(), { quantity: '1' }), 200);
    await scene.alarm();
    await scene.pass(6000);
    const stopped = await place(scene, newId(), { quantity: '1' });
    is(stopped, 403, 'order_blocked');
    assert.match(stopped.text, /has been stopped/);
    assert.equal((await scene.cancelOpen()).requests, 1);
  },
};

const blocksAndCancels: Scenario = {
  name: 'a check that blocks and cancels has the user’s open orders cancelled',
  async run(scene) {
    await scene.operator.apply({
      action: 'limits',
      subject: { kind: 'gateway' },
      changes: { max_order_quantity: '50', actions: { max_order_quantity: 'block_and_cancel' } },
    });
    await scene.pass(6000);
    const open = newId();
    is(await place(scene, open, { quantity: '10' }), 200);
    is(await place(scene, newId(), { quantity: '51' }), 403, 'order_blocked');
    const report = await scene.cancelOpen();
    assert.equal(report.requests, 1);
    assert.ok(isCancelled(scene, open));
  },
};

const quotes: Scenario = {
  name: 'quotes are shared by functions, and a market order is checked at the shared price',
  async run(scene) {
    const sent = () => scene.simulator.received.filter(({ target }) => target.includes('/snapshot')).length;
    const isHeld = scene.hold();
    const first = await scene.ask(snapshotTarget);
    is(first, 200);
    const before = sent();
    const isShared = (who: string) =>
      assert.ok(!isHeld || sent() === before, `${who} asked the upstream for what is shared`);
    is(await scene.ask(snapshotTarget), 200);
    isShared('another instance');
    const { price } = (JSON.parse(first.text) as readonly { readonly price: string }[])[0]!;
    // Two would come to less than the limit only by a price that is not the market's.
    const quantity = String(Math.ceil(1000 / Number(price)) + 1);
    const order = { order_type: 'MARKET', limit_price: undefined };
    is(await place(scene, newId(), { ...order, quantity }), 403, 'order_blocked');
    is(await place(scene, newId(), { ...order, quantity: '1' }), 200);
    isShared('the check of an order');
    const reply = await scene.lookUp('QuoteLookupRequested', {
      request_id: newId(),
      symbols: ['AAPL'],
      category: 'US_STOCK',
    });
    assert.match(JSON.stringify(reply), /AAPL/);
    isShared('the lookup');
  },
};

const follows: Scenario = {
  name: 'a stream of quotes begins with what is shared, and tells what changes',
  async run(scene) {
    is(await scene.ask(snapshotTarget), 200);
    const target = `${streamStockSnapshots.path}?symbols=AAPL&category=US_STOCK`;
    const told = await scene.follow(target, (told) => told.includes('event: quotes'));
    assert.match(told, /event: snapshot\ndata: .*"quotes":\[\{"symbol":"AAPL"/);
    assert.match(told, /event: quotes\ndata: .*"symbol":"AAPL"/);
  },
};

const carries: Scenario = {
  name: 'what the channel tells is in the answers of functions, without a request for it',
  async run(scene) {
    const sent = () => scene.simulator.received.filter(({ target }) => target.includes('/snapshot')).length;
    // A fetch shows itself as one change at most, to either instance.
    let [told, most, fetches] = [0, 0, 0];
    assert.ok(scene.carry);
    await scene.carry(async () => {
      const reply = await scene.ask(snapshotTarget.replace('AAPL', 'AAPL,MSFT,NVDA'));
      is(reply, 200);
      const records = JSON.parse(reply.text) as readonly { readonly volume: string }[];
      const volume = records.reduce((sum, one) => sum + Number(one.volume), 0);
      if (sent() > fetches) told = 0;
      else if (volume > most) told++;
      fetches = sent();
      most = Math.max(most, volume);
      return told > 1;
    });
    assert.ok(told > 1, `${fetches} fetches`);
  },
};

const looksUp: Scenario = {
  name: 'a lookup by event is answered once on its bus, account data for a source with a grant',
  async run(scene) {
    const request_id = newId();
    const detail = { request_id, operation: 'listOpenOrders', query: { account_id: accountId } };
    const reply = await scene.lookUp('ReadRequested', detail);
    assert.equal(reply.requester, requester);
    assert.ok('answer' in reply, JSON.stringify(reply));
    const asked = () => scene.simulator.received.filter(({ target }) => /open/.test(target)).length;
    const before = asked();
    await scene.lookUp('ReadRequested', detail);
    assert.equal(asked(), before, 'an event that came again was asked for again');
    const stranger = await scene.lookUp('ReadRequested', { ...detail, request_id: newId() }, 'stranger');
    assert.match(String(stranger.code), /^forbidden|^unknown_user|^not_granted/, JSON.stringify(stranger));
  },
};

const limited: Scenario = {
  name: 'all functions count against one limit',
  share: 0.05,
  async run(scene) {
    const symbols = scene.simulator.symbols('US_STOCK').slice(0, 20);
    const ticks = (symbol: string) =>
      scene.ask(`/market-data/stocks/ticks/list?symbol=${symbol}&category=US_STOCK&count=1`);
    const replies: Reply[] = [];
    for (const symbol of symbols) replies.push(await ticks(symbol));
    const answered = replies.filter(({ status }) => status === 200).length;
    assert.ok(answered > 0 && answered <= 15, replies.map(({ text }) => text.slice(0, 300)).join('\n'));
    const counted = scene.logged.filter(({ event }) => event === 'request').map(({ code }) => code);
    assert.ok(counted.includes('budget_used_up'), JSON.stringify(counted));
    // A price or a quote that no function has read yet takes a permit of the same limit.
    const unpriced = await place(scene, newId(), {
      symbol: 'KO',
      order_type: 'MARKET',
      limit_price: undefined,
      quantity: '1',
    });
    is(unpriced, 403, 'order_blocked');
    const quote = { request_id: newId(), symbols: ['KO'], category: 'US_STOCK' };
    await assert.rejects(scene.lookUp('QuoteLookupRequested', quote), /no reply/);
    await scene.pass(90_000);
    is(await ticks('KO'), 200);
  },
};

const tellsEvents: Scenario = {
  name: 'changes of orders come on the bus and to streams, and a fill leaves the open notional by its event',
  async run(scene) {
    const id = newId();
    const { simulator } = scene;
    is(await place(scene, id), 200);
    is(await place(scene, newId()), 403, 'order_blocked');
    let seen: readonly Published[] = [];
    let isFilled = false;
    await scene.listen(async () => {
      if (!isFilled && simulator.events.open > 0) {
        simulator.trading.fill(accountId, id);
        isFilled = true;
      }
      const all = await scene.published(platformNames.eventsBus);
      seen = all.filter(({ detail }) => detail.client_order_id === id);
      return seen.some(({ detail }) => detail.status === 'FILLED');
    });
    const filled = seen.find(({ detail }) => detail.status === 'FILLED');
    assert.equal(filled?.detail.account_id, accountId, JSON.stringify(seen));
    const { event_id } = filled?.detail ?? {};
    if (scene.tellsOrders !== false) {
      const told = await scene.follow(streamOrderEvents.path, (told) => told.includes(`"${event_id}"`));
      assert.ok(told.includes(`"event_id":"${event_id}"`), told);
      const refused = await scene.follow(streamOrderEvents.path, () => false, 'stranger');
      assert.match(refused, /"code":"forbidden"/);
    }
    await scene.settleBy(filled!.detail);
    is(await place(scene, newId()), 200);
  },
};

const outcomeOf = async (scene: Scene, id: string) =>
  scene.ask(`${getOrderOutcome.path}?account_id=${accountId}&client_order_id=${id}`);

const restoresJournal: Scenario = {
  name: 'a restored journal closes orders until it is known what is open, and then knows what was sent',
  async run(scene) {
    const [first, second] = [newId(), newId()];
    await scene.settle();
    const restore = await scene.copyOf('journal');
    await scene.settle();
    is(await place(scene, first), 200);
    assert.equal((await scene.audited()).length > 0, true);
    await restore();
    await scene.pass(6000);
    is(await place(scene, second), 503, 'orders_closed');
    is(await place(scene, first), 503, 'orders_closed');
    const { reconciled } = await scene.settle();
    assert.deepEqual([reconciled?.restored, reconciled?.recovered], [['journal'], 1]);
    assert.match((await outcomeOf(scene, first)).text, /"state":"accepted"/);
    is(await outcomeOf(scene, second), 503, 'journal_unavailable');
    let minutes = 0;
    for (; (await scene.settle()).reconciled && minutes < 30; minutes++) await scene.pass(minute);
    assert.ok(minutes >= 10 && minutes < 15, `open again after ${minutes} minutes`);
    await scene.pass(6000);
    const again = await place(scene, first);
    is(again, 200);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(scene.simulator.orders.filter(({ clientOrderId }) => clientOrderId === first).length, 1);
    // It counts: the next one is too much until it has ended.
    is(await place(scene, second), 403, 'order_blocked');
    is(await cancel(scene, first), 200);
    await scene.pass(minute);
    assert.equal((await scene.settle()).released, 1);
    is(await place(scene, second), 200);
  },
};

const restoresControls: Scenario = {
  name: 'restored limits and stops close orders until an operator has looked at them',
  async run(scene) {
    await scene.settle();
    const restore = await scene.copyOf('controls');
    await scene.operator.apply({ action: 'stop', subject: { kind: 'gateway' }, reason: 'scenario' });
    await scene.settle();
    await restore();
    await scene.pass(6000);
    is(await place(scene, newId(), { quantity: '1' }), 503, 'orders_closed');
    for (let minutes = 0; minutes < 3; minutes++) {
      await scene.pass(minute);
      assert.equal((await scene.settle()).reconciled?.waitsFor, 'operator');
    }
    is(await place(scene, newId(), { quantity: '1' }), 503, 'orders_closed');
    await scene.confirm(['controls']);
    await scene.pass(6000);
    is(await place(scene, newId(), { quantity: '1' }), 200);
    assert.equal((await scene.settle()).reconciled, undefined);
  },
};

export const scenarios: readonly Scenario[] = [
  releases,
  replaces,
  loses,
  reappears,
  stops,
  alarms,
  blocksAndCancels,
  quotes,
  looksUp,
  restoresJournal,
  restoresControls,
  // Time passes in these: who looks for the first that fails comes to them last.
  follows,
  limited,
  tellsEvents,
  carries,
];

/** Cancels what a scenario left open, and has it leave the counters. */
export async function leaveNothing(scene: Scene): Promise<void> {
  for (const { clientOrderId } of scene.simulator.orders)
    if (clientOrderId.startsWith(prefix)) await cancel(scene, clientOrderId);
  await scene.pass(minute);
  await scene.settle();
}

/** One of each kind, which can follow each other in one deployment. */
export const smoke: readonly Scenario[] = [releases, quotes, looksUp, tellsEvents, stops];
