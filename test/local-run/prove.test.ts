/**
 * The trials of `countersign prove` against a local run: a limit that is tried never exceeds the upstream's, an order ends
 * as it is known to, and a stream is measured.
 */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import { callGroup, tryLimit, tryStream } from '../../infra/commands/prove/prove-calls.ts';
import { tryOrder } from '../../infra/commands/prove/prove-order.ts';
import { openOrderStream } from '../../infra/commands/prove/prove-order-stream.ts';
import { orderInWords } from '../../infra/commands/prove/prove-words.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import type { LocalSettings } from '../../infra/local/settings.ts';
import type { ChooseFault } from '../../infra/simulator/index.ts';
import { getStockSnapshots, openable } from '../../lib/catalogue/index.ts';
import { viaGateway } from '../../lib/client/index.ts';
import { accountId, credentials } from '../support/core.ts';
import { until } from '../support/until.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const apiKey = 'key-of-this-test';
const pace = {
  clock: () => Date.now(),
  pause: () => new Promise<void>((resolve) => setTimeout(resolve, 10)),
};

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
  const { simulator } = run;
  assert.ok(simulator);
  return { simulator, connection: viaGateway({ baseUrl: run.url, apiKey }) };
}

describe('the order', () => {
  const lost: ChooseFault = ({ method, path }) =>
    method === 'POST' && /place/.test(path) ? { kind: 'drop-after' } : undefined;
  let cancels = 0;
  const cases: readonly (readonly [
    name: string,
    fault: ChooseFault | undefined,
    placed: string,
    ended: string,
    words: RegExp,
  ])[] = [
    ['is placed and cancelled', undefined, 'accepted', 'cancelled', /: accepted, then cancelled\.$/],
    [
      'is refused',
      ({ path }) =>
        /place/.test(path)
          ? { kind: 'status', status: 417, body: { error_code: 'NO_MARGIN', message: 'none' } }
          : undefined,
      'refused',
      'never placed',
      /: refused with upstream_rejected; nothing was placed\.$/,
    ],
    ['is found although its answer was lost', lost, 'accepted', 'cancelled', /: accepted, then cancelled\.$/],
    [
      'stays unknown while nothing shows it',
      (request) =>
        lost(request) ?? (/order/.test(request.path) ? { kind: 'status', status: 500 } : undefined),
      'unknown',
      'unknown',
      /it is not known whether it was placed\..* \*\*Whether it is open is not known: look it up at the broker/,
    ],
    [
      'is cancelled again where the first cancel is refused',
      ({ path }) =>
        /cancel/.test(path) && cancels++ === 0
          ? { kind: 'status', status: 417, body: { error_code: 'NOT_NOW', message: 'later' } }
          : undefined,
      'accepted',
      'cancelled',
      /: accepted, then cancelled\. The cancel was answered upstream_rejected\.$/,
    ],
    [
      'may be open where no cancel gets through',
      ({ path }) => (/cancel/.test(path) ? { kind: 'status', status: 500 } : undefined),
      'accepted',
      'unknown',
      /: accepted\. The cancel was answered \w+\. \*\*Whether it is open is not known/,
    ],
  ];
  for (const [name, fault, placed, ended, words] of cases)
    test(name, async (t) => {
      const { simulator, connection } = await runFor(t);
      simulator.bring(fault);
      const tried = await tryOrder(connection, connection, accountId, pace);
      assert.ok(tried);
      assert.deepEqual([tried.placed, tried.ended], [placed, ended], JSON.stringify(tried));
      assert.match(orderInWords(tried), words);
      assert.ok(simulator.orders.length <= 1);
      for (const { order } of simulator.orders.map((one) => ({ order: JSON.stringify(one) })))
        assert.match(order, /"quantity":"1"/);
    });
});

describe('the stream of order events', () => {
  const tradeEvents = { isShown: false };

  test('tells the replacement and the cancellation of the order', async (t) => {
    const { simulator, connection } = await runFor(t, { tradeEvents });
    const stream = openOrderStream(connection, pace);
    assert.ok(((await stream.began()) ?? -1) >= 0);
    await until(() => simulator.events.open === 1);
    const tried = await tryOrder(connection, connection, accountId, pace, stream);
    await stream.close();
    assert.match(
      orderInWords(tried ?? assert.fail()),
      /: accepted, then cancelled\. The stream told the replacement after \d+ ms\. The stream told the cancellation after \d+ ms\.$/,
    );
    const [change] = simulator.trading.changes();
    assert.equal(change?.scene, 'MODIFY_SUCCESS');
  });

  test('that is refused says with what, and tells nothing', async (t) => {
    const { connection } = await runFor(t);
    const stream = openOrderStream(connection, pace);
    await assert.rejects(() => stream.began(), { code: 'unknown_operation' });
    assert.equal(await stream.told(0, () => true), undefined);
    await stream.close();
  });
});

describe('the limit', () => {
  const limits = { upstreamLimits: 'published-sandbox', share: 0.5, already: 80 } as const;

  test('a gateway that keeps none is told apart, and is not sent more than the upstream allows', async () => {
    let sent = 0;
    const keepsNone = viaGateway({
      baseUrl: 'http://127.0.0.1:9',
      fetch: async () => {
        sent++;
        return new Response('{"symbol":"AAPL","result":[]}', {
          headers: { 'content-type': 'application/json' },
        });
      },
    });
    const trial = await tryLimit(keepsNone, limits, pace);
    assert.deepEqual([sent, trial.sent, trial.holds], [30, 30, false]);
    sent = 0;
    const late = await tryLimit(keepsNone, { ...limits, already: 290 }, pace);
    assert.deepEqual([sent, late.allowed], [10, 10]);
  });

  test('one that the upstream refuses does not hold', async (t) => {
    const { simulator, connection } = await runFor(t);
    simulator.bring(() => ({ kind: 'status', status: 429 }));
    assert.equal((await tryLimit(connection, { ...limits, already: 295 }, pace)).holds, false);
  });
});

test('calls that are refused are counted by their codes', async (t) => {
  const { simulator, connection } = await runFor(t);
  simulator.bring(() => ({ kind: 'status', status: 404 }));
  const facts = { group: 'market-data', access: 'api-key' } as const;
  const { outcomes, ms } = await callGroup(facts, getStockSnapshots, connection, pace, undefined);
  assert.equal(ms, undefined);
  assert.equal(outcomes.answered, undefined);
  assert.equal(
    Object.values(outcomes).reduce((sum, one) => sum + one, 0),
    10,
  );
});

test('a stream of quotes: when they came first, and how old they are', async (t) => {
  const { connection } = await runFor(t);
  const { firstMs, updates, oldestMs } = await tryStream(connection, 3, pace);
  assert.ok(updates > 0 && (firstMs ?? -1) >= 0 && (oldestMs ?? -1) >= 0);
});
