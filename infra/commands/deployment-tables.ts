/** What docs/deployment.md says of a stage's size, and docs/operation.md of its end: made of templates. */

import type { CountersignConfig } from '../stack/config.ts';
import { dollars } from './cost-tables.ts';
import { atRest, type Resource, resourcesOf } from './deployment.ts';

const base = {
  upstream: { baseUrl: 'https://upstream.example', limits: 'published' },
  marketDataUse: 'own-use',
  dashboard: 'off',
} as const satisfies CountersignConfig;

/** By what a deployer writes into the stage. */
const options: Readonly<Record<string, Partial<CountersignConfig>>> = {
  '`groups: { orders: … }`': { groups: { orders: 'iam' } },
  '`groups: { …: ’jwt’ }`': {
    groups: { accounts: 'jwt' },
    auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
  },
  '`live.maxStreams`': { live: { maxStreams: 10 } },
  '`events`': { events: {} },
  '`accessToken`': { accessToken: {} },
  '`canary`': { canary: {} },
  '`tradeEvents`': { tradeEvents: {} },
  '`live.maxOrderStreams`': {
    groups: { orders: 'iam' },
    tradeEvents: {},
    live: { maxOrderStreams: 10 },
  },
  '`trading.stopOnAlarms`': { groups: { orders: 'iam' }, trading: { limits: 'none', stopOnAlarms: {} } },
  '`logs.access`': { logs: { access: 'use-account-role' } },
  '`alarmEmail`': { alarmEmail: 'ops@example.com' },
};

const live = { maxStreams: 10, maxOrderStreams: 10 };

export const everything: CountersignConfig = {
  ...base,
  groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam', screeners: 'iam' },
  live,
  events: {},
  accessToken: {},
  canary: {},
  tradeEvents: {},
  trading: { limits: 'none', stopOnAlarms: {} },
};

/** Of a stage with nothing but its upstream, and with everything on. */
export function sizeLines(): readonly string[] {
  const columns = [base, everything].map((config) => atRest(resourcesOf({ ...config, dashboard: 'on' })));
  const row = (name: string, cell: (one: (typeof columns)[number]) => string) =>
    `| ${[name, ...columns.map(cell)].join(' | ')} |`;
  return [
    '| What a stage has | with only `upstream` set | with everything on |',
    '|---|---:|---:|',
    row('Resources of CloudFormation', ({ resources }) => String(resources)),
    row('Tables', ({ tables }) => String(tables)),
    row('Secrets', ({ secrets }) => String(secrets)),
    row('Alarms', ({ alarms }) => String(alarms)),
    row('Metrics that the alarms watch', ({ alarmMetrics }) => String(alarmMetrics)),
    row('Dollars a month for secrets and alarms', (one) => dollars(one.dollars)),
  ];
}

const kept: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'table',
  'AWS::SecretsManager::Secret': 'secret',
  'AWS::SQS::Queue': 'queue',
  'AWS::Logs::LogGroup': 'log group',
  'AWS::Events::Archive': 'archive',
  'AWS::SNS::Topic': 'topic',
};

/** A row for each table, secret, queue and topic; one for the log groups of each option, which have one fate. */
export function fateLines(): readonly string[] {
  const found = (config: Partial<CountersignConfig>) =>
    resourcesOf({ ...base, ...config }).filter(({ type }) => type in kept);
  const all = Object.assign({}, ...Object.values(options)) as Partial<CountersignConfig>;
  const groups = { accounts: 'jwt', orders: 'iam' } as const;
  const retained = new Map(found({ ...all, groups, live, onRemoval: 'retain' }).map((one) => [one.id, one]));
  const seen = new Set<string>();
  const rowsFor = (where: string, config: Partial<CountersignConfig>) => {
    const own = found(config).filter(({ id }) => !seen.has(id));
    for (const { id } of own) seen.add(id);
    const isLog = ({ type }: Resource) => type === 'AWS::Logs::LogGroup';
    const logs = own.filter(isLog);
    const rows = own
      .filter((one) => !isLog(one))
      .map((one) => [`${kept[one.type]} \`${one.id}\``, one] as const);
    const [log] = logs;
    return [...rows, ...(log ? [[`log groups: ${logs.length}`, log] as const] : [])].map(
      ([name, one]) => `| ${name} | ${where} | ${fate(one)} | ${fate(retained.get(one.id) ?? one)} |`,
    );
  };
  return [
    "| What | Exists with | `onRemoval: 'destroy'` | `onRemoval: 'retain'` |",
    '|---|---|---|---|',
    ...rowsFor('every stage', {}),
    ...Object.entries(options).flatMap(([where, config]) => rowsFor(where, config)),
  ];
}

/** What becomes of a resource when its stack is deleted. */
export function fate({ type, stays, properties }: Resource): string {
  if (stays)
    return properties.DeletionProtectionEnabled
      ? 'stays; cannot be deleted until its protection is off'
      : 'stays';
  const hasBackups =
    type === 'AWS::DynamoDB::Table' && properties.PointInTimeRecoverySpecification !== undefined;
  return hasBackups ? 'goes; AWS keeps a backup for 35 days' : 'goes';
}
