/**
 * Lookups by event: a bus, its rule, a queue with dead letters, and the function between them and the
 * upstream. Where account data is readable, the bus has a queue of its own, so that the function knows which sources
 * the bus has admitted.
 */

import { fileURLToPath } from 'node:url';
import { Duration, type RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Archive, EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import {
  Effect,
  Grant,
  type IGrantable,
  PolicyDocument,
  PolicyStatement,
  StarPrincipal,
} from 'aws-cdk-lib/aws-iam';
import {
  type CfnFunction,
  EventSourceMapping,
  type Function as LambdaFunction,
} from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type Group, isAccountData } from '../../lib/catalogue/groups.ts';
import { eventNames, reservedSources } from '../../lib/events/names.ts';
import { ConfigError } from './config.ts';
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
  /** Required where account data is readable: what tells the function whom operators have granted it. */
  readonly users?:
    | {
        readonly policies: Readonly<Record<string, PolicyDocument>>;
        readonly variables: Readonly<Record<string, string>>;
      }
    | undefined;
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
  /** Takes those of the bus where account data is readable: what comes from elsewhere can name any source. */
  readonly busQueue?: Queue;
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
    const { config, name, groups, removalPolicy, timeoutSeconds } = props;
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${name}-lookups`,
      description: 'Requests for quotes and other reads, and their replies',
    });
    this.deadLetters = this.#queue('DeadLetters', { retentionPeriod: retention });
    const source = {
      retentionPeriod: retention,
      visibilityTimeout: Duration.seconds(visibilityFactor * timeoutSeconds),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maxReceives },
    };
    this.queue = this.#queue('Queue', source);
    if (groups.some(isAccountData)) this.busQueue = this.#queue('BusQueue', source);
    new Rule(this, 'Requests', {
      eventBus: this.bus,
      description: 'Requests, from whatever source, into the queue',
      eventPattern: requests,
      targets: [new SqsQueue(this.busQueue ?? this.queue, { deadLetterQueue: this.deadLetters })],
    });
    this.table = this.#table(removalPolicy);
    this.function = this.#function(props);
    this.#protectReplies();
    this.alarm = this.#deadLetterAlarm(config.alarmTopic);
    if (config.archiveDays)
      this.archive = new Archive(this, 'Archive', {
        sourceEventBus: this.bus,
        description: 'Requests, to be replayed',
        eventPattern: requests,
        retention: Duration.days(config.archiveDays),
      });
  }

  /** @throws ConfigError */
  grantPutEvents(grantee: IGrantable, sources: readonly string[]): Grant {
    const reserved = sources.find((source) => reservedSources.includes(source));
    if (reserved) throw new ConfigError(`${reserved} is no source of a request.`);
    if (sources.length > 0)
      return Grant.addToPrincipal({
        grantee,
        actions: ['events:PutEvents'],
        resourceArns: [this.bus.eventBusArn],
        // The first condition alone also holds for a call that names none.
        conditions: {
          'ForAllValues:StringEquals': { 'events:source': sources },
          Null: { 'events:source': 'false' },
        },
      });
    if (this.busQueue)
      throw new ConfigError(
        'grantPutEvents takes the sources that the identity may name: where account data is readable by event, operators grant it to sources.',
      );
    return this.bus.grantPutEventsTo(grantee);
  }

  /** Consumers believe what has our source: also an identity that may put other events does not put that. */
  #protectReplies(): void {
    this.bus.addToResourcePolicy(
      new PolicyStatement({
        sid: 'RepliesOfTheFunctionAlone',
        effect: Effect.DENY,
        principals: [new StarPrincipal()],
        actions: ['events:PutEvents'],
        resources: [this.bus.eventBusArn],
        conditions: {
          'ForAnyValue:StringEquals': { 'events:source': reservedSources },
          ArnNotEquals: { 'aws:PrincipalArn': this.function.role?.roleArn },
        },
      }),
    );
  }

  #function({ config, groups, environment, users, ...props }: LookupsProps): LambdaFunction {
    const queues = [this.queue, ...(this.busQueue ? [this.busQueue] : [])];
    const { function: lambda } = new GroupFunction(this, 'quote-lookup', {
      ...props,
      title: 'Lookups by event',
      reservedConcurrency: config.reservedConcurrency,
      entry: props.entry ?? entry,
      environment: {
        ...environment,
        ...users?.variables,
        LOOKUP_TABLE: this.table.tableName,
        LOOKUP_QUEUE: this.queue.queueUrl,
        ...(this.busQueue && { LOOKUP_BUS_QUEUE: this.busQueue.queueUrl }),
        LOOKUP_DEAD_LETTERS: this.deadLetters.queueUrl,
        LOOKUP_BUS: this.bus.eventBusName,
        LOOKUP_GROUPS: groups.join(','),
        LOOKUP_INSTANCES: String(queues.length * config.concurrency),
      },
      policies: {
        ...users?.policies,
        RememberRequests: allowing(['dynamodb:PutItem', 'dynamodb:UpdateItem'], this.table.tableArn),
        TakeRequests: new PolicyDocument({
          statements: [
            allow(
              ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:SendMessage'],
              ...queues.map(({ queueArn }) => queueArn),
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
    this.#mapping('Messages', this.queue, lambda, config);
    if (this.busQueue) this.#mapping('BusMessages', this.busQueue, lambda, config);
    return lambda;
  }

  #mapping(id: string, { queueArn }: Queue, target: LambdaFunction, { concurrency }: EventsConfig): void {
    new EventSourceMapping(this, id, {
      target,
      eventSourceArn: queueArn,
      batchSize,
      maxBatchingWindow: Duration.seconds(1),
      reportBatchItemFailures: true,
      maxConcurrency: concurrency,
    });
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

const allow = (actions: string[], ...resources: string[]) => new PolicyStatement({ actions, resources });
