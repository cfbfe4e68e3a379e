/** Lookups by event through the deployed stack: bus and queue, direct calls, failures and dead letters. */

import assert from 'node:assert/strict';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, test } from 'vitest';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import { busEntry, parseReply, quoteLookupRequested, readRequested } from '../../lib/events/index.ts';
import { each } from '../support/each.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { deployedStage } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { collectReplies, drain, type Replies } from './replies.ts';
import { canary } from './stage.ts';

describe('lookups by event', needsEmulator(), () => {
  let replies: Replies;
  let sqs: SQSClient;
  let bus: EventBridgeClient;
  let lambda: LambdaClient;
  const stage = deployedStage({
    props: { events: {} },
    async prepare() {
      replies = await collectReplies(stage);
      const config = clientConfig(stage.emulator);
      sqs = new SQSClient(config);
      bus = new EventBridgeClient(config);
      lambda = new LambdaClient(config);
    },
  });

  const send = (body: object | string) =>
    sqs.send(
      new SendMessageCommand({
        QueueUrl: stage.outputs.LookupQueueUrl,
        MessageBody: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  const put = (event: Parameters<typeof busEntry>[0]) =>
    bus.send(
      new PutEventsCommand({
        Entries: [busEntry(event, { bus: stage.outputs.LookupBus ?? '', source: 'test' })],
      }),
    );
  const replyTo = async (id: string) => {
    await replies.until(() => replies.of(id).length > 0);
    const [event] = replies.of(id);
    const reply = parseReply(event);
    assert.ok(reply, JSON.stringify(event));
    return reply;
  };
  const invoke = async (event: object) => {
    const { FunctionError, Payload } = await lambda.send(
      new InvokeCommand({ FunctionName: stage.outputs.LookupFunction, Payload: JSON.stringify(event) }),
    );
    return { FunctionError, payload: JSON.parse(Buffer.from(Payload ?? []).toString()) };
  };

  test('a request on the bus and one in the queue are answered on the bus', async () => {
    await put(quoteLookupRequested({ request_id: 'bus-1', symbols: ['AAPL', 'MSFT'], category: 'US_STOCK' }));
    await send({ request_id: 'queue-1', symbols: ['NVDA', 'NOSUCH'], category: 'US_STOCK' });
    const fromBus = await replyTo('bus-1');
    assert.equal(fromBus.detailType, 'QuoteLookupCompleted');
    assert.deepEqual(each(fromBus.detail.quotes, 'symbol'), ['AAPL', 'MSFT']);
    const fromQueue = await replyTo('queue-1');
    assert.equal(fromQueue.detailType, 'QuoteLookupCompleted');
    assert.deepEqual(fromQueue.detail.unknown, ['NOSUCH']);
    assert.deepEqual(each(fromQueue.detail.quotes, 'symbol'), ['NVDA']);
  });

  test('another read of an open group, by its id', async () => {
    await put(
      readRequested(getStockSnapshots, {
        request_id: 'read-1',
        query: { symbols: 'AAPL', category: 'US_STOCK' },
      }),
    );
    const reply = await replyTo('read-1');
    assert.equal(reply.detailType, 'ReadCompleted');
    assert.equal((reply.detail.answer as { symbol: string }[])[0]?.symbol, 'AAPL');
  });

  // The emulator calls every error the same; what ours are called is looked at with the handler.
  test('a direct call has the reply, and a failure’s as the text of its error', async () => {
    const good = await invoke({ request_id: 'direct-1', symbols: ['AAPL'], category: 'US_STOCK' });
    assert.equal(good.FunctionError, undefined);
    assert.equal(good.payload.quotes[0].symbol, 'AAPL');
    const bad = await invoke({ request_id: 'direct-2', symbols: ['AAPL'], category: 'US' });
    assert.ok(bad.FunctionError);
    assert.equal(JSON.parse(bad.payload.errorMessage).code, 'invalid_request');
    const late = await invoke({
      request_id: 'direct-3',
      symbols: ['AAPL'],
      category: 'US_STOCK',
      deadline: '2026-01-01T00:00:00Z',
    });
    assert.equal(JSON.parse(late.payload.errorMessage).code, 'deadline_passed');
    // A message would name its queue and its requester itself.
    const detail = { request_id: 'direct-4', symbols: ['AAPL'], category: 'US_STOCK' };
    const message = {
      messageId: 'm',
      body: JSON.stringify({ source: 'test', 'detail-type': 'QuoteLookupRequested', detail }),
      attributes: { SentTimestamp: String(Date.now()) },
      messageAttributes: {},
      eventSource: 'aws:sqs',
      eventSourceARN: stage.outputs.LookupQueueArn,
    };
    const forged = await invoke({ Records: [message] });
    assert.equal(JSON.parse(forged.payload.errorMessage).code, 'invalid_request');
    assert.deepEqual(replies.of('direct-4'), []);
  });

  test('an expired request fails as such, without a call', async () => {
    await send({
      request_id: 'late-1',
      symbols: ['TSLA'],
      category: 'US_STOCK',
      deadline: '2026-01-01T00:00:00Z',
    });
    const reply = await replyTo('late-1');
    assert.equal(reply.detailType, 'QuoteLookupFailed');
    assert.deepEqual([reply.detail.code, reply.detail.retryable], ['deadline_passed', true]);
    assert.ok(stage.simulator.received.every(({ target }) => !target.includes('TSLA')));
  });

  test('what is no request lies among the dead letters, with the reason, and a sender with an id is told', async () => {
    await send('no json');
    await send({ request_id: 'wrong-1', symbols: [], category: 'US_STOCK' });
    await send({ request_id: 'wrong-2', operation: 'placeOrder' });
    const reply = await replyTo('wrong-1');
    assert.deepEqual(
      [reply.detailType, (reply.detail as { code: string }).code],
      ['QuoteLookupFailed', 'invalid_request'],
    );
    await replyTo('wrong-2');
    const dead = new Map<string, string>();
    while (dead.size < 3)
      for (const { Body = '', MessageAttributes } of await drain(
        sqs,
        stage.outputs.LookupDeadLettersUrl ?? '',
      ))
        dead.set(Body, MessageAttributes?.reason?.StringValue ?? '');
    assert.equal(
      dead.get('no json'),
      'invalid_request: /: not a JSON object: at line 1, column 1 a value is expected',
    );
    assert.ok([...dead.values()].every((reason) => reason.startsWith('invalid_request: ')));
  });

  test('the log holds figures, and nothing secret', () => {
    const log = stage.emulator.output();
    for (const secret of Object.values(canary)) assert.ok(!log.includes(secret));
  });
});
