/** A deployed listener at the simulator: orders that change, faults of the stream, and what came onto the bus. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { LoggedChange } from '../../infra/simulator/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { type OrderChanged, parseTradeEvent } from '../../lib/trade-events/index.ts';
import type { MinistackOptions } from '../support/ministack.ts';
import { newOrder } from '../support/orders.ts';
import { clientConfig } from './deployment.ts';
import type { Start } from './killed-trade-events.ts';
import { putSecret } from './secret.ts';
import { canary, type Stage, startStage } from './stage.ts';

export interface Arrived {
  readonly detail: OrderChanged;
  /** When the rule's queue had it, in milliseconds since the epoch. */
  readonly at: number;
}

export interface TradeScene {
  readonly stage: Stage;
  readonly account: string;
  /** Everything that came onto the bus, repetitions too. */
  readonly arrived: readonly Arrived[];
  /** Starts the function once. */
  start(call: Start): Promise<void>;
  /** Starts the function again and again, as a schedule does, with what `next` gives; the first time now. */
  schedule(everyMs: number, next: () => Start): void;
  /** One order with some changes, the last of which may be its end. */
  trade(random: () => number): Promise<void>;
  /** Reads the queue until it is so. */
  until(isSo: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

export async function startTradeScene(options: MinistackOptions = {}): Promise<TradeScene> {
  const stage = await startStage({
    ...options,
    props: {
      tradeEvents: { compareEveryMinutes: 1 },
      entries: { 'trade-events': join(import.meta.dirname, 'killed-trade-events.ts') },
    },
    // More streams than one are allowed, so that a second one would be seen.
    simulated: { events: { pingMs: 5000, streams: 9, partlyFilled: 'PARTIAL_FILLED' } },
  });
  await putSecret(stage);
  const arrived: Arrived[] = [];
  const read = await collect(stage, arrived);
  const lambda = new LambdaClient(clientConfig(stage.emulator));
  const account = stage.simulator.accounts[0]?.account_id ?? '';
  const timers: NodeJS.Timeout[] = [];
  const start = async (call: Start) => {
    const Payload = JSON.stringify(call);
    const FunctionName = stage.outputs.TradeEventsFunction;
    const command = new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload });
    // Of the reserved instances none may be free: as on AWS that start is dropped.
    await lambda.send(command).catch(() => {});
  };
  return {
    stage,
    account,
    arrived,
    start,
    schedule(everyMs, next) {
      void start(next());
      timers.push(setInterval(() => void start(next()), everyMs));
    },
    trade: (random) => tradeOne(stage, account, random),
    async until(isSo) {
      while (!isSo()) if (!(await read())) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
      return stage.stop();
    },
  };
}

/** A rule as any consumer has it, into a queue of its own. @returns reads some of it; false for none */
async function collect(stage: Stage, arrived: Arrived[]): Promise<() => Promise<boolean>> {
  const config = clientConfig(stage.emulator);
  const sqs = new SQSClient(config);
  const events = new EventBridgeClient(config);
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'trades' }));
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  const rule = { Name: 'trades', EventBusName: stage.outputs.TradeEventsBus };
  await events.send(
    new PutRuleCommand({ ...rule, EventPattern: JSON.stringify({ 'detail-type': ['OrderChanged'] }) }),
  );
  await events.send(
    new PutTargetsCommand({
      Rule: rule.Name,
      EventBusName: rule.EventBusName,
      Targets: [{ Id: 'queue', Arn: Attributes?.QueueArn }],
    }),
  );
  return async () => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    );
    for (const { Body = '', Attributes: attributes } of Messages) {
      const event = parseTradeEvent(Body);
      assert.ok(event?.detailType === 'OrderChanged', Body);
      arrived.push({ detail: event.detail, at: Number(attributes?.SentTimestamp) });
    }
    if (Messages.length > 0)
      await sqs.send(
        new DeleteMessageBatchCommand({
          QueueUrl,
          Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
        }),
      );
    return Messages.length > 0;
  };
}

async function tradeOne({ simulator }: Stage, account: string, random: () => number): Promise<void> {
  const { trading, url } = simulator;
  const signer = createSigner(canary);
  const post = async (path: string, body: object) => {
    const text = JSON.stringify({ account_id: account, ...body });
    const signed = await signer.sign({ method: 'POST', url: `${url}${path}`, body: text });
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...signed.headers, 'content-type': 'application/json' },
      body: text,
    });
    assert.equal(response.status, 200, await response.text());
  };
  // Far below the market, so that nothing but this test fills it.
  const order = newOrder({ order_type: 'LIMIT', limit_price: '1.10', quantity: '4' });
  const { client_order_id: id } = order;
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100 + random() * 400));
  const replace = (quantity: string) =>
    post('/trading/orders/replace', { modify_orders: [{ client_order_id: id, quantity }] });
  await post('/trade/place_order', { new_orders: [order] });
  await pause();
  const kind = Math.floor(random() * 6);
  if (kind === 0) return trading.failPlacing(account, id);
  if (kind === 1) {
    trading.failNextChange(account, id);
    await replace('5');
    await pause();
  }
  if (kind === 2) {
    await replace('3');
    await pause();
  }
  if (kind === 3) return post('/trading/orders/cancel', { client_order_id: id });
  if (kind === 4) {
    trading.fill(account, id, '1');
    await pause();
    return post('/trading/orders/cancel', { client_order_id: id });
  }
  trading.fill(account, id, '1');
  await pause();
  trading.fill(account, id);
}

export interface Tally {
  readonly changes: number;
  readonly events: number;
  readonly repetitions: number;
  readonly reconciled: number;
  /** Changes that no read shows any more, by scene: the one thing that a gap may lose. */
  readonly hidden: Readonly<Record<string, number>>;
  /** Changes that a read shows, and of which no event came. */
  readonly missing: readonly LoggedChange[];
  /** Events of no change, and second events of one. */
  readonly invented: readonly OrderChanged[];
  /** From the change to the rule's queue, in milliseconds, ascending. */
  readonly delays: readonly number[];
}

/** Holds the simulator's book against the bus. */
export function tallyOf(changes: readonly LoggedChange[], arrived: readonly Arrived[]): Tally {
  const distinct = new Map<string, Arrived>();
  for (const one of arrived) if (!distinct.has(one.detail.event_id)) distinct.set(one.detail.event_id, one);
  const streamed = new Map<unknown, Arrived>();
  const read = new Map<string, Arrived>();
  const invented: OrderChanged[] = [];
  for (const one of distinct.values()) {
    const { detail } = one;
    const requestId = requestIdOf(detail);
    const isKnown = detail.reconciled ? read.has(keyOf(detail)) : streamed.has(requestId);
    if (isKnown) invented.push(detail);
    else if (detail.reconciled) read.set(keyOf(detail), one);
    else streamed.set(requestId, one);
  }
  const hidden: Record<string, number> = {};
  const missing: LoggedChange[] = [];
  const delays: number[] = [];
  for (const change of changes) {
    const key = keyOf({
      client_order_id: change.clientOrderId,
      status: change.status,
      filled_quantity: change.filledQuantity,
      ...(change.scene === 'MODIFY_SUCCESS' && { scene: change.scene }),
    });
    const byStream = streamed.get(change.requestId);
    const byRead = byStream || unseen.has(change.scene) ? undefined : read.get(key);
    const found = byStream ?? byRead;
    streamed.delete(change.requestId);
    if (byRead) read.delete(key);
    if (found) delays.push(found.at - change.at);
    else if (isHidden(change, changes)) hidden[change.scene] = (hidden[change.scene] ?? 0) + 1;
    else missing.push(change);
  }
  invented.push(...[...streamed.values(), ...read.values()].map(({ detail }) => detail));
  return {
    changes: changes.length,
    events: distinct.size,
    repetitions: arrived.length - distinct.size,
    reconciled: [...distinct.values()].filter(({ detail }) => detail.reconciled).length,
    hidden,
    missing,
    invented,
    delays: delays.sort((a, b) => a - b),
  };
}

/** Of the stream's message, which a reconciled event does not have. */
const requestIdOf = ({ order }: OrderChanged) =>
  (order as { readonly request_id?: string | undefined }).request_id;

/** What changes nothing of the order. */
const unseen = new Set(['MODIFY_FAILED', 'CANCEL_FAILED']);

/** A read shows an order as it is: what failed, and what something later has overwritten, is not in it. */
const isHidden = ({ scene, clientOrderId, sequence }: LoggedChange, changes: readonly LoggedChange[]) =>
  unseen.has(scene) ||
  changes.some((later) => later.clientOrderId === clientOrderId && later.sequence > sequence);

const keyOf = (of: {
  readonly client_order_id: string;
  readonly status: string;
  readonly filled_quantity: string;
  readonly scene?: string | undefined;
}) => {
  // Of an order that is open, the stream, the lists and the look-up use several words for one thing.
  const isOpen = /^(PENDING|SUBMITTED|PARTIAL_FILLED)$/.test(of.status);
  // A read may show a replacement together with what was filled after it. No order here is replaced twice.
  if (of.scene === 'MODIFY_SUCCESS') return `${of.client_order_id} replaced`;
  return [of.client_order_id, isOpen ? 'open' : of.status, Number(of.filled_quantity)].join(' ');
};

/** The longest times without a stream, and the most streams at once. */
export function streamsOf({ stage }: TradeScene): {
  readonly gapsMs: readonly number[];
  readonly most: number;
} {
  const { subscriptions, mostOpen } = stage.simulator.events;
  const open = subscriptions.filter(({ outcome }) => outcome === 'subscribed');
  const gapsMs = open.slice(1).flatMap(({ at }, index) => {
    const { endedAt } = open[index]!;
    return endedAt === undefined ? [] : [at - endedAt];
  });
  return { gapsMs: gapsMs.sort((a, b) => a - b), most: mostOpen };
}
