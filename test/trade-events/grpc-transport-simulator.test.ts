/** The transport at the simulated upstream, whose server is other code: it opens, delivers, and ends as the upstream does. */

import assert from 'node:assert/strict';
import { onTestFinished, test } from 'vitest';
import { createGrpcTransport } from '../../functions/aws/grpc-transport.ts';
import { type EventFault, type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import { createSubscriptionSigner } from '../../lib/signer/index.ts';
import {
  encodeSubscribeRequest,
  parseStreamMessage,
  StreamError,
  type StreamMessage,
} from '../../lib/trade-events/index.ts';
import { until } from '../support/until.ts';

const credentials = { appKey: 'transport-key', appSecret: 'transport-secret' };

async function start(): Promise<Simulator> {
  const simulator = await startSimulator({ ...credentials, events: { pingMs: 0 } });
  onTestFinished(() => simulator.close());
  return simulator;
}

/** A stream that is read as it comes. */
function open({ events, accounts }: Simulator, appSecret = credentials.appSecret) {
  const messages: StreamMessage[] = [];
  const controller = new AbortController();
  const read = async () => {
    const request = {
      subscribeType: 7,
      timestamp: Date.now(),
      accounts: accounts.map(({ account_id }) => account_id),
    };
    const message = encodeSubscribeRequest(request);
    const { signSubscription } = createSubscriptionSigner({ ...credentials, appSecret });
    const transport = createGrpcTransport({ url: `http://127.0.0.1:${events.port}` });
    const call = { metadata: await signSubscription(message), message, signal: controller.signal };
    for await (const bytes of transport.open(call)) messages.push(parseStreamMessage(bytes));
  };
  const ended = read().then(
    () => 'OK',
    (error: unknown) => {
      assert.ok(error instanceof StreamError, String(error));
      return error.status;
    },
  );
  return { messages, ended, stop: () => controller.abort() };
}

const kinds = (messages: readonly StreamMessage[]) => messages.map(({ kind }) => kind);

test('a signed subscription opens, and delivers', async () => {
  const simulator = await start();
  const { messages, ended, stop } = open(simulator);
  await until(() => messages.length === 1);
  simulator.events.ping();
  simulator.events.settlePosition(simulator.accounts[0]!.account_id);
  await until(() => messages.length === 3);
  assert.deepEqual(kinds(messages), ['subscribed', 'ping', 'position']);
  assert.equal(JSON.parse(messages[2]!.payload).settle_result, 'YES');
  stop();
  assert.equal(await ended, 'OK');
  // The connection is gone, and the place free.
  await until(() => simulator.events.open === 0);
});

test('a signature with another secret is an authentication error', async () => {
  const { messages, ended } = open(await start(), 'another');
  assert.equal(await ended, 'UNAUTHENTICATED');
  assert.deepEqual(kinds(messages), ['authentication_error']);
});

for (const [fault, status, last] of [
  [{ kind: 'expire' }, 'OK', 'expired'],
  [{ kind: 'too-many-connections' }, 'RESOURCE_EXHAUSTED', 'too_many_connections'],
  [{ kind: 'authentication-error' }, 'UNAUTHENTICATED', 'authentication_error'],
  [{ kind: 'drop' }, 'UNAVAILABLE', 'subscribed'],
  [{ kind: 'goaway' }, 'UNAVAILABLE', 'subscribed'],
  [{ kind: 'goaway', code: 2 }, 'INTERNAL', 'subscribed'],
  // It asks for calm, which the listener answers with a pause.
  [{ kind: 'goaway', code: 11 }, 'RESOURCE_EXHAUSTED', 'subscribed'],
] as const satisfies readonly (readonly [EventFault, string, string])[])
  test(`${JSON.stringify(fault)}: ends with ${status}`, async () => {
    const simulator = await start();
    const { messages, ended } = open(simulator);
    await until(() => messages.length === 1);
    simulator.events.bring(fault);
    assert.equal(await ended, status);
    assert.equal(kinds(messages).at(-1), last);
  });

test('a connection that went dead ends when its reader wants it to', async () => {
  const simulator = await start();
  const { messages, ended, stop } = open(simulator);
  await until(() => messages.length === 1);
  simulator.events.bring({ kind: 'freeze' });
  simulator.events.ping();
  stop();
  assert.equal(await ended, 'OK');
  assert.deepEqual(kinds(messages), ['subscribed']);
});
