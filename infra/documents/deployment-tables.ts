/** Makes the tables of a stage's size in docs/deployment.md and of its removal in docs/operation.md, from templates. */

import { dollars } from '../cost/cost-tables.ts';
import { atRest, fate, type Resource, resourcesOf } from '../cost/deployment.ts';
import type { CountersignConfig } from '../stack/config.ts';

const minimal = {
  upstream: { baseUrl: 'https://upstream.example', limits: 'published' },
  marketDataUse: 'own-use',
  dashboard: 'off',
} as const satisfies CountersignConfig;

/** Settings that bring further resources, by their name in the table. */
const optionConfigs: Readonly<Record<string, Partial<CountersignConfig>>> = {
  '`accounts`, `orders` or `watchlists` open': { groups: { accounts: 'iam' } },
  '`orders` or `watchlists` open': { groups: { watchlists: 'iam' } },
  '`orders` open': { groups: { orders: 'iam' } },
  '`events`': { events: {} },
  '`events` with account data': { groups: { accounts: 'iam' }, events: { groups: ['accounts'] } },
  '`events.archiveDays`': { events: { archiveDays: 1 } },
  '`canary`': { canary: {} },
  '`tradeEvents`': { tradeEvents: {} },
  '`marketStream`': { marketStream: { url: 'mqtts://quotes.example:1883' } },
  '`live.maxOrderStreams`': {
    groups: { orders: 'iam' },
    tradeEvents: {},
    live: { maxOrderStreams: 10 },
  },
  '`trading.stopOnAlarms`': { groups: { orders: 'iam' }, trading: { limits: 'none', stopOnAlarms: {} } },
  '`alarmEmail`': { alarmEmail: 'ops@example.com' },
};

const liveLimits = { maxStreams: 10, maxOrderStreams: 10 };

const fullConfig: CountersignConfig = {
  ...minimal,
  groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam', screeners: 'iam' },
  live: liveLimits,
  events: {},
  accessToken: {},
  canary: {},
  tradeEvents: {},
  marketStream: { url: 'mqtts://quotes.example:1883' },
  trading: { limits: 'none', stopOnAlarms: {} },
};

/** Compares a stage that sets only what is required with one that has everything on. */
export function sizeLines(): readonly string[] {
  const columns = [minimal, fullConfig].map((config) => atRest(resourcesOf({ ...config, dashboard: 'on' })));
  const row = (name: string, cell: (one: (typeof columns)[number]) => string) =>
    `| ${[name, ...columns.map(cell)].join(' | ')} |`;
  return [
    '| What a stage has | with only `upstream` and `marketDataUse` | with all groups and parts |',
    '|---|---:|---:|',
    row('CloudFormation resources', ({ resources }) => String(resources)),
    row('Tables', ({ tables }) => String(tables)),
    row('Secrets', ({ secrets }) => String(secrets)),
    row('Alarms', ({ alarms }) => String(alarms)),
    row('Metrics that the alarms watch', ({ alarmMetrics }) => String(alarmMetrics)),
    row('Dollars a month for secrets and alarms', (one) => dollars(one.dollars)),
  ];
}

const resourceLabels: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'table',
  'AWS::SecretsManager::Secret': 'secret',
  'AWS::SQS::Queue': 'queue',
  'AWS::Logs::LogGroup': 'log group',
  'AWS::Events::Archive': 'archive',
  'AWS::SNS::Topic': 'topic',
};

/** Rows on a stage's removal: one for each table, secret, queue and topic, and one for all log groups, which share theirs. */
export function fateLines(): readonly string[] {
  const found = (config: Partial<CountersignConfig>) =>
    resourcesOf({ ...minimal, ...config }).filter(({ type }) => type in resourceLabels);
  const retained = new Map(found({ ...fullConfig, onRemoval: 'retain' }).map((one) => [one.id, one]));
  const isLog = ({ type }: Resource) => type === 'AWS::Logs::LogGroup';
  const seenIds = new Set<string>();
  const rowOf = (what: string, where: string, one: Resource) =>
    `| ${what} | ${where} | ${fate(one)} | ${fate(retained.get(one.id) ?? one)} |`;
  const rowsFor = (where: string, config: Partial<CountersignConfig>) => {
    const own = found(config).filter((one) => !isLog(one) && !seenIds.has(one.id));
    for (const { id } of own) seenIds.add(id);
    return own.map((one) => rowOf(`${resourceLabels[one.type]} \`${one.id}\``, where, one));
  };
  return [
    "| What | Exists with | `onRemoval: 'destroy'` | `onRemoval: 'retain'` |",
    '|---|---|---|---|',
    ...rowsFor('every stage', {}),
    ...new Set(
      found(fullConfig)
        .filter(isLog)
        .map((one) => rowOf('log groups', 'every stage', one)),
    ),
    ...Object.entries(optionConfigs).flatMap(([where, config]) => rowsFor(where, config)),
  ];
}
