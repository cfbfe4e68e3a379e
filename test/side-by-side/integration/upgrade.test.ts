/**
 * Functions of an earlier commit beside those of today, over one set of tables, as while a deployment goes on: what one version
 * begins, the other one goes on with. All waiting is virtual.
 */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import { createNodeSend } from '../../../functions/aws/node-send.ts';
import type { LogEntry } from '../../../functions/log/log.ts';
import { loseFirstAnswers, startSimulator } from '../../../infra/simulator/index.ts';
import { cancelOrder } from '../../../lib/catalogue/order-cancels.ts';
import { getOrderOutcome } from '../../../lib/catalogue/order-outcomes.ts';
import type { Send } from '../../../lib/gateway/index.ts';
import { platformNames } from '../../compositions/scene.ts';
import { accountId, credentials, newOrder, orderPath, snapshotPath } from '../../support/core.ts';
import { withoutHistory } from '../../support/earlier.ts';
import { orTell } from '../../support/missing.ts';
import { type Side, startFleet } from '../fleet.ts';
import { PassingTime } from '../passing-time.ts';
import { type Defect, earlierVersion, type Version, versionOfToday } from '../versions.ts';

const minute = 60_000;
const otherOf = (side: Side): Side => (side === 'earlier' ? 'today' : 'earlier');

interface Said {
  readonly code?: string;
  readonly order_id?: string;
  readonly state?: string;
}

/** Orders that `first` begins and the other version goes on with; the other way round after that. */
async function upgrade(versions: Readonly<Record<Side, Version>>): Promise<void> {
  const time = new PassingTime();
  const { clock } = time;
  const simulator = await startSimulator({
    ...credentials,
    clock,
    fault: loseFirstAnswers(),
    showAfterMs: 20_000,
  });
  const errors: LogEntry[] = [];
  const log = (entry: LogEntry) => {
    if (entry.level === 'error' && entry.event !== 'request') errors.push(entry);
  };
  const overHttp = createNodeSend();
  const send: Send = (request, options) => time.working(() => overHttp(request, options));
  const run = async () => {
    const fleet = await startFleet(versions, { simulator, time, send, log });
    const ask = async (side: Side, target: string, body?: object) => {
      const { status, text } = await fleet.ask(side, target, body);
      return { status, ...(JSON.parse(text) as Said) };
    };
    for (const first of ['earlier', 'today'] as const) {
      const other = otherOf(first);
      for (const side of [first, other]) {
        const ticks = '/market-data/stocks/ticks/list?category=US_STOCK&symbol=';
        for (const target of [
          `${ticks}${side === first ? 'AAPL' : 'MSFT'}&count=${first.length}`,
          `${snapshotPath}?symbols=KO&category=US_STOCK`,
        ])
          assert.equal((await ask(side, target)).status, 200, `${target} at ${side}`);
      }
      for (const quantity of ['20', '51']) {
        const client_order_id = `upgrade-${first}-${quantity}`;
        const terms = { client_order_id, order_type: 'LIMIT', limit_price: '1.00', quantity };
        const place = (side: Side) =>
          ask(side, orderPath, { account_id: accountId, new_orders: [newOrder(terms)] });
        const outcome = `${getOrderOutcome.path}?account_id=${accountId}&client_order_id=${client_order_id}`;
        if (quantity === '51') {
          for (const side of [first, other]) assert.equal((await place(side)).code, 'order_blocked', side);
          continue;
        }
        // The upstream takes it, and its answer is lost.
        assert.equal((await place(first)).code, 'outcome_unknown');
        const before = await ask(other, outcome);
        assert.ok(['unknown', 'pending', 'accepted'].includes(before.state ?? ''), JSON.stringify(before));
        for (let tries = 0; tries < 10 && (await place(other)).status !== 200; tries++)
          await time.sleep(minute);
        const { orderId } = simulator.orders.find((one) => one.clientOrderId === client_order_id)!;
        for (const side of [other, first]) {
          const [again, told] = [await place(side), await ask(side, outcome)];
          assert.deepEqual([again.status, again.order_id], [200, orderId], side);
          assert.deepEqual([told.state, told.order_id], ['accepted', orderId], side);
        }
        const sent = simulator.received.filter(({ body }) => body.includes(client_order_id));
        assert.equal(sent.filter(({ target }) => target === orderPath).length, 1, 'sent once');
        // One is left without a client, for the other version's schedule.
        const left = { ...terms, client_order_id: `left-${first}` };
        await ask(first, orderPath, { account_id: accountId, new_orders: [newOrder(left)] });
        await time.sleep(5 * minute);
        const report = await fleet.settle(other);
        assert.ok('accepted' in report && report.accepted + report.refused > 0, JSON.stringify(report));
        const cancelled = await ask(other, cancelOrder.path, { account_id: accountId, client_order_id });
        assert.equal(cancelled.status, 200, JSON.stringify(cancelled));
      }
    }
    const limiterKeys = new Set(fleet.tables.items(platformNames.limiter).map(({ pk }) => pk?.S));
    assert.equal(limiterKeys.size, 2, 'both versions count market data and instruments under one key each');
    await time.sleep(5 * minute);
    await fleet.settle('today');
    // The counter of both has what is open in the upstream's book: one order of each round.
    const item = fleet.tables.items(platformNames.journal).find(({ pk }) => pk?.S === 'counter stack');
    assert.equal(JSON.parse(item?.state?.S ?? '{}').open, '40');
    assert.deepEqual(errors, []);
  };
  let isOver = false;
  const running = run().finally(() => {
    isOver = true;
  });
  running.catch(() => {});
  try {
    while (!isOver) await time.passUntil(time.now + 1000);
    await running;
  } finally {
    time.stop();
    await simulator.close();
  }
}

const defects: readonly (Defect & { readonly finding: RegExp })[] = [
  {
    defect: 'the entry of an order has another key',
    file: 'lib/orders/parts.ts',
    find: "names.nameOf('entry', 'order', order.account",
    by: "names.nameOf('entry', 'orders', order.account",
    finding: /not_recorded/,
  },
  {
    defect: 'an attribute of an entry has another name',
    file: 'functions/aws/dynamo-order-entries.ts',
    find: "['send_by', numberOf]",
    by: "['sent_by', numberOf]",
    finding: /journal_unavailable/,
  },
  {
    defect: 'the limiter counts under another key',
    file: 'lib/limiter/limiter.ts',
    find: 'await limiterKey(bucket, appKey)',
    by: 'await limiterKey(bucket, appKey + bucket)',
    finding: /under one key each/,
  },
  {
    defect: 'counters of checks have another key',
    file: 'lib/guard-rails/guard.ts',
    find: 'string => `counter $',
    by: 'string => `counters $',
    finding: / !== '40'/,
  },
  {
    defect: 'users have other names',
    file: 'lib/access/identity.ts',
    find: "names.nameOf('user', principal.kind",
    by: "names.nameOf('users', principal.kind",
    finding: /forbidden/,
  },
];

describe('both versions at once', orTell(withoutHistory()), () => {
  let earlier: Version;
  beforeAll(async () => {
    earlier = await earlierVersion();
  });

  test('each order is placed once and told rightly, whichever version began it', async () => {
    await upgrade({ earlier, today: await versionOfToday() });
  });

  for (const { finding, ...defect } of defects)
    test(`caught: ${defect.defect}`, async () => {
      const today = await versionOfToday(defect);
      await assert.rejects(upgrade({ earlier, today }), finding);
    });
});
