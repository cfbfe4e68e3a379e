/** What an operator looks at: one dashboard, of the same metrics as the alarms, and saved queries over the functions' logs. */

import { Duration, Stack } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { CfnQueryDefinition, LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { AlarmSubject } from './alarm-table.ts';
import { type Alarms, isWatched, metricOf, type Watched } from './alarms.ts';

interface DashboardProps {
  readonly name: string;
  readonly watched: Watched;
  readonly alarms: Alarms;
  readonly stageName: string;
}

type Line = readonly [metric: string, of: AlarmSubject, statistic: string];

/** By title; a line whose subject is not there is left out, and a graph without lines, too. */
export const graphs: Readonly<Record<string, readonly Line[]>> = {
  'The limit of market data: left, refused': [
    ['BudgetLeft', 'market-data', 'Minimum'],
    ['BudgetRefused', 'market-data', 'Sum'],
  ],
  'Waited for the limit, milliseconds': [
    ['BudgetWaited', 'market-data', 'p50'],
    ['BudgetWaited', 'market-data', 'p99'],
  ],
  'Shared answers: reads, hits, stale quotes': [
    ['CacheReads', 'quotes', 'Sum'],
    ['CacheHits', 'quotes', 'Sum'],
    ['QuotesStale', 'quotes', 'Sum'],
  ],
  'Age of the oldest quote in an answer, seconds': [['QuoteAge', 'quotes', 'Maximum']],
  'Answers: all, 4xx, 5xx': [
    ['Count', 'api', 'Sum'],
    ['4XXError', 'api', 'Sum'],
    ['5XXError', 'api', 'Sum'],
  ],
  'Time to the answer, milliseconds': [
    ['Latency', 'api', 'p50'],
    ['Latency', 'api', 'p99'],
  ],
  'The upstream: failed, refused, 429': [
    ['UpstreamFailed', 'secret', 'Sum'],
    ['UpstreamRefused', 'secret', 'Sum'],
    ['AccessTokenRefused', 'secret', 'Sum'],
    ['UpstreamRateLimited', 'limiter-table', 'Sum'],
  ],
  'Functions: errors, throttles': [
    ['Errors', 'api-functions', 'Sum'],
    ['Throttles', 'api-functions', 'Sum'],
  ],
  'Orders: unknown, settled, to be cancelled': [
    ['OrdersUnknown', 'order-settlement', 'Maximum'],
    ['OrdersSettled', 'order-settlement', 'Sum'],
    ['MassCancelsOpen', 'mass-cancels', 'Maximum'],
  ],
  'Streams of quotes that are open': [['ConcurrentExecutions', 'quote-streams', 'Maximum']],
  'Market stream: symbols, sessions, mute': [
    ['MarketStreamSymbols', 'market-stream', 'Minimum'],
    ['MarketStreamSessions', 'market-stream', 'Minimum'],
    ['MarketStreamMute', 'market-stream', 'Sum'],
  ],
  'Trade events: connected, published, reconnects': [
    ['TradeEventsConnected', 'trade-events', 'Maximum'],
    ['TradeEventsPublished', 'trade-events', 'Sum'],
    ['TradeEventsReconnects', 'trade-events', 'Sum'],
  ],
};

const ofOrders = 'operation in ["placeOrder", "replaceOrder", "cancelOrder", "placeOptionOrder"]';

/** Of Logs Insights, by what an operator asks; what stands in capitals, the operator replaces. */
export const queries: Readonly<Record<string, readonly string[]>> = {
  'one request': [
    'fields @timestamp, event, operation, status, code, cause, attempts, waitedMs, milliseconds',
    'filter requestId = "REQUEST-ID"',
    'sort @timestamp',
  ],
  'refusals by code': [
    'filter event = "request" and ispresent(code)',
    'stats count(*) as requests by code, operation',
    'sort requests desc',
  ],
  'one user': [
    'fields @timestamp, operation, status, code, account, requestId',
    'filter user = "NAME"',
    'sort @timestamp desc',
  ],
  slowest: [
    'fields @timestamp, operation, milliseconds, waitedMs, attempts, cache, status, requestId',
    'filter event = "request"',
    'sort milliseconds desc',
    'limit 50',
  ],
  'history of orders': [
    'fields @timestamp, event, operation, status, code, user, account, accepted, refused, requestId',
    `filter ${ofOrders} or event in ["orders_settled", "order_settled", "journal_failed", "trading_alarm"]`,
    'sort @timestamp desc',
  ],
};

export function createDashboard(parent: Construct, props: DashboardProps): Dashboard {
  const scope = new Construct(parent, 'Dashboard');
  const logs = parent.node
    .findAll()
    .filter((one): one is LogGroup => one instanceof LogGroup && one.node.id === 'Logs');
  for (const [title, lines] of Object.entries(queries))
    new CfnQueryDefinition(scope, `Query ${title}`.replaceAll(' ', '-'), {
      name: `${props.name}/${title}`,
      queryString: lines.join('\n| '),
      logGroupNames: logs.map(({ logGroupName }) => logGroupName),
    });
  return new Dashboard(scope, 'Dashboard', {
    dashboardName: props.name,
    defaultInterval: Duration.hours(3),
    widgets: rowsOf(widgetsOf(props, logs, Stack.of(parent).region)),
  });
}

const size = { width: 8, height: 6 } as const;

function widgetsOf(
  { watched, alarms, stageName }: DashboardProps,
  logs: LogGroup[],
  region: string,
): IWidget[] {
  const groups = logs.map(({ logGroupName }) => logGroupName);
  const query = (title: string, lines: readonly string[]) =>
    new LogQueryWidget({
      title,
      logGroupNames: groups,
      queryLines: [...lines],
      view: LogQueryVisualizationType.TABLE,
      region,
      ...size,
    });
  const drawn = Object.entries(graphs).flatMap(([title, lines]) => {
    const left = lines
      .filter(([, of]) => isWatched(watched, of))
      .map(([metric, of, statistic]) => metricOf({ metric, of, statistic, minutes: 1 }, watched, stageName));
    return left.length > 0 ? [new GraphWidget({ title, left, ...size })] : [];
  });
  return [
    new AlarmStatusWidget({ title: 'Alarms', alarms: Object.values(alarms), width: 24, height: 3 }),
    ...drawn,
    query('Refusals by code', queries['refusals by code'] ?? []),
    ...(isWatched(watched, 'journal-table')
      ? [
          query('Orders by outcome', [
            `filter ${ofOrders}`,
            'stats count(*) as requests by operation, status, code',
          ]),
        ]
      : []),
  ];
}

/** The first in a row of its own, and then three in each. */
function rowsOf([first, ...rest]: readonly IWidget[]): IWidget[][] {
  const rows: IWidget[][] = first ? [[first]] : [];
  for (let from = 0; from < rest.length; from += 3) rows.push(rest.slice(from, from + 3));
  return rows;
}
