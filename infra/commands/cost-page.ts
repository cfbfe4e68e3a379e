/** The page docs/cost.md: each of its figures is computed. */

import {
  type Cost,
  costOf,
  type LookupCost,
  lookupCostOf,
  massCancelCost,
  orderAuditCost,
  perUserMonth,
  readsPerUserMonth,
  type TradeEventCost,
  totalOf,
  tradeEventCostOf,
  transferCost,
  type UserCost,
  userCostOf,
} from './cost.ts';
import {
  answerBytes,
  countedOrderWrites,
  hoursPerDay,
  tradeEvents as listener,
  lookupSituations,
  massCancels,
  orderAudit,
  orderWrites,
  prices,
  type Situation,
  situations,
  tradeEventSituations,
  user,
  users as userFigures,
  userSituations,
} from './cost-figures.ts';

const rows: readonly (readonly [part: keyof Cost, label: string])[] = [
  ['apiGateway', 'API Gateway, requests'],
  ['lambdaRequests', 'Lambda, requests'],
  ['lambdaTime', 'Lambda, time'],
  ['snapshots', 'DynamoDB, shared snapshots'],
  ['limiter', 'DynamoDB, the limiter'],
  ['transfer', 'Transfer out, compressed'],
  ['logs', 'CloudWatch Logs'],
];

const lookupRows: readonly (readonly [part: keyof LookupCost, label: string])[] = [
  ['events', 'EventBridge, request and reply'],
  ['queue', 'SQS'],
  ['lambdaRequests', 'Lambda, requests'],
  ['lambdaTime', 'Lambda, time'],
  ['table', 'DynamoDB, the table of lookups'],
  ['logs', 'CloudWatch Logs'],
];

const userRows: readonly (readonly [part: keyof UserCost, label: string])[] = [
  ['authorizerRequests', 'Lambda, requests to the authorizer'],
  ['authorizerTime', 'Lambda, its time'],
  ['directory', 'DynamoDB, the users’ table'],
  ['logs', 'CloudWatch Logs, its lines'],
];

const tradeEventRows: readonly (readonly [part: keyof TradeEventCost, label: string])[] = [
  ['lambdaTime', 'Lambda, time'],
  ['lambdaRequests', 'Lambda, requests'],
  ['table', 'DynamoDB, the table of trade events'],
  ['limiter', 'DynamoDB, the limiter'],
  ['events', 'EventBridge'],
  ['secrets', 'Secrets Manager'],
  ['metrics', 'CloudWatch, metrics and alarms'],
  ['logs', 'CloudWatch Logs'],
];

const countedUnits = Object.values(countedOrderWrites).reduce((sum, units) => sum + units, 0);
const orderUnits = orderWrites.begin + orderWrites.finish + orderWrites.index;

const dollars = (amount: number) => `$${amount.toFixed(amount < 0.1 ? 3 : 2)}`;
const number = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 2 });
const line = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** @returns Markdown, the same for the same figures */
export function costPage(): string {
  const [large, , small] = situations as readonly [Situation, Situation, Situation];
  return `# What it costs

For those who pay for a deployment: what a million reads, an active user, users with accounts, a million lookups by
event and a month of trade events cost.

Made from \`infra/commands/cost-figures.ts\` by \`npm run docs\`; a test keeps it current. Prices are those of
us-east-1, on demand, without free tiers: compare them with AWS's own pages before you rely on them. Units of DynamoDB
come from load on a virtual clock, sizes from the simulator. **Nothing here was measured on AWS**: Lambda's time is an
assumption, ${times()}.

## A million reads

A read is one request for the snapshots of twenty symbols; each client sends one every ${user.everySeconds} seconds.

${table()}

- **API Gateway is most of it**, and its price is for the request, whatever is in it. Lambda and DynamoDB together are
  ${percent(besides(large), totalOf(costOf(large)))} of the sum at ${number(large.readsPerSecond)} reads a second, and ${percent(besides(small), totalOf(costOf(small)))} at ${number(small.readsPerSecond)}.
- **Refreshes are per time, not per read.** The upstream gets ${number(large.upstreamPerSecond)} requests a second for ${number(large.clients)} clients and
  ${number(small.upstreamPerSecond)} for ${number(small.clients)}, so a read of the few carries ${Math.round(unitsOf(small, 'writeUnits') / unitsOf(large, 'writeUnits'))} times the write units. By the hour
  DynamoDB takes ${dollars(perHour(small))} for ${number(small.clients)} clients and ${dollars(perHour(large))} for ${number(large.clients)}; without any client it takes nothing.
- **A request that a client repeats after a refusal** costs what a read costs at API Gateway, and at Lambda if it got that
  far; what API Gateway throttles itself costs nothing. ${repeats()}
- **Views count.** Two categories with and without extended hours are five views, each with refreshes of
  its own.

## One active user

An active user reads every ${user.everySeconds} seconds on each of ${user.daysPerMonth} trading days. With the app open for an hour of the day that is
${number(readsPerUserMonth(hoursPerDay.usual))} reads a month; from the opening of the market to its close, ${hoursPerDay.tradingHours} hours, ${number(readsPerUserMonth(hoursPerDay.tradingHours))}.

${users()}

"All of them" is all at the same time, in the same hours. Beside reads, by the month: ${dollars(prices.secretPerMonth)} for the secret; its
reads, one every five minutes and instance, at $${prices.secretReadsPer10000} for 10,000; and ${dollars(prices.metricPerMonth)} for each metric of the limiter, three for a
function, by the hour in which there are figures. The two tables hold megabytes, for minutes.

## What users add

A stage that opens accounts, orders or watchlists has a second secret, ${dollars(prices.secretPerMonth)} a month, and a table of users, which
costs by use. A function reads the identity key in that secret once in an instance's life. Groups that open with an API
key alone ask none of it: a quote costs what it did.

With \`jwt\`, a user who sends a request about accounts every ${user.everySeconds} seconds adds to the price of a read without the shared
snapshots:

${userTable()}

- **API Gateway keeps the authorizer's answer** for ${userFigures.authorizerKeptSeconds} seconds under the token, so one request in ${userFigures.authorizerKeptSeconds / user.everySeconds} asks it. A user who
  comes back less often than that asks it each time. It has ${userFigures.authorizerMiB} MiB; its time is assumed, ${userFigures.authorizerMs} ms.
- **The table's reads** are at most ${userFigures.readUnits} units for a request: user, token and app. An instance knows them for 30 seconds.
- **One user** adds ${dollars(perUserMonth(totalOf(userCostOf(userSituations[1]!))))} a month at most, an hour a day; 10,000 of them $${number(Math.round(10_000 * perUserMonth(totalOf(userCostOf(userSituations[1]!)))))}. Point-in-time recovery
  of the table is paid by size, and a user takes less than a kilobyte.
- \`bound-key\` and \`iam\` have no authorizer. What wrong tokens cost at the most has
  [its own place](configuration.md#users).

## What orders add

A stage that opens orders or watchlists has a table for [the journal of orders](architecture.md). An order writes ${orderUnits} units: its
entry before it is sent and after, and the index of what is unsettled twice. That is ${dollars(orderUnits * prices.writeUnitsPerMillion)} for a million orders, beside
what their requests cost. Orders in one request are written in one transaction, whose first write costs twice as much. Entries of
orders stay: a million of them is about a gigabyte, ${dollars(prices.storedPerGbMonth)} a month and ${dollars(prices.restorablePerGbMonth)} for point-in-time recovery. A request that
comes again reads its entry and costs a write that is refused. The alarm and its metric cost ${dollars(prices.alarmPerMonth)}, and ${dollars(prices.metricPerMonth)} by the hour
in which the journal fails.

An order that counts against [a limit](orders.md#guard-rails) of one scope writes ${countedUnits} units, ${dollars(countedUnits * prices.writeUnitsPerMillion)} for a million: its entry and
the counter in one transaction when it is begun, and in another one when it has ended. Each further scope whose limits count
adds four, and so does the user's counter under a limit of the gateway. The table of limits and stops is read by each
instance that places orders, each few seconds at most.

The function that cancels what is open on request runs each minute. Without a request it costs ${dollars(massCancelCost())} a month, most of it for
${massCancels.metrics} metrics and ${massCancels.alarms} alarms. A request adds a read of each account's open orders in each of these runs for a quarter of
an hour, and its cancels.

[The audit](order-audit.md) adds ${dollars(orderAuditCost())} for a million orders at most, when each is audited by itself: ${orderAudit.lines} lines of up to
${orderAudit.writeUnits} units, and a call of its function for each. Orders that come together share calls. At rest it costs ${dollars(orderAudit.alarms * prices.alarmPerMonth)} a
month for its ${orderAudit.alarms} alarms. Lines stay: a million orders are about two gigabytes of them.

## A million lookups by event

A lookup asks for the snapshots of twenty symbols by an event on the bus; what it causes at the upstream and in the
tables of snapshots and limiter is not in it, because it shares them with all other callers.

${lookupTable()}

- **The table is most of it**: three writes make sure that a requester that asks twice gets one answer. A request that goes
  straight to the queue costs one event less, a direct call of the function nothing but Lambda.
- **Waiting costs**: each time that the limiter has no permit, a send, a receive and a write.
- **An idle queue** costs too: Lambda asks it some hundred thousand times a month, ${dollars(prices.queuePerMillion)} a million.

## A month of trade events

[Trade events](trade-events.md) have a listener that runs all day and every day, for one account that is compared every
${listener.compareEveryMinutes} minutes:

${tradeEventTable()}

- **Lambda's time is most of it**, and hardly depends on how much happens: the listener waits, at ${listener.memoryMiB} MiB. A server
  of its own that is never off costs as much or more, and has to be patched.
- **Metrics are paid by name**: ${listener.metrics} of them, and ${listener.alarms} alarms.
- **The identity key** is in it, which a stage that asks who calls has anyhow.
- **Consumers** pay for what their rules deliver to: Lambda, queues, and what these do.

## What makes it less

| Lever | What it does to a user's month, an hour a day |
|---|---|
${levers(large).join('\n')}

- **Poll hints.** \`x-poll-after\` says in how many seconds each snapshot will have been refreshed once more: 3 for a
  thousand symbols in use. An earlier request costs as much and mostly brings the same. In the background, and while
  the market is closed, an app need not ask at all.
- **Batches.** One request for a screen's symbols, up to 100, instead of one for each.
- **Compression.** API Gateway compresses from a kilobyte on for clients whose \`accept-encoding\` names gzip and prefers
  nothing that it does not speak: with \`br;q=1.0, gzip;q=0.9\` answers come as they are.
- **304.** With \`if-none-match\` an answer that has not changed has no body. It saves transfer and the phone's battery;
  the request costs the same, so a poll hint saves more.
- **No cache** (\`cache: 'off'\`). DynamoDB costs nothing for snapshots then; but each read is a request to the upstream,
  and the limit allows ${number(large.upstreamPerSecond)} a second for all clients. The others get 429, for which API Gateway and Lambda charge as for an
  answer. It suits few clients that never ask for the same.
- **Logs.** One line of the function's for each request, beside three of Lambda's own. \`logs.retentionDays\` bounds what
  is stored, not what is written.

A usage plan bounds none of this exactly: it throttles by best effort. Set an AWS Budgets alarm too.
`;
}

const times = () =>
  [...new Set(situations.map(({ billedMs }) => billedMs))]
    .map((ms) => `${ms} ms`)
    .join(', with few clients ');

const hoursInWords = (hours: number) => `${hours} ${hours === 1 ? 'hour' : 'hours'} a day`;

const share = (part: number) => `${number(100 * part)} %`;

/** Whether the figures have any, and what the first fiftieth would add. */
function repeats(): string {
  const [one] = situations as readonly [Situation, ...Situation[]];
  const added = totalOf(costOf({ ...one, repeated: 0.02 })) - totalOf(costOf({ ...one, repeated: 0 }));
  const isNone = situations.every(({ repeated = 0 }) => repeated === 0);
  return `${isNone ? 'None is in these figures; one' : 'One'} in fifty adds ${dollars(added)} to a million reads.`;
}

const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`;

function besides(situation: Situation): number {
  const { lambdaRequests, lambdaTime, snapshots, limiter } = costOf(situation);
  return lambdaRequests + lambdaTime + snapshots + limiter;
}

/** Of DynamoDB. */
function perHour(situation: Situation): number {
  const { snapshots, limiter } = costOf(situation);
  return ((snapshots + limiter) * situation.readsPerSecond * 3600) / 1_000_000;
}

const head = (title: string, columns: readonly { readonly name: string }[]) =>
  `${line(title, ...columns.map(({ name }) => name))}\n|---|${columns.map(() => '---:|').join('')}`;

/** @returns its lines: the parts of each situation's cost, and their sum under the label */
function costTable<S extends { readonly name: string }, P extends string>(
  title: string,
  columns: readonly S[],
  costIn: (situation: S) => Readonly<Record<P, number>>,
  parts: readonly (readonly [part: P, label: string])[],
  sum: string,
): readonly string[] {
  const costs = columns.map(costIn);
  return [
    head(title, columns),
    ...parts.map(([part, label]) => line(label, ...costs.map((cost) => dollars(cost[part])))),
    line(`**${sum}**`, ...costs.map((cost) => `**${dollars(totalOf(cost))}**`)),
  ];
}

function table(): string {
  const units = (of: (one: Situation) => number) => situations.map((one) => number(of(one)));
  return [
    ...costTable('Dollars per million reads', situations, costOf, rows, 'Together'),
    line('Reads a second', ...units((one) => one.readsPerSecond)),
    line('Requests to the upstream a second', ...units((one) => one.upstreamPerSecond)),
    line('Read units for one read', ...units((one) => unitsOf(one, 'readUnits'))),
    line('Write units for one read', ...units((one) => unitsOf(one, 'writeUnits'))),
    line('Requests repeated after a refusal', ...situations.map((one) => share(one.repeated ?? 0))),
  ].join('\n');
}

const lookupTable = () =>
  costTable('Dollars per million lookups', lookupSituations, lookupCostOf, lookupRows, 'Sum').join('\n');

const userTable = () =>
  costTable('Dollars per million requests', userSituations, userCostOf, userRows, 'Added').join('\n');

const tradeEventTable = () =>
  costTable('Dollars a month', tradeEventSituations, tradeEventCostOf, tradeEventRows, 'All of it').join(
    '\n',
  );

/** Of snapshots and limiter together. */
const unitsOf = (
  { snapshots, limiter, upstreamPerSecond, readsPerSecond }: Situation,
  kind: 'readUnits' | 'writeUnits',
) => snapshots[kind] + (limiter[kind] * upstreamPerSecond) / readsPerSecond;

function users(): string {
  const months = (hours: number) => situations.map((one) => perUserMonth(totalOf(costOf(one)), hours));
  return [
    head('Dollars a month', situations),
    ...Object.values(hoursPerDay).flatMap((hours) => [
      line(`One user, ${hoursInWords(hours)}`, ...months(hours).map(dollars)),
      line(
        `All of them, ${hoursInWords(hours)}`,
        ...months(hours).map((month, index) => `$${number(Math.round(situations[index]!.clients * month))}`),
      ),
    ]),
  ].join('\n');
}

function levers(situation: Situation): readonly string[] {
  const all = totalOf(costOf(situation));
  const { transfer } = costOf(situation);
  const withTransfer = (bytes: number) => all - transfer + transferCost(bytes);
  const { plain, headers } = answerBytes;
  const single = 20;
  const every = (seconds: number) => (perUserMonth(all) * user.everySeconds) / seconds;
  return [
    line('None', dollars(perUserMonth(all))),
    line('A read every 15 s', dollars(every(15))),
    line('A read every second, against `x-poll-after: 3`', dollars(every(1))),
    line(`A request for each of ${single} symbols, instead of one`, dollars(single * perUserMonth(all))),
    line('Without compression', dollars(perUserMonth(withTransfer(plain + headers)))),
    line('304 for half of the reads', dollars(perUserMonth((all + withTransfer(headers)) / 2))),
  ];
}
