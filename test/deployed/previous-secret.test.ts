/** A current secret that cannot be used, and the previous one in its place: for reads, and no storm. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { startSimulator } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createGateway, type RequestReport } from '../../lib/gateway/index.ts';
import { memorySecrets } from './memory-secrets.ts';
import { accountsRequest, orderRequest } from './send.contract.ts';

const good = { appKey: 'good', appSecret: 'good-secret' };
const wrong = { appKey: 'wrong', appSecret: 'wrong-secret' };
const text = ({ appKey, appSecret }: typeof good) =>
  JSON.stringify({ app_key: appKey, app_secret: appSecret });

async function gatewayWith(t: TestContext, ...texts: readonly string[]) {
  let now = Date.now();
  const simulator = await startSimulator({ ...good, clock: () => now });
  t.onTestFinished(() => simulator.close());
  const secrets = memorySecrets(...texts);
  const reports: RequestReport[] = [];
  const gateway = createGateway({
    access: 'single-user',
    operations,
    upstreamBaseUrl: simulator.url,
    secrets,
    clock: () => now,
    report: (report) => reports.push(report),
  });
  const ask = async (request: Parameters<typeof gateway.handle>[0]) => {
    const { status } = await gateway.handle(request);
    const { code, attempts } = reports.at(-1)!;
    return code === undefined ? [status, attempts] : [status, attempts, code];
  };
  return {
    simulator,
    secrets,
    now: () => now,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    read: () => ask(accountsRequest),
    readBy: (deadline: number) => ask({ ...accountsRequest, deadline }),
    order: () => ask(orderRequest(simulator.accounts[0]!.account_id)),
  };
}

test('a wrong secret was put: reads go on with the previous one, orders do not', async (t) => {
  const { simulator, secrets, read, order } = await gatewayWith(t, text(good), text(wrong));
  assert.deepEqual(await read(), [200, 2]);
  // Known by now to be the one that works.
  assert.deepEqual(await read(), [200, 1]);
  assert.deepEqual(await order(), [502, 1, 'upstream_auth_failed']);
  assert.deepEqual(await read(), [200, 1]);
  assert.equal(simulator.received.filter(({ method }) => method === 'POST').length, 1);
  assert.equal(simulator.orders.length, 0);
  assert.deepEqual(secrets.reads, ['current', 'current', 'previous']);
});

test('after the pause the current secret is tried again, and kept to once it is active', async (t) => {
  const { simulator, read, order, pass } = await gatewayWith(t, text(good), text(wrong));
  await read();
  pass(10_000);
  assert.deepEqual(await read(), [200, 2]);
  simulator.setCredentials([wrong]);
  // The previous one is refused meanwhile: the current one takes over at once.
  assert.deepEqual(await read(), [200, 2]);
  assert.deepEqual(await read(), [200, 1]);
  assert.deepEqual(await order(), [200, 1]);
});

test('a newer current secret wins over the previous one', async (t) => {
  const { secrets, read, pass } = await gatewayWith(t, text(wrong));
  assert.deepEqual(await read(), [502, 1, 'upstream_auth_failed']);
  secrets.set(text(good));
  pass(10_000);
  assert.deepEqual(await read(), [200, 2]);
  assert.deepEqual(secrets.reads, ['current', 'current', 'previous', 'current']);
});

test('a current secret of the wrong form: reads take the previous one, orders are refused', async (t) => {
  const { secrets, read, order, pass } = await gatewayWith(t, text(good), 'not JSON');
  assert.deepEqual(await read(), [200, 1]);
  assert.deepEqual(await read(), [200, 1]);
  assert.deepEqual(secrets.reads, ['current', 'previous']);
  assert.deepEqual(await order(), [503, 0, 'secret_invalid']);
  secrets.set(text(good));
  pass(10_000);
  assert.deepEqual(await read(), [200, 1]);
  assert.deepEqual(await order(), [200, 1]);
});

test('both of the wrong form: the code says so', async (t) => {
  const { read } = await gatewayWith(t, 'not JSON either', 'not JSON');
  assert.deepEqual(await read(), [503, 0, 'secret_invalid']);
});

test('an emptied secret shuts the gateway: nothing stands in for it', async (t) => {
  const { secrets, read } = await gatewayWith(t, text(good), '');
  assert.deepEqual(await read(), [503, 0, 'secret_not_set']);
  assert.deepEqual(secrets.reads, ['current']);
});

test('both refused: two attempts once, then one each, and no storm at the source', async (t) => {
  const { simulator, secrets, read, pass } = await gatewayWith(t, text(good), text(wrong));
  simulator.setCredentials([]);
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(Array.from({ length: 30 }, read));
    for (const [status] of answers) assert.equal(status, 502);
    assert.deepEqual(await read(), [502, 1, 'upstream_auth_failed']);
    pass(10_000);
  }
  assert.deepEqual(secrets.reads, ['current', 'current', 'previous', 'current', 'previous']);
  assert(simulator.received.length <= 2 * 62);
});

test('the source fails when it is asked for the previous one: the refusal stands', async (t) => {
  const { secrets, read } = await gatewayWith(t, text(wrong));
  assert.deepEqual(await read(), [502, 1, 'upstream_auth_failed']);
  secrets.setDown(true);
  assert.deepEqual(await read(), [502, 1, 'upstream_auth_failed']);
});

test('the last good secret outlives a source that is down, and its previous version', async (t) => {
  const { secrets, read, order, pass } = await gatewayWith(t, text(good));
  assert.deepEqual(await read(), [200, 1]);
  secrets.setDown(true);
  pass(400_000);
  assert.deepEqual(await read(), [200, 1]);
  assert.deepEqual(await order(), [200, 1]);
});

test('with too little time left nothing is sent, and the answer says so', async (t) => {
  const { simulator, now, readBy } = await gatewayWith(t, text(good));
  assert.deepEqual(await readBy(now() + 999), [504, 0, 'gateway_timeout']);
  assert.equal(simulator.received.length, 0);
  assert.deepEqual(await readBy(now() + 5000), [200, 1]);
});
