/** The local queue keeps what SQS and Lambda promise, on a clock that only the test advances. */

import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { toMessage } from '../../functions/events/sqs-message.ts';
import { createLocalQueue, type LocalQueue, type SettledMessage } from '../../infra/local/queue.ts';
import type { LookupMessage } from '../../lib/lookups/index.ts';

type Work = (messages: readonly LookupMessage[], queue: LocalQueue) => Promise<readonly LookupMessage[]>;

/** @param work what the function does with a batch; @returns the messages that it hands back */
function queueWith(work: Work) {
  const world = { now: 1_000_000, batches: [] as (readonly LookupMessage[])[] };
  const alarms = new Map<() => void, number>();
  const queue = createLocalQueue({
    clock: () => world.now,
    after: (ms, run) => {
      alarms.set(run, world.now + ms);
      return () => alarms.delete(run);
    },
    invoke: async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
      const messages = Records.map((record) => toMessage(record));
      world.batches.push(messages);
      const back = await work(messages, queue);
      return { batchItemFailures: back.map(({ id }) => ({ itemIdentifier: id })) };
    },
  });
  return {
    send: (body: string) => queue.send(body),
    close: () => queue.close(),
    world,
    alarms,
    bodies: () => world.batches.map((batch) => batch.map(({ body }) => body)),
    /** Lets what runs now come to its end, and then the time go on to the next alarm. */
    async next(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      if (alarms.size === 0) return;
      world.now = Math.min(...alarms.values());
      for (const [run, at] of [...alarms])
        if (at === world.now) {
          alarms.delete(run);
          run();
        }
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('what is sent in one go is one batch, of a hundred at most', async () => {
  const { send, bodies } = queueWith(async () => []);
  const all = await Promise.all(Array.from({ length: 101 }, (_, index) => send(String(index))));
  expect(all).toEqual(Array(101).fill({ kind: 'done' }));
  expect(bodies().map(({ length }) => length)).toEqual([100, 1]);
});

test('two batches run at once, and a third waits for one of them', async () => {
  const ends: (() => void)[] = [];
  const { send, world } = queueWith(async () => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return [];
  });
  const sent: Promise<SettledMessage>[] = [];
  for (const body of ['a', 'b', 'c']) {
    sent.push(send(body));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(world.batches.length).toBe(2);
  ends[0]?.();
  await sent[0];
  await new Promise((resolve) => setImmediate(resolve));
  expect(world.batches.length).toBe(3);
  for (const end of ends) end();
  await Promise.all(sent);
});

test('a message that waits comes again after its delay, with its first time and its count, and settles once', async () => {
  const { send, next, world } = queueWith(async (messages, queue) => {
    if (messages[0]?.waits !== 2)
      await queue.port.putAgain(messages.map((message) => ({ message, seconds: 30 })));
    return [];
  });
  let settled: SettledMessage | undefined;
  void send('slow').then((end) => {
    settled = end;
  });
  await next();
  expect([world.now, settled]).toEqual([1_030_000, undefined]);
  await next();
  expect(settled).toEqual({ kind: 'done' });
  expect(world.batches.flat()).toMatchObject(
    [0, 1, 2].map((waits) => ({ body: 'slow', sentAt: 1_000_000, waits })),
  );
  expect(new Set(world.batches.flat().map(({ id }) => id)).size).toBe(3);
});

test('a message that is handed back comes again, six times in all, and then is a dead letter without a reason', async () => {
  const { send, next, world, alarms } = queueWith(async (messages) => messages);
  const sent = send('bad');
  for (let rounds = 0; rounds < 5; rounds++) await next();
  expect(await sent).toEqual({ kind: 'dead' });
  expect(world.batches.length).toBe(6);
  expect(alarms.size).toBe(0);
});

test('a function that throws hands back the whole batch, also its good messages', async () => {
  let failures = 1;
  const { send, next, bodies } = queueWith(async () => {
    if (failures-- > 0) throw new Error('crash');
    return [];
  });
  const sent = Promise.all([send('a'), send('b')]);
  await next();
  expect(await sent).toEqual([{ kind: 'done' }, { kind: 'done' }]);
  expect(bodies().flat()).toEqual(['a', 'b', 'a', 'b']);
});

test('the reason of a dead letter is told to its sender', async () => {
  const { send } = queueWith(async (messages, queue) => {
    for (const message of messages) await queue.port.deadLetter(message, 'invalid_request: no JSON');
    return [];
  });
  expect(await send('?')).toEqual({ kind: 'dead', reason: 'invalid_request: no JSON' });
});

test('after its end nothing is delivered, and no alarm is left', async () => {
  const { send, next, close, world, alarms } = queueWith(async (messages) => messages);
  void send('a');
  await new Promise((resolve) => setImmediate(resolve));
  expect(alarms.size).toBe(1);
  close();
  void send('b');
  await next();
  expect(world.batches.length).toBe(1);
  expect(alarms.size).toBe(0);
});
