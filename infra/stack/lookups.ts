/**
 * Lookups by event: a bus, its rule, a queue with dead letters, and the function between them and the
 * upstream. What an event may read are the reads of the groups that are open.
 */

import { fileURLToPath } from 'node:url';
import { CfnOutput, Duration, type RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Archive, EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type CfnFunction, EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Group } from '../../lib/catalogue/index.ts';
import { eventNames } from '../../lib/events/names.ts';
import { allowing, GroupFunction, type GroupFunctionProps } from './group-function.ts';
import type { EventsConfig } from './lookups-config.ts';

export interface LookupsProps
  extends Pick<
    GroupFunctionProps,
    | 'secretArn'
    | 'budgetTableArn'
    | 'cache'
    | 'environment'
    | 'timeoutSeconds'
    | 'memoryMiB'
    | 'logRetentionDays'
    | 'removalPolicy'
  > {
  readonly config: EventsConfig;
  readonly groups: readonly Group[];
  /** In place of `functions/quote-lookup/handler.ts`. */
  readonly entry?: string;
}

/** As long as SQS keeps a message. Requests are remembered a day longer. */
const retention = Duration.days(14);
/** A message may come back while its function still runs; AWS asks for six times its limit. */
const visibilityFactor = 6;
/** A message that comes so often has a function killed each time, or nothing of ours works. */
const mostReceives = 6;
/** As many as are merged into few calls; a function works through them in about two seconds. */
const batchSize = 100;

export class Lookups extends Construct {
  constructor(scope: Construct, id: string, props: LookupsProps) {
    super(scope, id);
    const { config, removalPolicy, environment, groups } = props;
    const bus = new EventBus(this, 'Bus', {
      eventBusName: `${Stack.of(this).stackName}-lookups`,
      description: 'Requests for quotes and other reads, and their replies',
    });
    const deadLetters = this.#queue('DeadLetters', { retentionPeriod: retention });
    const queue = this.#queue('Queue', {
      retentionPeriod: retention,
      visibilityTimeout: Duration.seconds(visibilityFactor * props.timeoutSeconds),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: mostReceives },
    });
    const requests = Object.values(eventNames).map(({ requested }) => requested);
    new Rule(this, 'Requests', {
      eventBus: bus,
      description: 'Requests, from whatever source, into the queue',
      eventPattern: { detailType: requests },
      targets: [new SqsQueue(queue, { deadLetterQueue: deadLetters })],
    });
    const table = this.#table(removalPolicy);

    const { function: lambda } = new GroupFunction(this, 'quote-lookup', {
      ...props,
      title: 'Lookups by event',
      reservedConcurrency: config.reservedConcurrency,
      entry: props.entry ?? entry,
      environment: {
        ...environment,
        LOOKUP_TABLE: table.tableName,
        LOOKUP_QUEUE: queue.queueUrl,
        LOOKUP_DEAD_LETTERS: deadLetters.queueUrl,
        LOOKUP_BUS: bus.eventBusName,
        LOOKUP_GROUPS: groups.join(','),
        LOOKUP_INSTANCES: String(config.concurrency),
      },
      policies: {
        RememberRequests: allowing(['dynamodb:PutItem', 'dynamodb:UpdateItem'], table.tableArn),
        TakeRequests: new PolicyDocument({
          statements: [
            allow(
              ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:SendMessage'],
              queue.queueArn,
            ),
            allow(['sqs:SendMessage'], deadLetters.queueArn),
          ],
        }),
        Reply: allowing(['events:PutEvents'], bus.eventBusArn),
      },
    });
    // What waits goes round, until its deadline. After 16 rounds Lambda would take that for a defect, and stop it.
    (lambda.node.defaultChild as CfnFunction).recursiveLoop = 'Allow';
    new EventSourceMapping(this, 'Messages', {
      target: lambda,
      eventSourceArn: queue.queueArn,
      batchSize,
      maxBatchingWindow: Duration.seconds(1),
      reportBatchItemFailures: true,
      maxConcurrency: config.concurrency,
    });

    const alarm = new Alarm(this, 'DeadLetterAlarm', {
      alarmDescription: 'A request could not be served; its message says why in the attribute "reason".',
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(1),
        statistic: 'Maximum',
      }),
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (config.alarmTopic)
      alarm.addAlarmAction(new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', config.alarmTopic)));
    const output = (name: string, description: string, value: string) =>
      new CfnOutput(Stack.of(this), name, { description, value });
    if (config.archiveDays) {
      const archive = new Archive(this, 'Archive', {
        sourceEventBus: bus,
        description: 'Requests, to be replayed',
        eventPattern: { detailType: requests },
        retention: Duration.days(config.archiveDays),
      });
      output('LookupArchiveArn', 'Where requests are replayed from', archive.archiveArn);
    }
    output('LookupBus', 'The bus that takes requests and gives replies', bus.eventBusName);
    output('LookupBusArn', 'The same, as a target', bus.eventBusArn);
    output('LookupQueueUrl', 'The queue that takes requests as bare JSON', queue.queueUrl);
    output('LookupQueueArn', 'The same, as a target', queue.queueArn);
    output('LookupDeadLettersArn', 'Requests that could not be served, to be redriven', deadLetters.queueArn);
    output('LookupDeadLettersUrl', 'Requests that could not be served', deadLetters.queueUrl);
    output('LookupFunction', 'To be invoked directly', lambda.functionName);
  }

  #queue(id: string, props: ConstructorParameters<typeof Queue>[2]): Queue {
    // Keys of SQS itself, without a charge.
    return new Queue(this, id, { ...props, encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true });
  }

  #table(removalPolicy: RemovalPolicy): Table {
    const table = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      timeToLiveAttribute: 'expires_at',
      billingMode: BillingMode.PAY_PER_REQUEST,
      removalPolicy,
    });
    Validations.of(table).acknowledge({
      id: 'AwsSolutions-DDB3',
      reason:
        'It remembers for 15 days which requests were answered: a copy of an earlier moment would forget the last of them, and what is answered lies on the bus.',
    });
    return table;
  }
}

const entry = fileURLToPath(new URL('../../functions/quote-lookup/handler.ts', import.meta.url));

const allow = (actions: string[], resource: string) =>
  new PolicyStatement({ actions, resources: [resource] });
