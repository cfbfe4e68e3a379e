/**
 * Lookups by event: a bus, its rule, a queue with dead letters, and the function between them and the
 * upstream. Where account data is readable, the bus has a queue of its own, so that the function knows which sources
 * the bus has admitted. Who asks directly has a function apart: it takes no messages, and a message says whose it is.
 */

import { Duration } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Archive, EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import {
  type CfnFunction,
  EventSourceMapping,
  type Function as LambdaFunction,
} from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { readsOf } from '../../functions/settings/lookup-settings.ts';
import { type LookupQueues, writePart } from '../../functions/settings/parts.ts';
import { type Group, isAccountData } from '../../lib/catalogue/groups.ts';
import { eventNames, reservedSources } from '../../lib/events/names.ts';
import { ConfigError } from './config.ts';
import { allow, GroupFunction } from './group-function.ts';
import type { ResolvedEvents } from './lookups-config.ts';
import { createQueue, protectBus } from './queues-and-buses.ts';
import type { Shared } from './shared.ts';
import { allowTable, createTable } from './tables.ts';

interface LookupsProps {
  readonly shared: Shared;
  readonly config: ResolvedEvents;
}

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
  /** Takes messages of the queues. An identity that may invoke it can take any requester's id. */
  readonly function: LambdaFunction;
  /** May be invoked directly. */
  readonly directFunction: LambdaFunction;
  readonly archive?: Archive;

  constructor(scope: Construct, id: string, props: LookupsProps) {
    super(scope, id);
    const { shared, config } = props;
    const groups = config.groups.filter((group) => shared.operations.some((one) => one.group === group));
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${shared.name}-lookups`,
      description: 'Requests for quotes and other reads, and their replies',
    });
    this.deadLetters = createQueue(this, 'DeadLetters');
    const source = {
      visibilityTimeout: Duration.seconds(visibilityFactor * shared.config.functions.timeoutSeconds),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maxReceives },
    };
    this.queue = createQueue(this, 'Queue', source);
    if (groups.some(isAccountData)) this.busQueue = createQueue(this, 'BusQueue', source);
    new Rule(this, 'Requests', {
      eventBus: this.bus,
      description: 'Requests, from whatever source, into the queue',
      eventPattern: requests,
      targets: [new SqsQueue(this.busQueue ?? this.queue, { deadLetterQueue: this.deadLetters })],
    });
    this.table = createTable(this, 'Table', {
      expires: true,
      noBackups:
        'It remembers for 15 days which requests were answered: a copy of an earlier moment would forget the last of them, and what is answered lies on the bus.',
      removalPolicy: shared.removalPolicy,
    });
    this.function = this.#queueFunction(props, groups);
    this.directFunction = this.#directFunction(props, groups);
    // Only what has our source: an identity that may put other events does not put that.
    protectBus(this.bus, 'RepliesOfTheFunctionAlone', this.function, {
      'ForAnyValue:StringEquals': { 'events:source': reservedSources },
    });
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

  get #queues(): readonly Queue[] {
    return [this.queue, ...(this.busQueue ? [this.busQueue] : [])];
  }

  /** As many as the mappings let work on the queues at once. */
  #atQueues({ concurrency }: ResolvedEvents): number {
    return this.#queues.length * concurrency;
  }

  /** What both functions are made of. */
  #reading({ shared, config }: LookupsProps, groups: readonly Group[], queues?: LookupQueues) {
    const reads = readsOf(shared.operations, groups);
    const { timeoutSeconds, memoryMiB } = shared.config.functions;
    return {
      ...shared.asking(reads),
      entry: shared.entryOf('quote-lookup'),
      cache: shared.cache.accessOf(reads),
      // What tells it whom operators have granted account data.
      access: [shared.users?.accessOf(...groups.filter(isAccountData))],
      variables: writePart('LOOKUPS', { groups, instances: this.#atQueues(config), queues }),
      timeoutSeconds,
      memoryMiB,
    };
  }

  #directFunction(props: LookupsProps, groups: readonly Group[]): LambdaFunction {
    const { reservedConcurrency } = props.config;
    return new GroupFunction(this, 'direct-lookup', {
      ...this.#reading(props, groups),
      title: 'Direct lookups',
      reservedConcurrency: reservedConcurrency && reservedConcurrency - this.#atQueues(props.config),
    }).function;
  }

  #queueFunction(props: LookupsProps, groups: readonly Group[]): LambdaFunction {
    const { shared, config } = props;
    const queues: LookupQueues = {
      tableName: this.table.tableName,
      queueUrl: this.queue.queueUrl,
      busQueueUrl: this.busQueue?.queueUrl,
      deadLetterUrl: this.deadLetters.queueUrl,
      busName: this.bus.eventBusName,
    };
    const lambda = shared.worker(this, 'quote-lookup', 'quote-lookup', {
      ...this.#reading(props, groups, queues),
      policies: {
        RememberRequests: [allowTable(['PutItem', 'UpdateItem'], this.table.tableArn)],
        TakeRequests: [
          allow(
            ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:SendMessage'],
            ...this.#queues.map(({ queueArn }) => queueArn),
          ),
          allow(['sqs:SendMessage'], this.deadLetters.queueArn),
        ],
        Reply: [allow(['events:PutEvents'], this.bus.eventBusArn)],
      },
      reservedConcurrency: config.reservedConcurrency && this.#atQueues(config),
    });
    // A message that waits is sent round until its deadline. After 16 rounds Lambda would take that for a defect
    // and stop it.
    (lambda.node.defaultChild as CfnFunction).recursiveLoop = 'Allow';
    this.#mapping('Messages', this.queue, lambda, config);
    if (this.busQueue) this.#mapping('BusMessages', this.busQueue, lambda, config);
    return lambda;
  }

  #mapping(id: string, { queueArn }: Queue, target: LambdaFunction, { concurrency }: ResolvedEvents): void {
    new EventSourceMapping(this, id, {
      target,
      eventSourceArn: queueArn,
      batchSize,
      maxBatchingWindow: Duration.seconds(1),
      reportBatchItemFailures: true,
      maxConcurrency: concurrency,
    });
  }
}
