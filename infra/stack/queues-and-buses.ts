/** Queues for what is lost or waits, and buses on which one function alone tells what it knows. */

import { Duration, Validations } from 'aws-cdk-lib';
import { type EventBus, type IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import { Effect, PolicyStatement, StarPrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** As long as SQS keeps a message; what was looked up is remembered a day longer. */
const longestRetention = Duration.days(14);

/** With keys of SQS itself, without a charge. */
export const createQueue = (scope: Construct, id: string, props: QueueProps = {}): Queue =>
  new Queue(scope, id, {
    retentionPeriod: longestRetention,
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    ...props,
  });

/** Where a function's failures end. */
export function lostQueue(scope: Construct): Queue {
  const queue = createQueue(scope, 'Lost');
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is where failures end: what lies there is for a person, and an alarm says so.',
  });
  return queue;
}

/**
 * Consumers believe what lies on a bus: no other identity puts anything there.
 *
 * @param where only events of these conditions, where others may put the rest
 */
export function protectBus(bus: EventBus, sid: string, teller: LambdaFunction, where: object = {}): void {
  bus.addToResourcePolicy(
    new PolicyStatement({
      sid,
      effect: Effect.DENY,
      principals: [new StarPrincipal()],
      actions: ['events:PutEvents'],
      resources: [bus.eventBusArn],
      conditions: { ...where, ArnNotEquals: { 'aws:PrincipalArn': teller.role?.roleArn } },
    }),
  );
}

/** @param detail members of an event's detail with the values that they may have; one that is undefined may have any */
export function busRule(
  scope: Construct,
  id: string,
  eventBus: EventBus,
  detailType: readonly string[],
  detail: Readonly<Record<string, readonly unknown[] | undefined>>,
  target: IRuleTarget,
): Rule {
  const asked = Object.entries(detail).filter(([, values]) => values !== undefined);
  return new Rule(scope, id, {
    eventBus,
    eventPattern: {
      detailType: [...detailType],
      ...(asked.length > 0 && { detail: Object.fromEntries(asked) }),
    },
    targets: [target],
  });
}
