/** SQS, EventBridge, the handler, its settings and its figures. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import type { SQSRecord } from 'aws-lambda';
import { test } from 'vitest';
import { createEventBus } from '../../functions/aws/event-bridge.ts';
import { lookupPorts } from '../../functions/aws/ports.ts';
import { createLookupQueue } from '../../functions/aws/sqs.ts';
import { lookups, start } from '../../functions/compose/functions.ts';
import { createDirectHandler, createQueueHandler } from '../../functions/events/lookup-handler.ts';
import { toMessage } from '../../functions/events/sqs-message.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { createLookupMetrics } from '../../functions/log/lookup-metrics.ts';
import { readLookupSettings } from '../../functions/settings/lookup-settings.ts';
import type { Environment, Parts } from '../../functions/settings/parts.ts';
import { type Group, openByDefault, operations } from '../../lib/catalogue/index.ts';
import { rejectedBy } from '../../lib/gateway/upstream-answer.ts';
import type { LookupMessage } from '../../lib/lookups/index.ts';
import { hostWith } from '../support/deployed.ts';
import { part, parts } from '../support/parts.ts';
import { startAwsStub } from './aws-stub.ts';
import { createWorld, quotes, symbolsOf } from './world.ts';

const record = (body: string, attributes: SQSRecord['messageAttributes'] = {}): SQSRecord => ({
  messageId: 'm',
  receiptHandle: 'h',
  body,
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '1795239874823',
    SenderId: 's',
    ApproximateFirstReceiveTimestamp: '1795239874900',
  },
  messageAttributes: attributes,
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:r:1:queue',
  awsRegion: 'us-east-1',
});
const number = (stringValue: string) => ({ dataType: 'Number' as const, stringValue });
const queues = { queueUrl: 'https://sqs.example/1/queue', busQueueUrl: undefined };
const message = (body: string, waits = 0): LookupMessage => ({ id: body, body, sentAt: 1000, waits });
const wait = (body: string, seconds = 5) => ({ message: message(body), seconds });

test('a message carries its first time stamp, and no sender gains time by setting it', () => {
  assert.deepEqual(toMessage(record('b')), { id: 'm', body: 'b', sentAt: 1795239874823, waits: 0 });
  const put = { 'countersign-put-at': number('1795239874000') };
  const waited = {
    ...put,
    'countersign-sent-at': number('1795239870000'),
    'countersign-waits': number('3'),
  };
  assert.deepEqual(toMessage(record('b', waited)), { id: 'm', body: 'b', sentAt: 1795239870000, waits: 3 });
  const odd = { ...put, 'countersign-sent-at': number('9999999999999'), 'countersign-waits': number('-1') };
  assert.deepEqual(toMessage(record('b', odd)), { id: 'm', body: 'b', sentAt: 1795239874823, waits: 0 });
});

test('where the bus has a queue of its own, what came from the other one is direct, and waits there', async (t) => {
  const url = 'https://sqs.example/1/bus-queue';
  const from = (name: string) => ({ ...record('b'), eventSourceARN: `arn:aws:sqs:r:1:${name}` });
  assert.equal(toMessage(from('bus-queue'), url).isDirect, undefined);
  assert.equal(toMessage(from('queue'), url).isDirect, true);
  assert.equal(toMessage(from('queue')).isDirect, undefined);

  const stub = await startAwsStub(t, () => ({ Successful: [], Failed: [] }));
  const queue = createLookupQueue({
    queueUrl: `${stub.url}/queue`,
    busQueueUrl: `${stub.url}/bus-queue`,
    deadLetterUrl: `${stub.url}/dead`,
    endpoint: stub.url,
  });
  const direct = { message: { ...message('direct'), isDirect: true }, seconds: 5 };
  await queue.putAgain([wait('of the bus'), direct]);
  assert.deepEqual(
    stub.sent
      .map(({ body }) => [body.QueueUrl, (body.Entries as { MessageBody: string }[])[0]?.MessageBody])
      .sort(),
    [
      [`${stub.url}/bus-queue`, 'of the bus'],
      [`${stub.url}/queue`, 'direct'],
    ],
  );
});

test('a message that was redriven counts from then, whatever it carries of its first time', async () => {
  const hour = 3_600_000;
  const came = 1795239874823;
  const history = {
    'countersign-sent-at': number(String(came - hour - 200_000)),
    'countersign-put-at': number(String(came - hour)),
    'countersign-waits': number('9'),
  };
  const request = quotes(['A']);
  const redriven = record(JSON.stringify(request), history);
  assert.deepEqual(toMessage(redriven), { id: 'm', body: redriven.body, sentAt: came, waits: 0 });
  const world = createWorld();
  world.now = came + 100_000;
  const handler = createQueueHandler(world.lookups, queues, world.options.clock);
  assert.deepEqual(await handler({ Records: [redriven] }, context), { batchItemFailures: [] });
  assert.equal(world.repliesTo(request.request_id)[0]?.type, 'QuoteLookupCompleted');

  const own = quotes(['A'], { deadline: new Date(came - 1).toISOString() });
  await handler({ Records: [record(JSON.stringify(own), history)] }, context);
  assert.equal(world.repliesTo(own.request_id)[0]?.detail.code, 'deadline_passed');
});

test('what waits is put again in tens, with its delay and history; what SQS did not take is named', async (t) => {
  const stub = await startAwsStub(t, ({ body }, nth) => {
    const entries = body.Entries as { Id: string }[];
    const failed = nth === 1 ? entries.slice(0, 1) : [];
    return {
      Successful: [],
      Failed: failed.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })),
    };
  });
  const failures: unknown[] = [];
  const queue = createLookupQueue({
    queueUrl: `${stub.url}/queue`,
    deadLetterUrl: `${stub.url}/dead`,
    endpoint: stub.url,
    clock: () => 5000,
    onFailure: (error) => failures.push(error),
  });
  const waits = Array.from({ length: 12 }, (_, index) => wait(`body ${index}`));
  const large = wait('x'.repeat(200 * 1024));
  const failed = await queue.putAgain([...waits, large]);
  assert.equal(failed.size, 1);
  assert.equal(failures.length, 1);
  const sizes = stub.sent.map(({ body }) => (body.Entries as []).length);
  assert.deepEqual(sizes.sort(), [10, 3]);
  const [entry] = stub.sent.flatMap(({ body }) => body.Entries as Record<string, unknown>[]);
  assert.equal(entry?.DelaySeconds, 5);
  assert.deepEqual(entry?.MessageAttributes, {
    'countersign-sent-at': { DataType: 'Number', StringValue: '1000' },
    'countersign-put-at': { DataType: 'Number', StringValue: '5000' },
    'countersign-waits': { DataType: 'Number', StringValue: '1' },
  });
  const two = await queue.putAgain([large, wait('y'.repeat(100 * 1024))]);
  assert.equal(two.size, 0);
  assert.equal(stub.sent.length, 4, 'two that do not fit into one call');
});

test('a queue that is away gives all of them back; a dead letter that was not put is an error', async (t) => {
  const stub = await startAwsStub(t, () => 500);
  const queue = createLookupQueue({
    queueUrl: `${stub.url}/queue`,
    deadLetterUrl: `${stub.url}/dead`,
    endpoint: stub.url,
  });
  const one = wait('a');
  assert.deepEqual([...(await queue.putAgain([one]))], [one.message]);
  await assert.rejects(queue.deadLetter(one.message, 'r'));
});

test('a dead letter has the body as it came, and a reason that SQS takes', async (t) => {
  const stub = await startAwsStub(t, ({ body }) => ({
    MessageId: 'm',
    MD5OfMessageBody: createHash('md5').update(String(body.MessageBody)).digest('hex'),
  }));
  const queue = createLookupQueue({
    queueUrl: `${stub.url}/queue`,
    deadLetterUrl: `${stub.url}/dead`,
    endpoint: stub.url,
  });
  await queue.deadLetter(message('{"ü":1'), `invalid_request: \u0000ü${'x'.repeat(1000)}`);
  const [{ action, body }] = stub.sent as [(typeof stub.sent)[0]];
  assert.equal(action, 'SendMessage');
  assert.equal(body.QueueUrl, `${stub.url}/dead`);
  assert.equal(body.MessageBody, '{"ü":1');
  const { reason } = body.MessageAttributes as { reason: { StringValue: string } };
  assert.match(reason.StringValue, /^invalid_request: \?\?x+$/);
  assert.equal(reason.StringValue.length, 500);
});

const detail = (text: string) => ({ detailType: 'QuoteLookupCompleted', detail: JSON.stringify({ text }) });

test('entries that the bus did not take are put again, and only those', async (t) => {
  const stub = await startAwsStub(t, ({ body }, nth) => {
    const entries = body.Entries as object[];
    return {
      FailedEntryCount: 1,
      Entries: entries.map((_, index) =>
        nth === 1 && index === 1 ? { ErrorCode: 'ThrottlingException' } : { EventId: 'e' },
      ),
    };
  });
  const failures: unknown[] = [];
  const bus = createEventBus({
    busName: 'bus',
    endpoint: stub.url,
    sleep: async () => {},
    onFailure: (error) => failures.push(error),
  });
  assert.deepEqual(await bus.publish([detail('a'), detail('b'), detail('c')]), [true, true, true]);
  assert.deepEqual(
    stub.sent.map(({ body }) =>
      (body.Entries as { Detail: string }[]).map(({ Detail }) => JSON.parse(Detail).text),
    ),
    [['a', 'b', 'c'], ['b']],
  );
  assert.equal((failures[0] as { code: string }).code, 'ThrottlingException');
  const [{ body }] = stub.sent as [(typeof stub.sent)[0]];
  const { EventBusName, Source, DetailType } = (body.Entries as Record<string, string>[])[0]!;
  assert.deepEqual([EventBusName, Source, DetailType], ['bus', 'countersign', 'QuoteLookupCompleted']);
});

test('an entry that is refused each time is named, and costs the others nothing', async (t) => {
  const stub = await startAwsStub(t, ({ body }) => ({
    Entries: (body.Entries as { Detail: string }[]).map(({ Detail }) =>
      Detail.includes('"bad"') ? { ErrorCode: 'MalformedDetail' } : { EventId: 'e' },
    ),
  }));
  const bus = createEventBus({ busName: 'bus', endpoint: stub.url, sleep: async () => {} });
  assert.deepEqual(await bus.publish([detail('a'), detail('bad'), detail('c')]), [true, false, true]);
  assert.equal(stub.sent.length, 3);
});

test('a bus that is away has taken nothing; puts hold ten entries and 256 kB', async (t) => {
  const away = await startAwsStub(t, () => 500);
  const none = createEventBus({ busName: 'bus', endpoint: away.url, sleep: async () => {} });
  assert.deepEqual(await none.publish([detail('a')]), [false]);
  const stub = await startAwsStub(t, ({ body }) => ({
    Entries: (body.Entries as object[]).map(() => ({ EventId: 'e' })),
  }));
  const bus = createEventBus({ busName: 'bus', endpoint: stub.url });
  const small = Array.from({ length: 11 }, (_, index) => detail(String(index)));
  await bus.publish([...small, detail('x'.repeat(200_000)), detail('y'.repeat(200_000))]);
  assert.deepEqual(stub.sent.map(({ body }) => (body.Entries as []).length).sort(), [1, 10, 2]);
  assert.deepEqual(await bus.publish([]), []);
});

const context = { getRemainingTimeInMillis: () => 20_000 };

test('the handler names the messages that must come again', async () => {
  const world = createWorld();
  const { lookups, options } = world;
  const handler = createQueueHandler(lookups, queues, options.clock);
  const event = { Records: [{ ...record(JSON.stringify(quotes(['A']))), messageId: 'good' }] };
  assert.deepEqual(await handler(event, context), { batchItemFailures: [] });
  assert.equal(world.published.length, 1);
  const failing = createWorld({ bus: { publish: async (all) => all.map(() => false) } });
  const again = await createQueueHandler(failing.lookups, queues, failing.options.clock)(event, context);
  assert.deepEqual(again, { batchItemFailures: [{ itemIdentifier: 'good' }] });
});

test('a direct call has the reply; a failure is an error that a workflow can match', async () => {
  const world = createWorld();
  const handler = createDirectHandler(world.options);
  const request = quotes(['A', 'XBAD']);
  const reply = (await handler(request, context)) as Record<string, unknown>;
  assert.equal(reply.request_id, request.request_id);
  assert.deepEqual(reply.quotes, [{ symbol: 'A', price: '1.10', volume: 100 }]);
  assert.deepEqual(reply.unknown, ['XBAD']);
  assert.deepEqual([world.published, world.waits, world.dead], [[], [], []]);

  const failing = (event: unknown) =>
    handler(event, context).then(
      () => assert.fail('it did not fail'),
      (error: Error) => error,
    );
  const invalid = await failing({ ...request, symbols: [] });
  assert.equal(invalid.name, 'LookupFailed');
  assert.equal(JSON.parse(invalid.message).code, 'invalid_request');
  assert.equal((await failing('nothing')).name, 'LookupFailed');

  world.upstream = () => ({ code: 'budget_used_up', retryAfterSeconds: 1 });
  const later = await failing(request);
  assert.equal(later.name, 'LookupRetryable');
  assert.deepEqual(JSON.parse(later.message).code, 'budget_used_up');

  world.calls.length = 0;
  const expired = await failing({ ...request, deadline: '2026-01-01T00:00:00Z' });
  assert.equal(expired.name, 'LookupRetryable');
  assert.equal(JSON.parse(expired.message).code, 'deadline_passed');
  assert.equal(world.calls.length, 0);
});

test('what Lambda logs of a direct call’s failure has no value that came, and no word of the upstream', async () => {
  const account = 'ACCOUNT-7713';
  const world = createWorld();
  const handler = createDirectHandler(world.options);
  const upstream = { status: 417, errorCode: 'NOT_FOUND', message: `no account ${account}` };
  world.upstream = () => rejectedBy({ ...upstream, requestId: 'of-the-upstream' });
  const asked = { request_id: 'r', operation: 'getAccountBalance' };
  const failing = (query: object) =>
    assert.rejects(handler({ ...asked, query }, context), (error: Error) => {
      failures.push(error);
      return true;
    });
  const failures: Error[] = [];
  await failing({ accountid: account });
  await failing({ account_id: account });
  const told = failures.map(({ message }) => JSON.parse(message));
  for (const error of failures) assert.doesNotMatch(inspect(error), /7713/);
  assert.deepEqual(
    told.map(({ code }) => code),
    ['invalid_request', 'upstream_rejected'],
  );
  assert.ok(told[0].errors[0].name.includes('accountid'), told[0].errors[0].name);
  assert.deepEqual(told[1].upstream, {
    status: 417,
    error_code: 'NOT_FOUND',
    request_id: 'of-the-upstream',
  });
});

test('who may call directly brings no message, and with it no other requester', async () => {
  const forged = (name: string, more: object = {}) => {
    const body = JSON.stringify({
      source: 'granted',
      'detail-type': 'QuoteLookupRequested',
      detail: quotes(['A']),
    });
    return { Records: [{ ...record(body), eventSourceARN: `arn:aws:sqs:r:1:${name}`, ...more }] };
  };
  const both = { ...queues, busQueueUrl: 'https://sqs.example/1/bus-queue' };
  const world = createWorld();
  const direct = createDirectHandler(world.options);
  const atQueues = createQueueHandler(world.lookups, both, world.options.clock);
  for (const event of [forged('bus-queue'), forged('queue'), { ...quotes(['A']), ...forged('bus-queue') }])
    await assert.rejects(direct(event, context), { name: 'LookupFailed' });
  const mixed = { Records: [...forged('queue').Records, ...forged('another').Records] };
  const others = [
    quotes(['A']),
    'nothing',
    {},
    mixed,
    forged('another'),
    forged('queue', { eventSource: 'aws:s3' }),
  ];
  for (const event of others) await assert.rejects(atQueues(event, context), { name: 'LookupFailed' });
  assert.deepEqual([world.calls, world.published, world.waits, world.dead], [[], [], [], []]);
  await atQueues(forged('bus-queue'), context);
  assert.equal(JSON.parse(world.published[0]?.detail ?? '{}').requester, 'granted');
});

test('a direct call is not parted, and never waits longer than its function or its deadline', async () => {
  const world = createWorld();
  world.upstream = (request) =>
    `[${symbolsOf(request).map((symbol) => `{"symbol":"${symbol}","x":"${'x'.repeat(1000)}"}`)}]`;
  const handler = createDirectHandler(world.options);
  const symbols = Array.from({ length: 400 }, (_, index) => `S${index}`);
  const reply = (await handler(quotes(symbols), context)) as { quotes: []; parts: number };
  assert.deepEqual([reply.quotes.length, reply.parts], [400, 1]);
  await handler(quotes(['A'], { deadline_seconds: 5 }), context);
  assert.equal(world.calls[0]?.deadline, world.now + 19_500);
  assert.equal(world.calls.at(-1)?.deadline, world.now + 5000);
});

const environment = parts('UPSTREAM', 'LIMITER', 'ACCESS');

test('what may be read are the reads of the groups named, and tokens never', () => {
  const queues = {
    tableName: 't',
    queueUrl: 'q',
    busQueueUrl: 'bq',
    deadLetterUrl: 'd',
    busName: 'b',
  };
  const read = (
    groups: readonly Group[],
    change: Partial<Parts['LOOKUPS']> = {},
    env: Environment = environment,
  ) => readLookupSettings({ ...env, ...part('LOOKUPS', { groups, queues, ...change }) }, operations);
  const ids = (...groups: readonly Group[]) => {
    const found = read(groups);
    assert.ok(found.ok, JSON.stringify(found));
    return found.settings.operations.map(({ id }) => id);
  };
  assert.ok(ids('market-data').includes('getStockSnapshots'));
  assert.ok(!ids('market-data').includes('listAccounts'));
  assert.ok(ids('orders').includes('getOrder') && !ids('orders').includes('placeOrder'));
  for (const never of ['getConfig', 'legacyListOpenOrders']) assert.ok(!ids('orders').includes(never), never);
  assert.ok(ids(...openByDefault).length > 30);
  assert.deepEqual(read(['orders'], {}, parts('UPSTREAM', 'LIMITER')), {
    ok: false,
    faults: ['ACCESS: not set'],
  });
  const oneQueue = { queues: { ...queues, busQueueUrl: undefined } };
  const forgeable = read(['orders'], oneQueue);
  assert.ok(!forgeable.ok && forgeable.faults[0]?.startsWith('LOOKUPS: account data'));
  assert.ok(read(['market-data'], oneQueue).ok);
  // What is called directly has nothing that a message could come from, or go to.
  const calls = read(['orders'], { queues: undefined });
  assert.ok(calls.ok && calls.settings.queues === undefined);
  // No token comes with an event.
  const known = read(['orders'], {}, { ...environment, ...parts('AUTH') });
  assert.ok(known.ok && known.settings.function.access?.auth === undefined);
});

test('a wrong environment is one line, and no message is done with', async () => {
  const logged: LogEntry[] = [];
  const ports = lookupPorts(hostWith((entry) => logged.push(entry)));
  const handler = start(lookups(operations), {}, ports);
  const names = ['UPSTREAM', 'LOOKUPS'];
  assert.deepEqual(logged, [
    {
      level: 'error',
      event: 'wrong_configuration',
      faults: names.map((name) => `${name}: not set`),
    },
  ]);
  await assert.rejects(handler({ Records: [record('{}')] }, context), /wrong_configuration/);
});

test('figures are what CloudWatch makes metrics of; failures have no words of others', () => {
  const logged: LogEntry[] = [];
  const report = createLookupMetrics((entry) => logged.push(entry), { functionName: 'f', clock: () => 7 });
  const counts = { answered: 2, failed: 1, waiting: 3, duplicates: 4, poisoned: 5, undone: 0, calls: 6 };
  report({ ...counts, ages: [10, 20, 30], causes: [] });
  report({ ...counts, undone: 1, ages: [], causes: [Object.assign(new Error('canary'), { code: 'C' })] });
  const [first, failure, second] = logged as [LogEntry, LogEntry, LogEntry];
  assert.equal(first.level, 'info');
  assert.deepEqual(first.LookupAge, [10, 20, 30]);
  const { CloudWatchMetrics } = first._aws as { CloudWatchMetrics: { Metrics: { Name: string }[] }[] };
  for (const { Name } of CloudWatchMetrics[0]?.Metrics ?? []) assert.ok(Name in first, Name);
  assert.equal(failure.event, 'lookup_undone');
  assert.equal(failure.code, 'C');
  assert.equal(second.level, 'error');
  assert.ok(!('LookupAge' in second));
  assert.doesNotMatch(JSON.stringify(logged), /canary/);
});
