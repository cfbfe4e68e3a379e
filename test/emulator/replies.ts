/** Puts requests to a deployed stack's bus and queue, and collects what its bus says in reply. */

import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from '@aws-sdk/client-eventbridge';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { clientConfig } from './deployment.ts';
import type { Stage } from './stage.ts';

export interface ReplyEvent {
  readonly 'detail-type': string;
  readonly source: string;
  readonly detail: Readonly<Record<string, unknown>> & { readonly request_id: string };
}

export interface Replies {
  /** All that came so far. */
  readonly events: readonly ReplyEvent[];
  /** Those to one request. */
  of(requestId: string): readonly ReplyEvent[];
  /** Reads what is there now. */
  read(): Promise<void>;
  /** Reads on until it is so. */
  until(isSo: () => boolean): Promise<void>;
}

/** What is collected from: a deployed stage, or an emulator with a bus. */
export interface Bus {
  readonly emulator: Stage['emulator'];
  readonly outputs: { readonly LookupBus?: string | undefined };
}

/** A rule as any consumer has it, into a queue of its own. */
export async function collectReplies(stage: Bus, pattern: object = {}, name = 'replies'): Promise<Replies> {
  const config = clientConfig(stage.emulator);
  const sqs = new SQSClient(config);
  const events = new EventBridgeClient(config);
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  const EventBusName = stage.outputs.LookupBus;
  await events.send(
    new PutRuleCommand({
      Name: name,
      EventBusName,
      EventPattern: JSON.stringify({ source: ['countersign'], ...pattern }),
    }),
  );
  await events.send(
    new PutTargetsCommand({
      Rule: name,
      EventBusName,
      Targets: [{ Id: 'queue', Arn: Attributes?.QueueArn }],
    }),
  );
  const came: ReplyEvent[] = [];
  async function read(): Promise<void> {
    const messages = await drain(sqs, QueueUrl ?? '');
    came.push(...messages.map(({ Body = '' }) => JSON.parse(Body) as ReplyEvent));
    if (messages.length > 0) await read();
  }
  return {
    events: came,
    of: (requestId) => came.filter(({ detail }) => detail.request_id === requestId),
    read,
    async until(isSo) {
      while (!isSo()) {
        const before = came.length;
        await read();
        if (came.length === before) await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
  };
}

/** Up to ten messages, which are gone then. */
export async function drain(sqs: SQSClient, QueueUrl: string): Promise<readonly Message[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
  );
  if (Messages.length > 0)
    await sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    );
  return Messages;
}

/** How many messages there are: to be received, being worked on, and waiting. */
export async function depthOf(sqs: SQSClient, QueueUrl: string): Promise<readonly [number, number, number]> {
  const { Attributes: a = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
  );
  return [
    Number(a.ApproximateNumberOfMessages),
    Number(a.ApproximateNumberOfMessagesNotVisible),
    Number(a.ApproximateNumberOfMessagesDelayed),
  ];
}
