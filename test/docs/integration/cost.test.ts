import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { PutItemInput, UpdateItemInput } from '@aws-sdk/client-dynamodb';
import { test } from 'vitest';
import { createDynamoLookupStore } from '../../../functions/aws/dynamo-lookup-store.ts';
import { createDynamoResponseStore } from '../../../functions/aws/dynamo-response-store.ts';
import { memoryOf, workerNames } from '../../../functions/rows.ts';
import {
  costOf,
  dearestOf,
  orderAuditCost,
  perUserMonth,
  readsPerUserMonth,
  restingCost,
  streamHourCost,
  totalOf,
  userCostOf,
} from '../../../infra/cost/cost.ts';
import {
  answerBytes,
  countedOrderWrites,
  deployed,
  hoursPerDay,
  largeAnswers,
  lookupWrites,
  managed,
  massCancels,
  orderAudit,
  orderStreams,
  orderWrites,
  phones,
  prices,
  user as reader,
  resting,
  type Situation,
  situations,
  streamSituations,
  streams,
  tradeEvents,
  userSituations,
  users,
} from '../../../infra/cost/cost-figures.ts';
import {
  environmentsOf,
  orderStreamHour,
  pollingMonth,
  restMonth,
  streamBytesPerSecond,
  streamMillion,
  streamMonth,
} from '../../../infra/cost/cost-streams.ts';
import { dollars, number, unitsOf, withCostTables } from '../../../infra/cost/cost-tables.ts';
import { startLocalRun } from '../../../infra/local/local-run.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { startSimulator } from '../../../infra/simulator/index.ts';
import { alarmRows } from '../../../infra/stack/alarm-table.ts';
import { authorizerResultSeconds } from '../../../infra/stack/api-definition.ts';
import { maxFollowers } from '../../../infra/stack/capacity-config.ts';
import { resolveConfig } from '../../../infra/stack/resolve-config.ts';
import { maxStoredBytes } from '../../../lib/cache/responses/index.ts';
import { listStockBars } from '../../../lib/catalogue/index.ts';
import { streamStockSnapshots } from '../../../lib/catalogue/live.ts';
import { maxRecordsOf } from '../../../lib/gateway/validate.ts';
import { maxAnswerBytes } from '../../../lib/upstream/channel-bound.ts';
import { synthesise } from '../../stack/synthesise.ts';
import { ask, credentials, startCore } from '../../support/core.ts';

const text = readFileSync(join(import.meta.dirname, '../../../docs/cost.md'), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('**', '')));
const row = (label: string) => rows.find(([, name]) => name === label)?.slice(2, -1) ?? assert.fail(label);
const amount = (cell = '') => Number(cell.replace(/[$,]/g, ''));

test('the tables of docs/cost.md are current', () =>
  assert.equal(text, withCostTables(text), 'the figures have changed: npm run docs'));

test('the figures between the tables are those of the tables', () => {
  const [large, , small] = situations as readonly [Situation, Situation, Situation];
  const percentBesides = (one: Situation) => {
    const { lambdaRequests, lambdaTime, snapshots, limiter } = costOf(one);
    return Math.round((100 * (lambdaRequests + lambdaTime + snapshots + limiter)) / totalOf(costOf(one)));
  };
  const perHour = (one: Situation) => {
    const { snapshots, limiter } = costOf(one);
    return dollars(((snapshots + limiter) * one.readsPerSecond * 3600) / 1e6);
  };
  const writes = Math.round(unitsOf(small, 'writeUnits') / unitsOf(large, 'writeUnits'));
  const repeated = totalOf(costOf({ ...large, repeated: 0.02 })) - totalOf(costOf({ ...large, repeated: 0 }));
  const user = perUserMonth(totalOf(userCostOf(userSituations[1]!)));
  const units = orderWrites.begin + orderWrites.finish + orderWrites.index;
  const counted = Object.values(countedOrderWrites).reduce((sum, one) => sum + one, 0);
  const { readsPerSecond, clients, upstreamPerSecond } = large;
  const plain = text.replaceAll(/\s+/g, ' ');
  for (const said of [
    `assumption, ${large.billedMs} ms, with few clients ${small.billedMs} ms.`,
    `each client sends one every ${reader.everySeconds} seconds.`,
    `${percentBesides(large)} % of the sum at ${number(readsPerSecond)} reads a second, and ${percentBesides(small)} % at ${number(small.readsPerSecond)}.`,
    `gets ${number(upstreamPerSecond)} requests a second for ${number(clients)} clients and ${number(small.upstreamPerSecond)} for ${number(small.clients)}, so a read of the few carries ${writes} times`,
    `takes ${perHour(small)} for ${number(small.clients)} clients and ${perHour(large)} for ${number(clients)};`,
    `None is in these figures; one in fifty adds ${dollars(repeated)} to a million reads.`,
    `every ${reader.everySeconds} seconds on each of ${reader.daysPerMonth} trading days.`,
    `${number(readsPerUserMonth(1))} reads a month; from the opening of the market to its close, ${hoursPerDay.tradingHours} hours, ${number(readsPerUserMonth(hoursPerDay.tradingHours))}.`,
    `${dollars(prices.secretPerMonth)} for the secret;`,
    `at $${prices.secretReadsPer10000} for 10,000; and ${dollars(prices.metricPerMonth)} for each metric`,
    `a second secret, ${dollars(prices.secretPerMonth)} a month`,
    `about accounts every ${reader.everySeconds} seconds adds`,
    `for ${users.authorizerKeptSeconds} seconds under the token, so one request in ${users.authorizerKeptSeconds / reader.everySeconds} asks it.`,
    `has ${memoryOf('authorizer')} MiB; its time is assumed, ${users.authorizerMs} ms.`,
    `at most ${users.readUnits} units for a request`,
    `adds ${dollars(user)} a month at most, an hour a day; 10,000 of them $${number(Math.round(10_000 * user))}.`,
    `An order writes ${units} units:`,
    `That is ${dollars(units * prices.writeUnitsPerMillion)} for a million orders`,
    `${dollars(prices.storedPerGbMonth)} a month and ${dollars(prices.restorablePerGbMonth)} for point-in-time`,
    `its metric cost ${dollars(prices.alarmPerMonth)}, and ${dollars(prices.metricPerMonth)} by the hour`,
    `writes ${counted} units, ${dollars(counted * prices.writeUnitsPerMillion)} for a million:`,
    `it costs ${dollars(restingCost('mass-cancels'))} a month, most of it for ${massCancels.metrics} metrics and ${massCancels.alarms} alarms.`,
    `runs as often, and costs ${dollars(restingCost('order-settlement'))} at rest, for ${resting['order-settlement'].metrics} metrics and ${resting['order-settlement'].alarms} alarms.`,
    `\`trading-stop\` costs ${dollars(restingCost('trading-stop'))} a month for its ${resting['trading-stop'].alarms} alarms`,
    `${resting['access-token'].runsPerMonth} times a month: ${dollars(restingCost('access-token'))}, for a metric and ${resting['access-token'].alarms} alarms.`,
    `adds ${dollars(orderAuditCost())} for a million orders at most, when each is audited by itself: ${orderAudit.lines} lines of up to ${orderAudit.writeUnits} units`,
    `costs ${dollars(orderAudit.alarms * prices.alarmPerMonth)} a month for its ${orderAudit.alarms} alarms.`,
    `some hundred thousand times a month, ${dollars(prices.queuePerMillion)} a million.`,
    `compared every ${tradeEvents.compareEveryMinutes} minutes:`,
    `the listener waits, at ${memoryOf('trade-events')} MiB.`,
    `${tradeEvents.metrics} of them, and ${tradeEvents.alarms} alarms.`,
    `the limit allows ${number(upstreamPerSecond)} a second for all clients.`,
  ])
    assert.ok(plain.includes(said), said);
  assert.ok(situations.every(({ repeated: part = 0 }) => part === 0));
});

test('a million reads, added up another way', () => {
  for (const [index, { snapshots, limiter, billedMs, repeated = 0, ...rates }] of situations.entries()) {
    const reads = 1e6;
    const refreshes = (reads / rates.readsPerSecond) * rates.upstreamPerSecond;
    const readUnits = reads * snapshots.readUnits + refreshes * limiter.readUnits;
    const writeUnits = reads * snapshots.writeUnits + refreshes * limiter.writeUnits;
    const requests = reads * (1 + repeated);
    const gigabytes = (requests * (answerBytes.gzip + answerBytes.headers)) / 1024 ** 3;
    const logged = (requests * 550) / 1024 ** 3;
    const sum =
      (requests / 1e6) * 3.7 +
      requests * (billedMs / 1000) * 0.5 * 0.0000133334 +
      (readUnits / 1e6) * 0.125 +
      (writeUnits / 1e6) * 0.625 +
      gigabytes * 0.09 +
      logged * 0.5;
    assert.ok(Math.abs(amount(row('Together')[index]) - sum) < 0.006, `${row('Together')[index]}, ${sum}`);
  }
});

test('each column adds up to its sum', () => {
  const from = rows.findIndex(([, name]) => name?.startsWith('Dollars per million'));
  const to = rows.findIndex(([, name]) => name === 'Together');
  for (const [index] of situations.entries()) {
    const parts = rows.slice(from + 1, to).map((cells) => amount(cells[index + 2]));
    const sum = parts.reduce((total, part) => total + part, 0);
    assert.equal(parts.length, 7);
    assert.ok(Math.abs(sum - amount(row('Together')[index])) < 0.03, `${sum}`);
  }
});

test('a day of one key, added up another way', () => {
  const [hits, worst] = ['1 MiB each, from the cache', 'The worst day'].map((label) =>
    row(label).map(amount),
  );
  const base = 3.7 + (550 * 1e6 * 0.5) / 1024 ** 3 + ((1024 ** 2 + 350) * 1e6 * 0.09) / 1024 ** 3;
  const hit = base + 0.05 * 0.5 * 13.3334 + 16 * 0.125;
  const miss = base + 2.5 * 0.5 * 13.3334 + (128 + 2 + 2.42) * 0.625 + (1 + 0.63) * 0.125;
  const [upstream, app, quota] = [60 + 4 * 86_400, 4000 + 2500 * 86_400, 5_000_000] as const;
  for (const [index, requests] of [upstream, app, quota].entries()) {
    const misses = Math.min(requests, 300 * 1440);
    const sum = (misses * miss + (requests - misses) * hit) / 1e6;
    assert.ok(Math.abs(worst![index]! - sum) < sum / 10_000, `${worst![index]}, ${sum}`);
    assert.ok(Math.abs(hits![index]! - (requests * hit) / 1e6) < sum / 10_000, `${hits![index]}`);
  }
  // Without the cache each answer is one of the upstream's, and the rest is refused.
  const { requests, miss: each, others, day } = dearestOf({ ratePerSecond: 2500, burst: 4000 }, false);
  assert.ok(others < 10 && Math.abs(each - (miss - 130 * 0.625 - 0.125)) < 0.01, `${others}, ${each}`);
  assert.ok(Math.abs(day - (432_000 * each + (requests - 432_000) * others) / 1e6) < 0.01);
  const limits = readFileSync(join(import.meta.dirname, '../../../docs/limits.md'), 'utf8').replaceAll(
    /\s+/g,
    ' ',
  );
  const [one = '', many = '', bounded = ''] = row('The worst day');
  for (const said of [`cost ${many} in a day`, `\`upstream\` ${one}.`, `the first can cost ${bounded}.`])
    assert.ok(limits.includes(said), said);
});

test('the bounds of an answer and of the table are those that the page names, and large answers stay out', async () => {
  const plain = text.replaceAll(/\s+/g, ' ');
  for (const said of [
    `has ${number(maxRecordsOf(listStockBars))} bars: more`,
    `has more than ${maxStoredBytes / 1024} kB when compressed stays out`,
    `${largeAnswers.hitMs} ms for a large answer from the cache, and ${largeAnswers.missMs / 1000} s for`,
  ])
    assert.ok(plain.includes(said), said);
  assert.equal(maxAnswerBytes, 1024 ** 2);
  const { simulator, gateway } = await startCore({}, { maxAnswerBytes: 8 * maxAnswerBytes });
  try {
    const known = await ask(gateway, '/trading/instruments/stocks/profiles/list?category=US_STOCK');
    const symbols = [...known.text.matchAll(/"symbol":"(\w+)"/g)].slice(0, 20).map(([, symbol]) => symbol);
    const unitsOf = async (count?: number) => {
      const wanted = { symbols, category: 'US_STOCK', timespan: 'D', count };
      const { body, status } = await ask(gateway, listStockBars.path, { body: JSON.stringify(wanted) });
      assert.equal(status, 200);
      return { bytes: body.length, units: await unitsOfAnswer(body) };
    };
    const usual = await unitsOf();
    assert.ok(usual.units > 0 && usual.units <= maxStoredBytes / 1024 + 1, `${usual.units}`);
    assert.deepEqual((await unitsOf(800)).units, 0);
    assert.ok(usual.bytes < maxAnswerBytes);
    // A page of a thousand records stays in the table.
    assert.ok((await unitsOfAnswer(known.body)) > 0 && known.body.length < maxAnswerBytes);
  } finally {
    await simulator.close();
  }
});

/** Write units of the answer's item: 0 when none is written. */
async function unitsOfAnswer(body: Uint8Array): Promise<number> {
  let units = 0;
  const send = async (operation: string, input: object) => {
    const { Item = {} } = input as Partial<PutItemInput>;
    if (operation === 'PutItem') units += Math.ceil((Item.content?.B?.length ?? 0) / 1024);
    return {};
  };
  const store = createDynamoResponseStore({ client: { send }, tableName: 'cache', partition: 'upstream' });
  await store.write('key', { kind: 'answer', body, askedAt: 1 }, 2);
  return units;
}

test('a million lookups, added up another way', () => {
  const [alone, together] = row('Sum').map(amount);
  const writes = 7 * 0.625;
  const log = (550 * 1e6 * 0.5) / 1024 ** 3;
  const second = 0.5 * 0.0000133334 * 1e6;
  assert.ok(Math.abs((alone ?? 0) - (2 + 3 * 0.4 + 0.2 + 0.06 * second + writes + log)) < 0.006, `${alone}`);
  const sum = 2 + 1.2 * 0.4 + 0.2 / 50 + 0.01 * second + writes + log / 50;
  assert.ok(Math.abs((together ?? 0) - sum) < 0.006, `${together}, ${sum}`);
});

test('a month of trade events, added up another way', () => {
  const [rest = 0, busy = 0] = row('All of it').map(amount);
  const seconds = 30 * 86_400;
  const lambda = (seconds + 43_200 * 2.15 + (43_200 / 14) * 30) * 0.25 * 0.0000133334 + 0.0432 * 0.2;
  // Renewals and looks at the lease; comparisons, of which each has two reads.
  const units =
    (seconds / 3 + 43_200 * 3 + (43_200 / 14) * 60) * 0.625 + 17_280 * 0.125 + 17_280 * (0.125 + 2 * 0.625);
  const secrets = 0.4 + (2 * 43_200 * 0.05) / 10_000;
  const logs = (43_200 * 1100 * 0.5) / 1024 ** 3;
  const sum = lambda + units / 1e6 + secrets + 9 * 0.3 + 3 * 0.1 + logs;
  assert.ok(Math.abs(rest - sum) < 0.006, `${rest}, ${sum}`);
  const more = 0.3 * (1 + 10 * 0.625 + 3 * 0.125) + (300_000 * 600 * 0.5) / 1024 ** 3;
  assert.ok(Math.abs(busy - sum - more) < 0.006, `${busy}, ${sum + more}`);
  const { Properties } = synthesise({ tradeEvents: {} })
    .all('AWS::Lambda::Function')
    .find(([id]) => id.startsWith('TradeEvents'))![1];
  assert.equal(Properties.MemorySize, memoryOf('trade-events'));
});

test('a month of the real-time channel, added up another way', () => {
  const [rest = 0, trading = 0] = row('All of the channel').map(amount);
  const seconds = 30 * 86_400;
  const lambda = (seconds + 43_200 * 2.15 + (43_200 / 14) * 30) * 0.5 * 0.0000133334 + 0.0432 * 0.2;
  const writes = seconds / 3 + 43_200 * 3 + (43_200 / 14) * 60 + 3 * seconds;
  const logs = (43_200 * 700 * 0.5) / 1024 ** 3;
  const sum = lambda + (writes * 0.625) / 1e6 + (2 * 43_200 * 0.05) / 10_000 + 7 * 0.3 + 0.1 + logs;
  assert.ok(Math.abs(rest - sum) < 0.006, `${rest}, ${sum}`);
  const more = (6.5 * 21 * 3600 * (57 * 0.625 + 63 * 0.125)) / 1e6;
  assert.ok(Math.abs(trading - sum - more) < 0.006, `${trading}, ${sum + more}`);
  const { Properties } = synthesise({ marketStream: { url: 'mqtts://quotes.example:1883' } })
    .all('AWS::Lambda::Function')
    .find(([id]) => id.startsWith('MarketStream'))![1];
  assert.equal(Properties.MemorySize, memoryOf('market-stream'));
});

test('a month of the function of mass cancels at rest, added up another way', () => {
  const [, found = ''] = /Without a request it costs \$([\d.]+) a month/.exec(text) ?? [];
  const each = 0.2 + 50_000 * 0.25 * 0.0000133334 + 0.125 + (1e9 * 0.5) / 1024 ** 3;
  const sum = 0.0432 * each + 2 * 0.3 + 2 * 0.1;
  assert.ok(Math.abs(Number(found) - sum) < 0.006, `${found}, ${sum}`);
  const opened = synthesise({ groups: { orders: 'iam' } });
  const own = (type: string) => opened.all(type).filter(([id]) => id.startsWith('MassCancels'));
  assert.equal(own('AWS::Lambda::Function')[0]?.[1].Properties.MemorySize, memoryOf('mass-cancels'));
  assert.equal(
    alarmRows.filter(([, { runbook }]) => runbook === 'Open orders are not cancelled').length,
    massCancels.alarms,
  );
});

test('the page names each worker beside its price', () => {
  const priced = text.split(/\n(?=\n|- |#)/).filter((part) => part.includes('$'));
  for (const name of workerNames)
    assert.ok(
      priced.some((part) => part.includes(`\`${name}\``)),
      `docs/cost.md has no price of \`${name}\``,
    );
});

test('workers at rest have as many alarms as the page computes with', () => {
  for (const [name, { alarms }] of Object.entries(resting)) {
    const own = alarmRows.filter(([, { of, runbook }]) =>
      name === 'mass-cancels' ? runbook === 'Open orders are not cancelled' : of.startsWith(name),
    );
    assert.equal(own.length, alarms, name);
  }
});

test('a month of the settlement at rest, added up another way', () => {
  const [, found = ''] = /runs as often, and costs \$([\d.]+) at rest/.exec(text) ?? [];
  const each = 0.2 + 50_000 * 0.25 * 0.0000133334 + 0.125 + (1e9 * 0.5) / 1024 ** 3;
  assert.ok(Math.abs(Number(found) - (0.0432 * each + 5 * 0.3 + 2 * 0.1)) < 0.006, found);
});

test('a million requests about accounts, added up another way', () => {
  const authorizer = (0.2 + (10 / 1000) * 0.25 * 0.0000133334 * 1e6 + (550 * 1e6 * 0.5) / 1024 ** 3) / 12;
  const [least, most] = row('Added').map(amount);
  assert.ok(Math.abs((least ?? 0) - (authorizer + (3 * 0.125) / 6)) < 0.006, `${least}`);
  assert.ok(Math.abs((most ?? 0) - (authorizer + 3 * 0.125)) < 0.006, `${most}`);
});

test('the authorizer has the memory and API Gateway keeps its answer as long as the page computes with', () => {
  const stack = synthesise({
    groups: { accounts: 'jwt' },
    auth: { issuer: 'https://issuer.example.com', clientIds: ['app'] },
  });
  const [, authorizer] = stack.all('AWS::Lambda::Function').find(([id]) => id.includes('Authorizer')) ?? [
    '',
    assert.fail('no authorizer'),
  ];
  assert.equal(authorizer.Properties.MemorySize, memoryOf('authorizer'));
  assert.equal(authorizerResultSeconds, users.authorizerKeptSeconds);
});

test('a user’s month is so many reads, and few clients pay more for each', () => {
  assert.equal(readsPerUserMonth(1), 15_120);
  const [large, , small] = row('One user, 1 hour a day').map(amount);
  const [first] = situations;
  assert.ok(Math.abs((totalOf(costOf(first!)) * 15_120) / 1e6 - (large ?? 0)) < 0.001);
  assert.ok((small ?? 0) > (large ?? 0));
});

test('a user’s month in trading hours: six and a half hours on 21 days', () => {
  assert.equal(readsPerUserMonth(6.5), 98_280);
  const hours = row('One user, 6.5 hours a day').map(amount);
  const all = row('All of them, 6.5 hours a day').map(amount);
  for (const [index, one] of situations.entries()) {
    const month = (totalOf(costOf(one)) * 98_280) / 1e6;
    assert.ok(Math.abs((hours[index] ?? 0) - month) < 0.006, `${hours[index]}, ${month}`);
    assert.ok(Math.abs((all[index] ?? 0) - one.clients * month) < 1, `${all[index]}`);
    assert.ok(Math.abs(perUserMonth(totalOf(costOf(one)), 6.5) - month) < 1e-9);
  }
});

test('docs/live.md says what a stream costs beside requests that ask instead', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/live.md'), 'utf8').replaceAll(
    /\s+/g,
    ' ',
  );
  const stream = streamHourCost(streams);
  const [many, , few] = situations.map((one) => totalOf(costOf(one)) / 1e6) as [number, number, number];
  const each = (seconds: number) => [many, few].map((read) => (read * 3600) / seconds) as [number, number];
  const [slow, fast] = [each(5), each(1)];
  for (const said of [
    `costs**: ${dollars(stream)} an hour`,
    `${dollars(slow[0])} to ${dollars(slow[1])} every five seconds, and ${dollars(fast[0])} to ${dollars(fast[1])} every second.`,
    'The lower figures are for ten thousand clients, the higher ones for a hundred.',
  ])
    assert.ok(page.includes(said), said);
  assert.deepEqual([stream / slow[1], stream / slow[0]].map(Math.round), [3, 5]);
  assert.ok(stream < fast[0]);
});

test('what the pages say of streams beside the tables', () => {
  const live = readFileSync(join(import.meta.dirname, '../../../docs/live.md'), 'utf8');
  const [own, shared, packed] = streamSituations.map((one) => totalOf(streamMillion(one)));
  const polling = totalOf(costOf(situations[0]!));
  const environments = environmentsOf(10_000, managed.streamsPerVCpu);
  for (const [page, said] of [
    [
      text,
      `${managed.atRest} environments and a NAT gateway are $${number(Math.round(restMonth()))} a month`,
    ],
    [text, `a million times costs ${dollars(shared!)}, with 1,000 it costs ${dollars(packed!)}.`],
    [text, `are ${number(streamBytesPerSecond)} a second for twenty symbols`],
    [
      text,
      `costs ${dollars(orderStreamHour.function())} an hour for its function. In a thousand hours, ${dollars(1000 * orderStreamHour.account())} comes`,
    ],
    [text, `what is new ${orderStreams.readsPerSecond} times a second.`],
    [
      live,
      `for 10,000 streams you pay for ${environments} vCPUs from 9:00 to 16:15 New York time and for ${managed.atRest} at other times`,
    ],
    [live, `the NAT gateway cost $${number(Math.round(restMonth()))} a month.`],
    [live, `there is room for ${managed.atRest * managed.streamsPerVCpu} streams`],
    [
      live,
      `at most ${maxFollowers} environments. With ${managed.streamsPerVCpu} streams in each (the default of \`capacity.streamsPerEnvironment\`), that is ${number(maxFollowers * managed.streamsPerVCpu)} streams`,
    ],
  ] as const)
    assert.ok(page.replaceAll(/\s+/g, ' ').includes(said), said);
  assert.equal(Math.round(own! / polling), 4);
  assert.ok(streamBytesPerSecond > (2 * (answerBytes.gzip + answerBytes.headers)) / reader.everySeconds);
  // Which of the two is cheaper, and for how many phones.
  const managedMonth = (clients: number) => totalOf(streamMonth(clients, streamSituations[1]!));
  assert.deepEqual(
    phones.map((clients) => managedMonth(clients) < pollingMonth(clients, reader.everySeconds)),
    [false, true, true],
  );
});

test('streams on managed instances, added up another way', () => {
  const seconds = 10_000 * 21 * 6.5 * 3600;
  const [calls, bytes] = [seconds / 900, seconds * 8.5 * 176];
  const ec2 = 157 * 21 * 7.25 + 3 * (730 - 21 * 7.25);
  const upstream = (2870 / 600) * 5 * 12_530 * 21 * 6.5 * 3600;
  // The log is read a thousand times a second by all, and written as it is for 10,000 clients that ask.
  const units = 1000 * 0.5 * 0.125 + 2000 * 0.033 * 0.625 + (2870 / 600) * (0.57 * 0.125 + 1.54 * 0.625);
  const sum =
    ec2 * 0.0408 * 1.15 +
    730 * 0.05 +
    (upstream / 1024 ** 3) * 0.045 +
    (calls / 1e6) * (3.7 + 2 * 0.125 + 2 * 0.625) +
    (bytes / 1024 ** 3) * 0.09 +
    (units / 1e6) * 21 * 6.5 * 3600 +
    ((calls * 550) / 1024 ** 3) * 0.5;
  assert.ok(Math.abs(amount(row('10,000 phones')[3]) - sum) < 1, `${sum}`);
  assert.ok(Math.abs(amount(row('A million times 5 s')[1]) - sum / ((10_000 * 98_280) / 1e6)) < 0.006);
});

test('managed instances are those that the stack keeps', () => {
  const ids = { subnets: ['subnet-01234567'], securityGroups: ['sg-01234567'] };
  const { live, cache } = resolveConfig({
    upstream: { baseUrl: 'https://a.example', limits: 'interface' },
    marketDataUse: 'own-use',
    live: { maxStreams: 10_000, capacity: ids },
  });
  assert.ok(live?.capacity && cache !== 'off');
  const { from, to, atRest, streamsPerEnvironment, environments } = live.capacity;
  const hourOf = (time: string) => Number(time.slice(0, 2)) + Number(time.slice(3)) / 60;
  assert.deepEqual(
    [atRest, streamsPerEnvironment, hourOf(to) - hourOf(from), environments],
    [managed.atRest, managed.streamsPerVCpu, managed.hoursPerDay, environmentsOf(10_000, 64)],
  );
  assert.equal(live.streamSeconds, streams.seconds);
});

test('repeated requests cost as reads do, but for DynamoDB’s units, which are counted over all', () => {
  const [one] = situations;
  const without = costOf({ ...one!, repeated: 0 });
  const twice = costOf({ ...one!, repeated: 1 });
  for (const part of ['apiGateway', 'lambdaRequests', 'lambdaTime', 'transfer', 'logs'] as const)
    assert.ok(Math.abs(twice[part] - 2 * without[part]) < 1e-9, part);
  assert.deepEqual([twice.snapshots, twice.limiter], [without.snapshots, without.limiter]);
});

test('architecture and memory are those of the stack', () => {
  assert.equal(
    resolveConfig({ upstream: { baseUrl: 'https://a.example', limits: 'interface' } }).functions.memoryMiB,
    deployed.memoryMiB,
  );
  for (const [, { Properties }] of synthesise().all('AWS::Lambda::Function'))
    assert.deepEqual(Properties.Architectures, [deployed.architecture]);
  assert.ok(deployed.architecture in prices.lambdaPerGbSecond);
});

test('an answer has the size that the page computes with', async () => {
  // The market goes on with each request: on a busy machine, where fewer are sent, records would differ in more members.
  // It is always the same hour there, because fewer members change by night.
  const begun = Date.UTC(2026, 10, 19, 15);
  let requests = 0;
  const simulator = await startSimulator({
    ...credentials,
    clock: () => begun + 200 * requests,
    toleranceSeconds: Number.MAX_SAFE_INTEGER,
    fault: () => void requests++,
  });
  const env = { TRADE_EVENTS: 'off', APP_KEY: credentials.appKey, APP_SECRET: credentials.appSecret };
  const settings = { ...readSettings(env), port: 0, upstream: { baseUrl: simulator.url } };
  const run = await startLocalRun(settings);
  try {
    const ask = async (path: string) => {
      const response = await fetch(run.url + path, { headers: { 'x-api-key': settings.apiKey } });
      assert.equal(response.status, 200, path);
      return response.text();
    };
    const known = await ask('/trading/instruments/stocks/profiles/list?category=US_STOCK');
    const symbols = [...known.matchAll(/"symbol":"(\w+)"/g)].slice(0, 20).map(([, symbol]) => symbol);
    assert.equal(symbols.length, 20);
    const answer = await ask(`/openapi/market-data/stock/snapshot?symbols=${symbols}&category=US_STOCK`);
    // Prices have other digits at each hour of the market, and the simulator's figures are more alike than the upstream's.
    const close = (measured: number, said: number) =>
      assert.ok(Math.abs(measured - said) < said / 8, `${measured} bytes, not ${said}`);
    close(Buffer.byteLength(answer), answerBytes.plain);
    close(gzipSync(answer).length, answerBytes.gzip);
    assert.deepEqual(await unitsOfLookup(answer), lookupWrites);
    close(
      await bytesOfRecord(
        `${run.url}${streamStockSnapshots.path}?symbols=${symbols}&category=US_STOCK`,
        settings.apiKey,
      ),
      streams.bytesPerRecord,
    );
  } finally {
    await run.close();
    await simulator.close();
  }
});

/** Of the texts that came until some records had changed, beats and all. */
async function bytesOfRecord(url: string, apiKey: string): Promise<number> {
  const abort = new AbortController();
  const { body } = await fetch(url, { headers: { 'x-api-key': apiKey }, signal: abort.signal });
  let [bytes, records] = [0, 0];
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const isChange = !chunk.includes('event: snapshot');
    bytes += isChange ? Buffer.byteLength(chunk) : 0;
    records += isChange ? (chunk.match(/"set":/g)?.length ?? 0) : 0;
    if (records >= 60) break;
  }
  abort.abort();
  return bytes / records;
}

/** Write units are counted by the kilobyte of the item: the larger one of before and after. */
async function unitsOfLookup(answer: string): Promise<typeof lookupWrites> {
  let item = 0;
  const units: number[] = [];
  const send = async (_: string, input: object) => {
    const { Item, ExpressionAttributeValues } = input as Partial<PutItemInput & UpdateItemInput>;
    const written = Object.entries(Item ?? ExpressionAttributeValues ?? {});
    item += written.reduce((sum, [name, { B, S, N }]) => sum + name.length + (B ?? S ?? N ?? '').length, 0);
    units.push(Math.ceil(item / 1024));
    return {};
  };
  const store = createDynamoLookupStore({ client: { send }, tableName: 'lookups' });
  const id = crypto.randomUUID();
  const reply = { request_id: id, part: 1, parts: 1, category: 'US_STOCK', unknown: [], missing: [] };
  const detail = `${JSON.stringify(reply).slice(0, -1)},"quotes":${answer}}`;
  await store.claim({ id, hash: '0'.repeat(64), owner: id, now: 1, leaseUntil: 2, expiresAt: 3 });
  await store.saveReply(id, id, { detailType: 'QuoteLookupCompleted', details: [detail] });
  await store.complete(id, 4);
  const [claim, kept, published] = units;
  return { claim, reply: kept, published } as typeof lookupWrites;
}
