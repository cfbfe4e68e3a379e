/**
 * Lookups by event: a bus, its rule, a queue with dead letters, and the function between them and the
 * upstream. What an event may read are the reads of the groups that are open.
 */

import { fileURLToPath } from 'node:url';
import { Duration, type RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Archive, EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  type CfnFunction,
  EventSourceMapping,
  type Function as LambdaFunction,
} from 'aws-cdk-lib/aws-lambda';
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
    | 'limiterTableArn'
    | 'cache'
    | 'environment'
    | 'timeoutSeconds'
    | 'memoryMiB'
    | 'logRetentionDays'
    | 'removalPolicy'
  > {
  readonly config: EventsConfig;
  /** The first part of the bus's name; one to each deployment in an account and Region. */
  readonly name: string;
  readonly groups: readonly Group[];
  /** In place of `functions/quote-lookup/handler.ts`. */
  readonly entry?: string;
}

/** As long as SQS keeps a message. Requests are remembered a day longer. */
const retention = Duration.days(14);
/** A message may come back while its function still runs; AWS asks for six times its limit. */
const visibilityFactor = 6;
/** A message that is received so often kills its function each time, or nothing here works. */
const maxReceives = 6;
/** As many as are merged into few calls; a function works through them in about two seconds. */
const batchSize = 100;

const requests = { detailType: Object.values(eventNames).map(({ requested }) => requested) };

export class Lookups extends Construct {
  /** Takes requests, and gives replies. */
  readonly bus: EventBus;
  /** Takes requests as bare JSON, besides those of the bus. */
  readonly queue: Queue;
  /** Requests that could not be served. */
  readonly deadLetters: Queue;
  /** Which requests were answered. */
  readonly table: Table;
  /** May be invoked directly. */
  readonly function: LambdaFunction;
  /** Raised by a dead letter. */
  readonly alarm: Alarm;
  readonly archive?: Archive;

  constructor(scope: Construct, id: string, props: LookupsProps) {
    super(scope, id);
    const { config, name, removalPolicy, timeoutSeconds } = props;
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${name}-lookups`,
      description: 'Requests for quotes and other reads, and their replies',
    });
    this.deadLetters = this.#queue('DeadLetters', { retentionPeriod: retention });
    this.queue = this.#queue('Queue', {
      retentionPeriod: retention,
      visibilityTimeout: Duration.seconds(visibilityFactor * timeoutSeconds),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maxReceives },
    });
    new Rule(this, 'Requests', {
      eventBus: this.bus,
      description: 'Requests, from whatever source, into the queue',
      eventPattern: requests,
      targets: [new SqsQueue(this.queue, { deadLetterQueue: this.deadLetters })],
    });
    this.table = this.#table(removalPolicy);
    this.function = this.#function(props);
    this.alarm = this.#deadLetterAlarm(config.alarmTopic);
    if (config.archiveDays)
      this.archive = new Archive(this, 'Archive', {
        sourceEventBus: this.bus,
        description: 'Requests, to be replayed',
        eventPattern: requests,
        retention: Duration.days(config.archiveDays),
      });
  }

  #function({ config, groups, environment, ...props }: LookupsProps): LambdaFunction {
    const { function: lambda } = new GroupFunction(this, 'quote-lookup', {
      ...props,
      title: 'Lookups by event',
      reservedConcurrency: config.reservedConcurrency,
      entry: props.entry ?? entry,
      environment: {
        ...environment,
        LOOKUP_TABLE: this.table.tableName,
        LOOKUP_QUEUE: this.queue.queueUrl,
        LOOKUP_DEAD_LETTERS: this.deadLetters.queueUrl,
        LOOKUP_BUS: this.bus.eventBusName,
        LOOKUP_GROUPS: groups.join(','),
        LOOKUP_INSTANCES: String(config.concurrency),
      },
      policies: {
        RememberRequests: allowing(['dynamodb:PutItem', 'dynamodb:UpdateItem'], this.table.tableArn),
        TakeRequests: new PolicyDocument({
          statements: [
            allow(
              ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:SendMessage'],
              this.queue.queueArn,
            ),
            allow(['sqs:SendMessage'], this.deadLetters.queueArn),
          ],
        }),
        Reply: allowing(['events:PutEvents'], this.bus.eventBusArn),
      },
    });
    // A message that waits is sent round until its deadline. After 16 rounds Lambda would take that for a defect
    // and stop it.
    (lambda.node.defaultChild as CfnFunction).recursiveLoop = 'Allow';
    new EventSourceMapping(this, 'Messages', {
      target: lambda,
      eventSourceArn: this.queue.queueArn,
      batchSize,
      maxBatchingWindow: Duration.seconds(1),
      reportBatchItemFailures: true,
      maxConcurrency: config.concurrency,
    });
    return lambda;
  }

  #deadLetterAlarm(topicArn: string | undefined): Alarm {
    const alarm = new Alarm(this, 'DeadLetterAlarm', {
      alarmDescription: 'A request could not be served; its message says why in the attribute "reason".',
      metric: this.deadLetters.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(1),
        statistic: 'Maximum',
      }),
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (topicArn) alarm.addAlarmAction(new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', topicArn)));
    return alarm;
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
