/** The function of mass cancels as it starts and as it ends: its environment, its line in the log, what Lambda hears. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { massCancelPorts } from '../../functions/aws/order-ports.ts';
import { massCancels, start } from '../../functions/compose/functions.ts';
import { startAwsStub } from '../lookups/aws-stub.ts';
import { hostWith } from '../support/deployed.ts';
import { each } from '../support/each.ts';
import { parts } from '../support/parts.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const env = parts('UPSTREAM', 'LIMITER', 'IDENTITY', 'JOURNAL', 'MASS_CANCELS');
const context = { getRemainingTimeInMillis: () => 60_000 };

/** @param items of the table of controls */
async function started(t: TestContext, items: readonly object[], change: object = {}) {
  const stub = await startAwsStub(t, ({ action }) =>
    action === 'Query' ? { Items: items } : action === 'GetSecretValue' ? { SecretString: '' } : {},
  );
  process.env.AWS_ENDPOINT_URL = stub.url;
  t.onTestFinished(() => {
    delete process.env.AWS_ENDPOINT_URL;
  });
  const lines: Readonly<Record<string, unknown>>[] = [];
  const log = (line: Readonly<Record<string, unknown>>) => void lines.push(line);
  const ports = massCancelPorts(hostWith(log, { functionName: 'mass-cancels' }));
  return { handler: start(massCancels, { ...env, ...change }, ports), lines, stub };
}

test('what is missing or wrong in the environment is one line, and each run fails', async (t) => {
  const { handler, lines } = await started(t, [], {
    MASS_CANCELS: '',
    IDENTITY: undefined,
    UPSTREAM: 'https://upstream.example',
  });
  assert.deepEqual(
    lines.map(({ level, event, faults }) => [
      level,
      event,
      (faults as string[]).map((one) => one.split(':')[0]),
    ]),
    [['error', 'wrong_configuration', ['MASS_CANCELS', 'IDENTITY', 'UPSTREAM']]],
  );
  await assert.rejects(handler({}, context), /wrong_configuration/);
});

test('without a request neither the upstream nor the journal is asked, and the metrics say so', async (t) => {
  const { handler, lines, stub } = await started(t, []);
  const report = await handler({}, context);
  assert.deepEqual([report.requests, report.oldestMs], [0, 0]);
  const [line] = lines.filter(({ event }) => event === 'open_orders_cancelled');
  assert.deepEqual([line?.MassCancelsOpen, line?.MassCancelSeconds, line?.Function], [0, 0, 'mass-cancels']);
  const asked = stub.sent.filter(({ body }) => ['controls', 'journal'].includes(String(body.TableName)));
  assert.deepEqual(each(asked, 'action'), ['Query']);
});

test('a request that cannot be served is open, and its age is a metric', async (t) => {
  const now = Date.now();
  const { handler, lines } = await started(t, [
    {
      pk: { S: 'mass-cancel' },
      sk: { S: 'stack' },
      id: { S: 'id' },
      at: { N: String(now - 700_000) },
      placed_before: { N: String(now - 635_000) },
    },
  ]);
  const report = await handler({}, context);
  assert.deepEqual([report.requests, report.finished, report.unread], [1, 0, 1]);
  const [line] = lines.filter(({ event }) => event === 'open_orders_cancelled');
  assert.equal(line?.MassCancelsOpen, 1);
  assert.ok(Number(line?.MassCancelSeconds) >= 700, `${line?.MassCancelSeconds}`);
  assert.ok(lines.some(({ level, event }) => level === 'warn' && event === 'open_order_not_cancelled'));
});

test('what is no request fails the run, so that the alarm hears of it', async (t) => {
  const { handler } = await started(t, [{ pk: { S: 'mass-cancel' }, sk: { S: 'stack' } }]);
  await assert.rejects(handler({}, context), /an item without/);
});
