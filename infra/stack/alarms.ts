/** The rows of the table of alarms as alarms of CloudWatch, and who hears of them. */

import { Annotations, Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { dimensionOf } from '../../functions/log/metrics.ts';
import {
  type AlarmName,
  type AlarmRow,
  type AlarmSubject,
  alarmRows,
  type comparisons,
  describeAlarm,
  formulaOf,
  type MetricFormula,
  noneIsTold,
} from './alarm-table.ts';
import type { ResolvedConfig } from './config.ts';

/** What there is in a deployment, by its name in AWS; of functions behind the API all. */
export type Watched = Readonly<
  Partial<Record<Exclude<AlarmSubject, 'api-functions' | 'account'>, string>>
> & {
  readonly 'api-functions': readonly string[];
};

export type Alarms = Readonly<Partial<Record<AlarmName, Alarm>>>;

interface AlarmsProps {
  /** Begins the alarms' names. */
  readonly name: string;
  readonly watched: Watched;
  readonly config: ResolvedConfig;
  /** The API's stage, in its metrics. */
  readonly stageName: string;
}

/** One for each row whose subject is there. */
export function createAlarms(parent: Construct, { name, watched, config, stageName }: AlarmsProps): Alarms {
  const scope = new Construct(parent, 'Alarms');
  const topics = topicsOf(scope, config);
  const made = alarmRows
    .filter(([, { of }]) => isWatched(watched, of))
    .map(([own, row]) => {
      const alarm = new Alarm(scope, own, {
        alarmName: `${name}-${own}`,
        alarmDescription: describeAlarm(row, stageOfStack(scope)),
        metric: metricOf(row, watched, stageName),
        threshold: thresholdOf(row, config),
        comparisonOperator: operators[row.comparison ?? '>='],
        evaluationPeriods: row.periods ?? 1,
        ...(row.breaching !== undefined && { datapointsToAlarm: row.breaching }),
        treatMissingData: missing[row.missing ?? 'fine'],
      });
      const topic = topics(row.part);
      if (topic) alarm.addAlarmAction(new SnsAction(topic));
      return [own, alarm, topic] as const;
    });
  if (made.some(([, , topic]) => !topic)) Annotations.of(parent).addInfo(noneIsTold);
  return Object.fromEntries(made);
}

export const isWatched = (watched: Watched, of: AlarmSubject): boolean =>
  of === 'account' || (watched[of]?.length ?? 0) > 0;

/** The stage that operators give to commands; of a stack of your own there is none. */
const stageOfStack = (scope: Construct) =>
  /^Countersign-(.+)$/.exec(Stack.of(scope).stackName)?.[1] ?? 'STAGE';

const thresholdOf = (
  { threshold }: Pick<AlarmRow, 'threshold'>,
  { accessToken }: Pick<ResolvedConfig, 'accessToken'>,
): number => (typeof threshold === 'number' ? threshold : (accessToken?.alarmDaysBefore ?? 0));

const operators: Readonly<Record<keyof typeof comparisons, ComparisonOperator>> = {
  '>=': ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  '>': ComparisonOperator.GREATER_THAN_THRESHOLD,
  '<': ComparisonOperator.LESS_THAN_THRESHOLD,
  '<=': ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
};

const missing = {
  fine: TreatMissingData.NOT_BREACHING,
  breaching: TreatMissingData.BREACHING,
  same: TreatMissingData.IGNORE,
} as const;

/** A part's own topic, or else that of the stack. */
function topicsOf(scope: Construct, config: ResolvedConfig): (part: AlarmRow['part']) => ITopic | undefined {
  const made = new Map<string, ITopic>();
  const topicOf = (arn: string) => {
    const one = made.get(arn) ?? Topic.fromTopicArn(scope, `Topic${made.size + 1}`, arn);
    made.set(arn, one);
    return one;
  };
  const own = config.alarmEmail === undefined ? undefined : emailTopic(scope, config.alarmEmail);
  return (part) => {
    const arn = (part && config[part]?.alarmTopic) ?? config.alarmTopic;
    return arn === undefined ? own : topicOf(arn);
  };
}

/** Its owner confirms the subscription in the first message. */
function emailTopic(scope: Construct, address: string): Topic {
  const topic = new Topic(scope, 'Topic', { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(address));
  // A topic's own policy takes the place of AWS's, which lets the account's alarms publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AlarmsOfTheAccount',
      actions: ['sns:Publish'],
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
}

type Measured = Pick<AlarmRow, 'of' | 'minutes'> & {
  readonly statistic: string;
  readonly metric: string | MetricFormula<string>;
};

/** What a row's figures are in CloudWatch: for alarms and for the dashboard. */
export function metricOf({ metric, ...measured }: Measured, watched: Watched, stageName: string): IMetric {
  const { metrics, formula, words } = formulaOf(metric);
  const each = Object.entries(metrics).map(
    ([name, one]) => [name, oneOf(one, measured, watched, stageName)] as const,
  );
  const [[only, alone] = []] = each;
  if (alone && formula === only) return alone;
  return new MathExpression({
    expression: formula,
    usingMetrics: Object.fromEntries(each),
    label: words.replaceAll('`', ''),
    period: Duration.minutes(measured.minutes),
  });
}

function oneOf(
  metricName: string,
  { of, statistic, minutes }: Omit<Measured, 'metric'>,
  watched: Watched,
  stageName: string,
): IMetric {
  const period = Duration.minutes(minutes);
  const plain = (namespace: string, dimensionsMap: Readonly<Record<string, string>>, name = metricName) =>
    new Metric({ namespace, metricName: name, dimensionsMap: { ...dimensionsMap }, statistic, period });
  const ofFunction = (FunctionName: string) => plain('AWS/Lambda', { FunctionName });
  switch (of) {
    case 'api-functions':
      return sumOf(watched[of].map(ofFunction), `${metricName} of functions behind the API`, period);
    case 'account': {
      const dimensions = { Type: 'Resource', Resource: metricName, Service: 'Lambda', Class: 'None' };
      return plain('AWS/Usage', dimensions, 'ResourceCount');
    }
    case 'api':
      return plain('AWS/ApiGateway', { ApiName: watched[of] ?? '', Stage: stageName });
    case 'lookup-dead-letters':
    case 'trading-stop-lost':
    case 'order-audit-lost':
      return plain('AWS/SQS', { QueueName: watched[of] ?? '' });
  }
  const found = watched[of] ?? '';
  const dimension = dimensionOf(metricName);
  return dimension === undefined ? ofFunction(found) : plain('Countersign', { [dimension]: found });
}

function sumOf(metrics: readonly Metric[], label: string, period: Duration): IMetric {
  const usingMetrics = Object.fromEntries(
    metrics.map((metric, index) => [`${metric.metricName.toLowerCase()}${index}`, metric]),
  );
  return new MathExpression({
    expression: `SUM([${Object.keys(usingMetrics)}])`,
    usingMetrics,
    label,
    period,
  });
}
