/** Limits and the kill switch of a deployed gateway: what an operator sets holds in warm functions, and cancels go through. */

import assert from 'node:assert/strict';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { describe, test } from 'vitest';
import { cancelOrder } from '../../lib/catalogue/index.ts';
import type { ControlAdmin } from '../../lib/guard-rails/index.ts';
import { accountId, orderBody, orderPath } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { answerOf, deployedStage, pause } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { emulatorIdentity, tradingOperatorOf } from './operator.ts';

describe('trading controls on the emulator', needsEmulator(), () => {
  let admin: ControlAdmin;
  let orders = 0;
  const stage = deployedStage({
    granted: true,
    props: { groups: { orders: 'iam' }, trading: { limits: { max_order_quantity: '1000' } } },
    async prepare() {
      admin = await tradingOperatorOf(stage);
    },
  });

  const place = (more = {}) => {
    const client_order_id = `controls-order-${++orders}`;
    const order = { client_order_id, order_type: 'LIMIT', limit_price: '1.10', quantity: '1', ...more };
    return answerOf(stage, orderPath, orderBody(order));
  };
  const sent = () => stage.simulator.received.filter(({ method }) => method === 'POST').length;

  /** Places orders until one is answered so; a function may use what it knows for five seconds. */
  async function until(status: number, more = {}) {
    for (;;) {
      const reply = await place(more);
      if (reply.status === status) return reply;
      assert.ok([200, 403].includes(reply.status), reply.text);
      await pause(250);
    }
  }

  test('the limits of the stage hold from the beginning, at their boundary', async () => {
    const before = sent();
    const blocked = await place({ quantity: '1001' });
    assert.deepEqual([blocked.status, blocked.body.code], [403, 'order_blocked']);
    assert.equal(sent(), before);
    const placed = await place({ quantity: '1000' });
    assert.equal(placed.status, 200, placed.text);
  });

  test('limits that an operator sets take the place of the stage’s, or take it away', async () => {
    const subject = { kind: 'gateway' } as const;
    await admin.apply({ action: 'limits', subject, changes: { max_order_quantity: '10' } });
    await until(403, { quantity: '11' });
    await admin.apply({ action: 'limits', subject, changes: { max_order_quantity: null } });
    await until(200, { quantity: '1001' });
  });

  test('an order leaves the open notional when the deployed settlement sees its end', async () => {
    const subject = { kind: 'account', id: accountId } as const;
    await admin.apply({ action: 'limits', subject, changes: { max_open_notional: '30' } });
    const blocked = await until(403, { quantity: '28' });
    assert.match(blocked.text, /max_open_notional/);
    const open = `controls-order-${orders + 1}`;
    assert.equal((await place({ quantity: '20' })).status, 200);
    assert.equal((await place({ quantity: '20' })).status, 403);
    const ended = JSON.stringify({ account_id: accountId, client_order_id: open });
    assert.equal((await answerOf(stage, cancelOrder.path, ended)).status, 200);
    const lambda = new LambdaClient(clientConfig(stage.emulator));
    const FunctionName = stage.outputs.OrderSettlementFunction;
    // Lists lag behind, so that an order counts for half a minute at least.
    for (;;) {
      const { Payload } = await lambda.send(new InvokeCommand({ FunctionName, Payload: '{}' }));
      const { released } = JSON.parse(new TextDecoder().decode(Payload)) as { readonly released: number };
      if (released > 0) break;
      await pause(2000);
    }
    assert.equal((await place({ quantity: '20' })).status, 200);
    await admin.apply({ action: 'limits', subject, changes: { max_open_notional: null } });
  });

  test('a stop of the gateway, of the account or of the user ends placing until it is resumed; cancels go through', async () => {
    for (const subject of [
      { kind: 'gateway' },
      { kind: 'account', id: accountId },
      { kind: 'user', user: emulatorIdentity },
    ] as const) {
      const open = `controls-order-${orders + 1}`;
      assert.equal((await place()).status, 200);
      await admin.apply({ action: 'stop', subject, reason: 'a test' });
      const stopped = await until(403);
      assert.match(String(stopped.body.message ?? stopped.body.detail), /has been stopped since/);
      const before = sent();
      const cancelled = await answerOf(
        stage,
        cancelOrder.path,
        JSON.stringify({ account_id: accountId, client_order_id: open }),
      );
      assert.equal(cancelled.status, 200, cancelled.text);
      assert.equal(sent(), before + 1);
      await admin.apply({ action: 'resume', subject, reason: 'over' });
      await until(200);
    }
  });
});
