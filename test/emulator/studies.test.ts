/** Studies on the emulator in brief: that they run, and that what they promise holds. How long anything takes is not judged. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { studyMarketStream } from './market-stream-study.ts';
import { studyOrderLatency } from './order-latency.ts';
import { ordersUnderFire } from './orders-study.ts';

describe('a study in brief', needsEmulator(), () => {
  // At another moment the upstream may not have the order, which then is free again after ten minutes.
  test('orders whose function is killed when they are placed: each is placed once, and told rightly', async () => {
    const orders = 12;
    const { placements, distinct, knows, toldWrongly, killed, sent, ...figures } = await ordersUnderFire(
      orders,
      (_random, requests) => (requests === 1 ? 'answered' : undefined),
    );
    assert.deepEqual(
      { placements, distinct, knows, toldWrongly, sent },
      {
        placements: orders,
        distinct: orders,
        knows: orders,
        toldWrongly: 0,
        sent: orders,
      },
      JSON.stringify(figures),
    );
    assert.ok(killed > 0);
  });

  test('the market stream whose listener is killed: no value goes back, and no age is told wrongly', async () =>
    assert.ok(await studyMarketStream(['10', '1', '400'])));

  test('orders with each kind of journal and limits: all of them pass', async () =>
    assert.ok(await studyOrderLatency(['1'])));
});
