/** Computes the tables of docs/cost.md. */

import { planOfTier } from '../../lib/catalogue/index.ts';
import {
  costOf,
  dearestOf,
  lookupCostOf,
  marketStreamCostOf,
  optionCostOf,
  perUserMonth,
  totalOf,
  tradeEventCostOf,
  transferCost,
  userCostOf,
} from './cost.ts';
import {
  answerBytes,
  hoursPerDay,
  lookupSituations,
  marketStreamSituations,
  optionSituations,
  phones,
  type Situation,
  situations,
  streamSituations,
  tradeEventSituations,
  user,
  userSituations,
} from './cost-figures.ts';
import { pollingMonth, streamMillion, streamMonth } from './cost-streams.ts';

export const readRows = {
  apiGateway: 'API Gateway, requests',
  lambdaRequests: 'Lambda, requests',
  lambdaTime: 'Lambda, time',
  snapshots: 'DynamoDB, shared snapshots',
  limiter: 'DynamoDB, the limiter',
  transfer: 'Transfer out, compressed',
  logs: 'CloudWatch Logs',
};

const lookupRows = {
  events: 'EventBridge, request and reply',
  queue: 'SQS',
  lambdaRequests: 'Lambda, requests',
  lambdaTime: 'Lambda, time',
  table: 'DynamoDB, the table of lookups',
  logs: 'CloudWatch Logs',
};

const userRows = {
  authorizerRequests: 'Lambda, requests to `authorizer`',
  authorizerTime: 'Lambda, its time',
  directory: 'DynamoDB, the users’ table',
  logs: 'CloudWatch Logs, its lines',
};

const tradeEventRows = {
  lambdaTime: 'Lambda, time of `trade-events`',
  lambdaRequests: 'Lambda, requests',
  table: 'DynamoDB, the table of trade events',
  limiter: 'DynamoDB, the limiter',
  events: 'EventBridge',
  secrets: 'Secrets Manager',
  metrics: 'CloudWatch, metrics and alarms',
  logs: 'CloudWatch Logs',
};

const marketStreamRows = {
  lambdaTime: 'Lambda, time of `market-stream`',
  lambdaRequests: 'Lambda, requests',
  lease: 'DynamoDB, the lease',
  log: 'DynamoDB, what the channel told',
  secrets: 'Secrets Manager',
  metrics: 'CloudWatch, metrics and alarms',
  logs: 'CloudWatch Logs',
};

const optionRows = {
  webAcl: '`webAclArn`: AWS WAF, a web ACL with 3 rules',
  key: '`encryptionKey`: KMS, the key and what is asked of it',
  firehose: '`logs.firehoseArn`: Firehose, what it takes in',
  canary: '`canary`: its requests, its secret and its alarm',
  rollout: '`functions.rollout`: CodeDeploy for Lambda',
};

export const dollars = (amount: number): string =>
  amount < 1000 ? `$${amount.toFixed(amount < 0.1 ? 3 : 2)}` : `$${number(Math.round(amount))}`;
export const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 2 });
const line = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** @returns the page with its tables computed from the current figures */
export const withCostTables = (page: string): string =>
  withTables(page, [
    readTable(),
    keyTable(),
    userMonths(),
    ...streamTables(),
    userTable(),
    lookupTable(),
    tradeEventTable(),
    marketStreamTable(),
    optionTable(),
    levers(),
  ]);

/** @returns the page with each table in place of the one with the same first line */
export const withTables = (page: string, tables: readonly (readonly string[])[]): string =>
  tables.reduce((text, table) => {
    const from = text.indexOf(`\n${table[0]}\n`) + 1;
    if (from === 0) throw new Error(`the page has no table ${table[0]}`);
    return text.slice(0, from) + table.join('\n') + text.slice(text.indexOf('\n\n', from));
  }, page);

const hoursInWords = (hours: number) => `${hours} ${hours === 1 ? 'hour' : 'hours'} a day`;

const tableHead = (title: string, columns: readonly { readonly name: string }[]) => [
  line(title, ...columns.map(({ name }) => name)),
  `|---|${columns.map(() => '---:|').join('')}`,
];

/** @returns the table's lines: a row for each part of the cost, and a row with the sums */
function costTable<S extends { readonly name: string }, P extends string>(
  title: string,
  columns: readonly S[],
  costIn: (situation: S) => Readonly<Record<P, number>>,
  labels: Readonly<Record<P, string>>,
  sum: string,
): readonly string[] {
  const costs = columns.map(costIn);
  return [
    ...tableHead(title, columns),
    ...(Object.keys(labels) as P[]).map((part) =>
      line(labels[part], ...costs.map((cost) => dollars(cost[part]))),
    ),
    line(`**${sum}**`, ...costs.map((cost) => `**${dollars(totalOf(cost))}**`)),
  ];
}

function readTable(): readonly string[] {
  const units = (of: (one: Situation) => number) => situations.map((one) => number(of(one)));
  return [
    ...costTable('Dollars per million reads', situations, costOf, readRows, 'Together'),
    line('Reads a second', ...units((one) => one.readsPerSecond)),
    line('Requests to the upstream a second', ...units((one) => one.upstreamPerSecond)),
    line('Read units for one read', ...units((one) => unitsOf(one, 'readUnits'))),
    line('Write units for one read', ...units((one) => unitsOf(one, 'writeUnits'))),
    line(
      'Requests repeated after a refusal',
      ...situations.map((one) => `${number(100 * (one.repeated ?? 0))} %`),
    ),
  ];
}

const keyPlans: readonly (Parameters<typeof dearestOf>[0] & { readonly name: string })[] = [
  { name: "`tier: 'upstream'`", ...planOfTier('upstream') },
  { name: "`tier: 'app'`", ...planOfTier('app') },
  { name: 'with the quota', ...planOfTier('app'), quota: { requests: 5_000_000, per: 'day' } },
];

function keyTable(): readonly string[] {
  const keys = keyPlans.map((plan) => dearestOf(plan));
  const each = (price: number) => keys.map(({ requests }) => dollars((requests * price) / 1_000_000));
  return [
    ...tableHead('Dollars a day for one key', keyPlans),
    line('Requests', ...keys.map(({ requests }) => number(requests))),
    line('Twenty snapshots each', ...each(totalOf(costOf(situations[0]!)))),
    line('1 MiB each, from the cache', ...each(keys[0]!.others)),
    line('**The worst day**', ...keys.map(({ day }) => `**${dollars(day)}**`)),
  ];
}

const lookupTable = () =>
  costTable('Dollars per million lookups', lookupSituations, lookupCostOf, lookupRows, 'Sum');

const streamRows = {
  lambdaTime: 'Lambda, time',
  instances: 'EC2, instances',
  fee: 'Lambda, its fee for them',
  nat: 'NAT gateway',
  apiGateway: 'API Gateway, requests',
  lambdaRequests: 'Lambda, requests',
  transfer: 'Transfer out, not compressed',
  dynamo: 'DynamoDB',
  logs: 'CloudWatch Logs',
};

const streamTables = () => [
  costTable(
    'Dollars for keeping a client current',
    streamSituations,
    streamMillion,
    streamRows,
    'A million times 5 s',
  ),
  [
    ...tableHead(`Dollars a month, ${hoursInWords(hoursPerDay.tradingHours)}`, [
      { name: 'polling each 5 s' },
      { name: 'polling each second' },
      ...streamSituations.map(({ name }) => ({ name: `streams, ${name}` })),
    ]),
    ...phones.map((count) =>
      line(
        `${number(count)} phones`,
        ...[
          pollingMonth(count, 5),
          pollingMonth(count, 1),
          ...streamSituations.map((one) => totalOf(streamMonth(count, one))),
        ].map((sum) => `$${number(Math.round(sum))}`),
      ),
    ),
  ],
];

const userTable = () =>
  costTable('Dollars per million requests', userSituations, userCostOf, userRows, 'Added');

const tradeEventTable = () =>
  costTable('Dollars a month', tradeEventSituations, tradeEventCostOf, tradeEventRows, 'All of it');

const marketStreamTable = () =>
  costTable(
    'Dollars a month for the channel',
    marketStreamSituations,
    marketStreamCostOf,
    marketStreamRows,
    'All of the channel',
  );

const optionTable = () =>
  costTable('Dollars a month for options', optionSituations, optionCostOf, optionRows, 'All of them');

/** DynamoDB's units for one read, of snapshots and limiter together. */
export const unitsOf = (
  { snapshots, limiter, upstreamPerSecond, readsPerSecond }: Situation,
  kind: 'readUnits' | 'writeUnits',
) => snapshots[kind] + (limiter[kind] * upstreamPerSecond) / readsPerSecond;

function userMonths(): readonly string[] {
  const months = (hours: number) => situations.map((one) => perUserMonth(totalOf(costOf(one)), hours));
  return [
    ...tableHead('Dollars a month', situations),
    ...Object.values(hoursPerDay).flatMap((hours) => [
      line(`One user, ${hoursInWords(hours)}`, ...months(hours).map(dollars)),
      line(
        `All of them, ${hoursInWords(hours)}`,
        ...months(hours).map((month, index) => `$${number(Math.round(situations[index]!.clients * month))}`),
      ),
    ]),
  ];
}

function levers(): readonly string[] {
  const [situation] = situations as readonly [Situation];
  const all = totalOf(costOf(situation));
  const { transfer } = costOf(situation);
  const withTransfer = (bytes: number) => all - transfer + transferCost(bytes);
  const { plain, headers } = answerBytes;
  const single = 20;
  const every = (seconds: number) => (perUserMonth(all) * user.everySeconds) / seconds;
  return [
    line('Lever', "What it does to a user's month, an hour a day"),
    '|---|---|',
    line('None', dollars(perUserMonth(all))),
    line('A read every 15 s', dollars(every(15))),
    line('A read every second, against `x-poll-after: 3`', dollars(every(1))),
    line(`A request for each of ${single} symbols, instead of one`, dollars(single * perUserMonth(all))),
    line('Without compression', dollars(perUserMonth(withTransfer(plain + headers)))),
    line('304 for half of the reads', dollars(perUserMonth((all + withTransfer(headers)) / 2))),
  ];
}
