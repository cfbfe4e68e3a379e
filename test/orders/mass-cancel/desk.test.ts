/** Stops and failed checks that cancel what is open, against the simulated upstream: of whom, when, and of no one else. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { cancelOrder } from '../../../lib/catalogue/index.ts';
import { maxControlAgeMs } from '../../../lib/guard-rails/index.ts';
import { readRecord } from '../../../lib/orders/record.ts';
import { minute, startDesk, user } from './desk.ts';

const gateway = { kind: 'gateway' } as const;
const stop = { action: 'stop', reason: 'a strategy runs wild', cancelOpen: true } as const;
const idsOf = (...placed: readonly { readonly id: string }[]) => placed.map(({ id }) => id).sort();

describe('a stop that cancels', () => {
  test('over warm instances: all that is open goes, also what was leaving, and nothing is placed after it', async (t) => {
    const { state, simulator, accounts, controls, admin, place, open, run } = await startDesk(t, {
      count: 5,
      simulated: { showAfterMs: 20_000 },
    });
    for (const instance of [0, 1, 2, 3, 4])
      for (const account of accounts.keys())
        assert.equal((await place({ instance, account, user: 'alice' })).reply.status, 200);
    await place({ elsewhere: true });
    state.clock += 25_000;
    for (const instance of [0, 1, 2, 3, 4]) await place({ instance, user: 'alice' });
    const stoppedAt = state.clock;
    await admin.apply({ ...stop, subject: gateway });
    let leaving = 0;
    while (state.clock < stoppedAt + 2 * maxControlAgeMs) {
      state.clock += 500;
      const replies = await Promise.all(
        [0, 1, 2, 3, 4].map((instance) => place({ instance, user: 'alice' })),
      );
      leaving += replies.filter(({ reply }) => reply.status === 200).length;
      if (state.clock === stoppedAt + 500) assert.ok((await run()).accepted >= 10);
    }
    assert.ok(leaving > 0);
    const late = simulator.orders.filter(({ placedAt }) => placedAt > stoppedAt + maxControlAgeMs);
    assert.equal(late.length, 0);
    let runs = 0;
    while ((await controls.massCancels.open()).length > 0 && runs++ < 20) {
      state.clock += minute;
      await run();
    }
    for (const account of accounts.keys()) assert.deepEqual(await open(account), []);
    assert.ok(state.clock - stoppedAt < 16 * minute);
  });

  test('cancels through the journal: the audit has each cancel, and no user’s name beside it', async (t) => {
    const { admin, place, run, journal } = await startDesk(t);
    const { id } = await place({ user: 'alice' });
    const finished: string[] = [];
    const finish = journal.finish;
    Object.assign(journal, {
      finish: (outcome: Parameters<typeof finish>[0]) => {
        finished.push(outcome.record);
        return finish(outcome);
      },
    });
    await admin.apply({ ...stop, subject: { kind: 'user', user: user('alice') } });
    await run();
    const [record, ...more] = finished.map(readRecord);
    assert.equal(more.length, 0);
    const { operation, client_order_id, request_id = '', user: by, outcome } = record!;
    assert.deepEqual(
      [operation, client_order_id, by, outcome?.evidence],
      [cancelOrder.id, id, undefined, 'answer'],
    );
    assert.match(request_id, /^mass-cancel-/);
  });
});

describe('a run', () => {
  test('beside others, and again at once, sends each cancel once; a minute later what is open goes again', async (t) => {
    const { state, simulator, accounts, admin, place, run, cancelled, open } = await startDesk(t);
    const placed = [await place({ user: 'alice' }), await place({ user: 'alice' })];
    for (const { id } of placed) simulator.trading.failNextChange(accounts[0]!, id);
    await admin.apply({ ...stop, subject: { kind: 'user', user: user('alice') } });
    await Promise.all([run(), run()]);
    await run();
    assert.deepEqual(cancelled(), idsOf(...placed));
    assert.deepEqual(
      (await open()).filter((id) => idsOf(...placed).includes(id)),
      idsOf(...placed),
    );
    state.clock += minute;
    await run();
    await run();
    assert.deepEqual(cancelled(), idsOf(...placed, ...placed));
    assert.ok((await open()).every((id) => !idsOf(...placed).includes(id)));
  });

  test('to which the upstream shows no list cancels nothing, and the next one does', async (t) => {
    const { state, simulator, admin, place, run, open, failures } = await startDesk(t);
    await place({ user: 'alice' });
    await admin.apply({ ...stop, subject: gateway });
    simulator.bring(({ path }) =>
      path.includes('open-orders') ? { kind: 'status', status: 500, body: {} } : undefined,
    );
    const first = await run();
    assert.deepEqual([first.accepted, first.unread > 0, first.finished], [0, true, 0]);
    assert.ok(
      failures.length > 0 && failures.every((words) => !/of-the-desk|Q7H2/.test(words)),
      failures.join(),
    );
    simulator.bring();
    state.clock += minute;
    await run();
    assert.deepEqual(await open(), []);
  });
});
