/**
 * Trade and position events: a function that listens to the upstream's stream, started every minute, a table for what it
 * knows, and a bus that it alone puts events on.
 */

import { fileURLToPath } from 'node:url';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { AttributeType, BillingMode, ProjectionType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus, type IRuleTarget, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Effect, PolicyDocument, PolicyStatement, StarPrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { workAttribute, workIndex } from '../../functions/aws/dynamo-trade-event-store.ts';
import { allowing, GroupFunction, type GroupFunctionProps } from './group-function.ts';
import type { ResolvedTradeEvents } from './trade-events-config.ts';

export interface TradeEventsProps
  extends Pick<
    GroupFunctionProps,
    'secretArn' | 'limiterTableArn' | 'environment' | 'logRetentionDays' | 'removalPolicy'
  > {
  readonly config: ResolvedTradeEvents;
  /** The first part of the bus's name; one to each deployment in an account and Region. */
  readonly name: string;
  readonly identityKeyArn: string;
  /** In place of `functions/trade-events/handler.ts`. */
  readonly entry?: string;
}

/** Which events a rule takes; of several values any, of several members all. Nothing: all events. */
export interface TradeEventFilter {
  readonly detailType?: readonly ('OrderChanged' | 'PositionChanged' | 'TradeEventReceived')[];
  /** Accounts as their keyed hashes, as `detail.account` and the gateway's log have them. */
  readonly account?: readonly string[];
  readonly symbol?: readonly string[];
  /** As the upstream names them, such as `FINAL_FILLED`. What was reconciled has none. */
  readonly scene?: readonly string[];
  /** As the upstream names them, such as `FILLED`. */
  readonly status?: readonly string[];
  readonly clientOrderId?: readonly string[];
  /** True: only what no stream delivered. */
  readonly reconciled?: boolean;
}

/** What the function does to its table, and to the table's index; a test compares it with its code. */
export const tradeEventActions = ['BatchGetItem', 'PutItem', 'UpdateItem'];
export const tradeEventIndexActions = ['Query'];

/** Lambda's bound. The function listens for about 14 minutes of it. */
const timeoutSeconds = 900;

/**
 * It uses 76 MB, and waits nearly always. But with 128 it would have a fourteenth of a processor, and a burst of a
 * hundred changes would take some six seconds; with this half of that, and a hand-over less than a second.
 */
const memoryMiB = 256;

export class TradeEvents extends Construct {
  /** Gives events. */
  readonly bus: EventBus;
  /** The listener. */
  readonly function: Lambda;
  /** What is known of orders, and events that the bus has not taken. */
  readonly table: Table;
  readonly alarms: {
    /** No stream for two minutes. */
    readonly notConnected: Alarm;
    /** The upstream refuses the app secret or the access token. */
    readonly refused: Alarm;
    /** The bus takes nothing. */
    readonly unpublished: Alarm;
  };

  constructor(scope: Construct, id: string, props: TradeEventsProps) {
    super(scope, id);
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${props.name}-trade-events`,
      description: 'Changes of orders and positions, as the upstream told them',
    });
    this.table = this.#table(props.removalPolicy);
    this.function = this.#function(props);
    this.#protect();
    this.#start();
    this.alarms = this.#alarms(props.config.alarmTopic);
  }

  /** A rule of the bus. */
  rule(id: string, filter: TradeEventFilter, target: IRuleTarget): Rule {
    const { detailType = ['OrderChanged', 'PositionChanged', 'TradeEventReceived'] } = filter;
    const { account, symbol, scene, status, clientOrderId, reconciled } = filter;
    const detail = {
      ...(account && { account }),
      ...(symbol && { symbol }),
      ...(scene && { scene }),
      ...(status && { status }),
      ...(clientOrderId && { client_order_id: clientOrderId }),
      ...(reconciled !== undefined && { reconciled: [reconciled] }),
    };
    return new Rule(this, id, {
      eventBus: this.bus,
      eventPattern: {
        detailType: [...detailType],
        ...(Object.keys(detail).length > 0 && { detail }),
      },
      targets: [target],
    });
  }

  #table(removalPolicy: RemovalPolicy): Table {
    const table = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      timeToLiveAttribute: 'expires_at',
      // No fixed cost, and no figure to outgrow.
      billingMode: BillingMode.PAY_PER_REQUEST,
      // Without what was known, changes that a gap hid would not be found.
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy,
    });
    table.addLocalSecondaryIndex({
      indexName: workIndex,
      sortKey: { name: workAttribute, type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
    return table;
  }

  #function({ config, name: _, identityKeyArn, environment, entry, ...props }: TradeEventsProps): Lambda {
    const { function: lambda } = new GroupFunction(this, 'Listener', {
      ...props,
      title: 'Trade events',
      purpose: 'listens to the upstream’s stream of events and publishes them',
      entry: entry ?? handler,
      environment: {
        ...environment,
        IDENTITY_KEY_SECRET_ID: identityKeyArn,
        TRADE_EVENTS_URL: config.url,
        TRADE_EVENTS_TABLE: this.table.tableName,
        TRADE_EVENTS_BUS: this.bus.eventBusName,
        TRADE_EVENTS_COMPARE_EVERY_MINUTES: String(config.compareEveryMinutes),
      },
      policies: {
        ReadIdentityKey: allowing(['secretsmanager:GetSecretValue'], identityKeyArn),
        KeepEvents: new PolicyDocument({
          statements: [
            allow(tradeEventActions, this.table.tableArn),
            allow(tradeEventIndexActions, `${this.table.tableArn}/index/${workIndex}`),
          ],
        }),
        Publish: allowing(['events:PutEvents'], this.bus.eventBusArn),
      },
      timeoutSeconds,
      memoryMiB,
      reservedConcurrency: config.reservedConcurrency,
    });
    // The next minute starts another one, which is as good as a retry and later than a storm.
    lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    return lambda;
  }

  /** Consumers believe what lies on this bus: only the listener puts anything there. */
  #protect(): void {
    this.bus.addToResourcePolicy(
      new PolicyStatement({
        sid: 'EventsOfTheListenerAlone',
        effect: Effect.DENY,
        principals: [new StarPrincipal()],
        actions: ['events:PutEvents'],
        resources: [this.bus.eventBusArn],
        conditions: { ArnNotEquals: { 'aws:PrincipalArn': this.function.role?.roleArn } },
      }),
    );
  }

  /** By a schedule and never by itself: AWS stops functions that invoke themselves. */
  #start(): void {
    new Rule(this, 'Schedule', {
      description: 'Starts a listener, which ends at once where another one listens',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(this.function, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
  }

  #alarms(topicArn: string | undefined): TradeEvents['alarms'] {
    const alarm = (id: string, more: AlarmParts) =>
      new Alarm(this, id, {
        alarmDescription: more.description,
        metric: new Metric({
          namespace: 'Countersign',
          metricName: more.metricName,
          dimensionsMap: { Function: this.function.functionName },
          statistic: more.statistic,
          period: more.period,
        }),
        threshold: 1,
        comparisonOperator: more.comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: more.periods ?? 1,
        treatMissingData: more.missing ?? TreatMissingData.NOT_BREACHING,
      });
    const alarms = {
      notConnected: alarm('NotConnectedAlarm', {
        description:
          'No stream of trade events for two minutes: events are late until there is one. The function’s log says why, as trade_stream_ended or trade_events_failed.',
        metricName: 'TradeEventsConnected',
        statistic: 'Maximum',
        period: Duration.minutes(1),
        periods: 2,
        comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
        // A listener that does not run says nothing.
        missing: TreatMissingData.BREACHING,
      }),
      refused: alarm('RefusedAlarm', {
        description:
          'The upstream refuses the app secret or the access token on the event stream, or there is no secret to read: another one is tried within a minute, the same one later and later.',
        metricName: 'TradeEventsRefused',
        statistic: 'Maximum',
        period: Duration.minutes(5),
      }),
      unpublished: alarm('UnpublishedAlarm', {
        description:
          'The bus has taken no trade event for five minutes, although some wait: they stay in the table until it does.',
        metricName: 'TradeEventsUnpublished',
        statistic: 'Minimum',
        period: Duration.minutes(5),
      }),
    };
    if (topicArn) {
      const action = new SnsAction(Topic.fromTopicArn(this, 'AlarmTopic', topicArn));
      for (const one of Object.values(alarms)) one.addAlarmAction(action);
    }
    return alarms;
  }
}

interface AlarmParts {
  readonly description: string;
  readonly metricName: string;
  readonly statistic: string;
  readonly period: Duration;
  readonly periods?: number;
  readonly comparison?: ComparisonOperator;
  readonly missing?: TreatMissingData;
}

const allow = (actions: readonly string[], resource: string) =>
  new PolicyStatement({ actions: actions.map((action) => `dynamodb:${action}`), resources: [resource] });

const handler = fileURLToPath(new URL('../../functions/trade-events/handler.ts', import.meta.url));
