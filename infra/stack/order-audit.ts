/**
 * The audit of orders: a function that reads the journal's stream, a table to which it alone adds lines, and a bus on
 * which it alone tells what was settled.
 */

import { fileURLToPath } from 'node:url';
import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus, type IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import { Effect, Policy, PolicyStatement, StarPrincipal } from 'aws-cdk-lib/aws-iam';
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type Function as LambdaFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { orderSettledName } from '../../lib/orders/settled-event.ts';
import { allowing, GroupFunction } from './group-function.ts';

export interface OrderAuditProps {
  /** The journal's table, with a stream of old and new images. */
  readonly journal: Table;
  /** The first part of the bus's name; one to each deployment in an account and Region. */
  readonly name: string;
  readonly identityKeyArn: string;
  readonly logRetentionDays: number;
  readonly removalPolicy: RemovalPolicy;
}

/** Which events a rule takes; of several values any, of several members all. Nothing: all events. */
export interface OrderSettledFilter {
  /** Accounts as their keyed hashes, as `detail.account` and the gateway's log have them. */
  readonly account?: readonly string[];
  readonly state?: readonly ('accepted' | 'refused')[];
  readonly clientOrderId?: readonly string[];
}

/** What the function does to the audit's table; a test compares it with its code. */
export const orderAuditActions = ['PutItem'];

/** What Lambda does to the journal's stream with the function's role. */
const streamActions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];

/** What would change or remove a line, or have DynamoDB remove it. A transaction is of these, too. */
const changing = [
  'UpdateItem',
  'DeleteItem',
  'BatchWriteItem',
  'PartiQLInsert',
  'PartiQLUpdate',
  'PartiQLDelete',
  'UpdateTimeToLive',
].map((action) => `dynamodb:${action}`);

/** A hundred lines are written and their events put within some seconds, also while DynamoDB throttles. */
const timeoutSeconds = 60;
const memoryMiB = 256;
const batchSize = 100;
const behindMinutes = 5;

/**
 * Lines lie in DynamoDB, and not in objects with a lock: an order has three lines, each of which costs an eighth of an
 * object's write; the command reads a day of them by one query; and a stack that is to be removed with its tables can
 * be, which a locked object forbids. The lock is in the table's own policy, which counts for administrators, too: it
 * refuses each operation that changes or removes a line, and every writer but the function, whose code adds a line only
 * where there is none. An administrator who wants to change a line has to change the policy first, which CloudTrail shows.
 */
export class OrderAudit extends Construct {
  /** The lines. */
  readonly table: Table;
  /** Tells what was settled. */
  readonly bus: EventBus;
  /** The only one that adds lines. */
  readonly function: LambdaFunction;
  /** Which part of the stream was given up, because it could not be audited for a day. */
  readonly lost: Queue;
  readonly alarms: {
    /** The audit is more than five minutes behind the journal. */
    readonly behind: Alarm;
    /** The function fails as a whole. */
    readonly failed: Alarm;
    /** Changes left the stream without a line. */
    readonly lost: Alarm;
  };

  constructor(scope: Construct, id: string, props: OrderAuditProps) {
    super(scope, id);
    this.table = auditTable(this, props.removalPolicy);
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${props.name}-orders`,
      description: 'What became of orders whose outcome was not known',
    });
    this.lost = new Queue(this, 'Lost', {
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    Validations.of(this.lost).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is where failures end: what lies there is for a person, and an alarm says so.',
    });
    this.function = this.#function(props);
    this.#protect();
    this.#readStream(props.journal);
    this.alarms = this.#alarms();
  }

  /** A rule of the bus. */
  rule(id: string, { account, state, clientOrderId }: OrderSettledFilter, target: IRuleTarget): Rule {
    const detail = {
      ...(account && { account }),
      ...(state && { state }),
      ...(clientOrderId && { client_order_id: clientOrderId }),
    };
    return new Rule(this, id, {
      eventBus: this.bus,
      eventPattern: {
        detailType: [orderSettledName],
        ...(Object.keys(detail).length > 0 && { detail }),
      },
      targets: [target],
    });
  }

  #function({ journal, identityKeyArn, logRetentionDays, removalPolicy }: OrderAuditProps): LambdaFunction {
    const { function: lambda } = new GroupFunction(this, 'Auditor', {
      title: 'Audit of orders',
      purpose: 'writes a line for each change of the journal, and tells what was settled',
      entry: handler,
      environment: {
        ORDER_AUDIT_TABLE: this.table.tableName,
        ORDER_EVENTS_BUS: this.bus.eventBusName,
        IDENTITY_KEY_SECRET_ID: identityKeyArn,
      },
      policies: {
        ReadIdentityKey: allowing(['secretsmanager:GetSecretValue'], identityKeyArn),
        ReadStream: allowing(
          streamActions.map((action) => `dynamodb:${action}`),
          journal.tableStreamArn ?? '',
        ),
        NoteLost: allowing(['sqs:SendMessage'], this.lost.queueArn),
        Publish: allowing(['events:PutEvents'], this.bus.eventBusArn),
      },
      timeoutSeconds,
      memoryMiB,
      logRetentionDays,
      removalPolicy,
    });
    return lambda;
  }

  #protect(): void {
    const { role } = this.function;
    if (!role) throw new TypeError('a function without a role');
    // Apart from the role: the table's policy names the role, so the role cannot name the table.
    new Policy(this, 'AddLines', {
      policyName: 'AddLines',
      roles: [role],
      statements: [
        new PolicyStatement({
          actions: orderAuditActions.map((action) => `dynamodb:${action}`),
          resources: [this.table.tableArn],
        }),
      ],
    });
    const everyoneElse = { ArnNotEquals: { 'aws:PrincipalArn': role.roleArn } };
    const deny = { effect: Effect.DENY, principals: [new StarPrincipal()] };
    // A table's policy cannot name the table, and speaks of no other.
    const resources = ['*'];
    this.table.addToResourcePolicy(
      new PolicyStatement({ sid: 'LinesStayAsTheyAre', ...deny, actions: changing, resources }),
    );
    this.table.addToResourcePolicy(
      new PolicyStatement({
        sid: 'LinesOfTheAuditorAlone',
        ...deny,
        actions: orderAuditActions.map((action) => `dynamodb:${action}`),
        resources,
        conditions: everyoneElse,
      }),
    );
    this.bus.addToResourcePolicy(
      new PolicyStatement({
        sid: 'EventsOfTheAuditorAlone',
        ...deny,
        actions: ['events:PutEvents'],
        resources: [this.bus.eventBusArn],
        conditions: everyoneElse,
      }),
    );
  }

  /** From the first record, and each again until it is audited or a day old, when the stream forgets it. */
  #readStream({ tableStreamArn = '' }: Table): void {
    new EventSourceMapping(this, 'Changes', {
      target: this.function,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize,
      maxBatchingWindow: Duration.seconds(1),
      // Counters of orders lie in the same table, change with each order, and say nothing that is audited.
      filters: ['NewImage', 'OldImage'].map((image) =>
        FilterCriteria.filter({ dynamodb: { [image]: { attempt: { S: FilterRule.exists() } } } }),
      ),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: { bind: () => ({ destination: this.lost.queueArn }) },
    });
  }

  #alarms(): OrderAudit['alarms'] {
    const alarm = (id: string, alarmDescription: string, metric: IMetric, threshold: number) =>
      new Alarm(this, id, {
        alarmDescription,
        metric,
        threshold,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
    const period = Duration.minutes(5);
    return {
      behind: alarm(
        'BehindAlarm',
        'The audit of orders is five minutes behind the journal: lines and OrderSettled events are late. After a day the stream forgets. The log events order_not_audited and order_event_not_published say why.',
        this.function.metric('IteratorAge', { period, statistic: 'Maximum' }),
        behindMinutes * 60_000,
      ),
      failed: alarm(
        'FailedAlarm',
        'The function that audits orders fails as a whole; its log says why.',
        this.function.metricErrors({ period }),
        1,
      ),
      lost: alarm(
        'LostAlarm',
        'Changes of the journal left its stream without a line in the audit; a message in the queue names the part of the stream. The journal itself has the last state of each order.',
        this.lost.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
        1,
      ),
    };
  }
}

const auditTable = (scope: Construct, removalPolicy: RemovalPolicy): Table =>
  new Table(scope, 'Table', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    // No fixed cost, and no figure to outgrow.
    billingMode: BillingMode.PAY_PER_REQUEST,
    // What was ordered is said nowhere else for good.
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
    removalPolicy,
  });

const handler = fileURLToPath(new URL('../../functions/order-audit/handler.ts', import.meta.url));
