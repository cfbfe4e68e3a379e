/**
 * A thousand lookups while everything goes wrong that can: deliveries twice, poison among them, the upstream
 * failing for 20 seconds, functions killed at random. Every good one is answered with one content.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, test } from 'vitest';
import { parseReply } from '../../lib/events/index.ts';
import { eventValidators, mutated } from '../docs/event-validators.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { deployedStage } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { collectReplies, depthOf, drain, type Replies } from './replies.ts';

const requests = 1000;
const copies = requests * 0.05;
const poisoned = requests * 0.01;
/** What is sent is spread over so long, so that the failure falls into the middle of it. */
const sendingMs = 25_000;
const failure = { fromMs: 5000, forMs: 20_000 };
const poolSize = 150;

interface Sent {
  readonly body: string;
  readonly via: 'bus' | 'queue';
}

describe('lookups under fire', needsEmulator(), () => {
  let replies: Replies;
  let sqs: SQSClient;
  let bus: EventBridgeClient;
  let started = Number.POSITIVE_INFINITY;
  let failed = 0;
  let good: readonly Sent[] = [];
  const stage = deployedStage({
    fault: () => {
      const at = Date.now() - started - failure.fromMs;
      if (!(at >= 0 && at < failure.forMs)) return undefined;
      failed++;
      return { kind: 'status', status: 503 };
    },
    props: {
      events: {},
      // A killed function's messages come back after six times its limit.
      upstream: { timeoutSeconds: 2 },
      functions: { timeoutSeconds: 8 },
      entries: { 'quote-lookup': join(import.meta.dirname, 'killed-lookups.ts') },
    },
    async prepare() {
      replies = await collectReplies(stage);
      sqs = new SQSClient(clientConfig(stage.emulator));
      bus = new EventBridgeClient(clientConfig(stage.emulator));
    },
  });

  async function send(all: readonly Sent[]): Promise<void> {
    for (let at = 0; at < all.length; at += 10) {
      const ten = all.slice(at, at + 10);
      const bare = ten.filter(({ via }) => via === 'queue');
      const enveloped = ten.filter(({ via }) => via === 'bus');
      if (bare.length > 0)
        await sqs.send(
          new SendMessageBatchCommand({
            QueueUrl: stage.outputs.LookupQueueUrl,
            Entries: bare.map(({ body }, index) => ({ Id: String(index), MessageBody: body })),
          }),
        );
      if (enveloped.length > 0)
        await bus.send(
          new PutEventsCommand({
            Entries: enveloped.map(({ body }) => ({
              EventBusName: stage.outputs.LookupBus,
              Source: 'test',
              DetailType: 'QuoteLookupRequested',
              Detail: body,
            })),
          }),
        );
    }
  }

  test('every good one is answered with one content, every poisoned one is a dead letter', async () => {
    const pool = stage.simulator.symbols('US_STOCK').slice(0, poolSize);
    const ids = Array.from({ length: requests }, (_, index) => `lookup-${index}`);
    good = ids.map((request_id, index): Sent => {
      const symbols = Array.from(
        { length: 1 + (index % 8) },
        (_, nth) => pool[(index * 7 + nth * nth) % poolSize],
      );
      const body = JSON.stringify({ request_id, symbols: [...new Set(symbols)], category: 'US_STOCK' });
      return { body, via: index % 2 === 0 ? 'bus' : 'queue' };
    });
    const again = good.filter((_, index) => index % (requests / copies) === 0);
    const bad = Array.from({ length: poisoned }, (_, index): Sent => {
      const body =
        index % 2 === 0 ? `{"request_id":"poison-${index}"` : `{"request_id":"poison-${index}","symbols":[]}`;
      return { body, via: 'queue' };
    });
    const all = shuffled([...good, ...again, ...bad]);

    started = Date.now();
    const rounds = 25;
    for (let round = 0; round < rounds; round++) {
      await send(all.filter((_, index) => index % rounds === round));
      const left = started + ((round + 1) * sendingMs) / rounds - Date.now();
      if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
    }
    const answered = () =>
      new Set(replies.events.map(({ detail }) => detail.request_id).filter((id) => id.startsWith('lookup-')))
        .size;
    await replies.until(() => answered() === requests);
    const seconds = Math.round((Date.now() - started) / 1000);

    const dead = new Map<string, string>();
    const letters = stage.outputs.LookupDeadLettersUrl ?? '';
    for (let found = await drain(sqs, letters); found.length > 0; found = await drain(sqs, letters))
      for (const { Body = '', MessageAttributes } of found)
        dead.set(Body, MessageAttributes?.reason?.StringValue ?? '');
    assert.deepEqual([...dead.keys()].sort(), bad.map(({ body }) => body).sort());
    for (const reason of dead.values()) assert.match(reason, /^invalid_request: /);

    let events = 0;
    for (const id of ids) {
      const came = replies.of(id);
      events += came.length;
      assert.equal(new Set(came.map(({ detail }) => JSON.stringify(detail))).size, 1, id);
      const reply = parseReply(came[0]);
      assert.equal(reply?.detailType, 'QuoteLookupCompleted', JSON.stringify(came[0]));
    }
    const { length: calls } = stage.simulator.received;
    const killed = stage.emulator.output().split('{"event":"killed"}').length - 1;
    console.log(
      `  lookups, ${requests} requests, ${copies} copies and ${poisoned} poisoned, the upstream failing for ` +
        `${failure.forMs / 1000} s: all answered after ${seconds} s, ${events} replies, ${killed} functions killed, ` +
        `${calls} upstream calls (${failed} while it failed) beside ${requests} of one for each`,
    );
    assert.ok(killed > 0 && failed > 0);
    assert.ok(calls < requests / 4, `${calls} calls`);
  });

  test('the published schemas accept every event of it, and none that was spoilt', () => {
    const validators = eventValidators();
    let spoilt = 0;
    const check = (name: string, detail: Record<string, unknown>, isRequest: boolean) => {
      assert.ok(validators[name]?.(detail), `${name} ${JSON.stringify(detail)}`);
      for (const wrong of mutated(detail, isRequest)) {
        spoilt++;
        assert.ok(!validators[name]?.(wrong), `${name} ${JSON.stringify(wrong)}`);
      }
    };
    for (const { body } of good) check('QuoteLookupRequested', JSON.parse(body), true);
    for (const event of replies.events) check(event['detail-type'], event.detail, false);
    console.log(
      `  schemas: ${good.length} requests and ${replies.events.length} replies accepted, ${spoilt} spoilt ones refused`,
    );
  });

  test('in the end nothing is left in the queue', async () => {
    const queue = stage.outputs.LookupQueueUrl ?? '';
    while ((await depthOf(sqs, queue)).some((count) => count > 0))
      await new Promise((resolve) => setTimeout(resolve, 500));
  });
});

/** Always the same way. */
function shuffled<T>(all: readonly T[]): readonly T[] {
  let state = 20_261_121;
  return all
    .map((one) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return [state, one] as const;
    })
    .sort(([one], [other]) => one - other)
    .map(([, one]) => one);
}
