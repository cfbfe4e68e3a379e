/** The upstream's channel of quotes: nothing of it until it is opened, then a listener and what functions that serve quotes read. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { testRefusals } from './refusals.ts';
import { base, idOf, partOf, policiesOf, settingsOf, statementsOf, synthesise } from './synthesise.ts';

const url = 'mqtts://quotes.example:1883';
const opened = synthesise({ marketStream: { url }, groups: { orders: 'iam' }, live: { maxStreams: 5 } });

const { only } = partOf('MarketStream');

test('without it a stack has nothing of it, and its functions look for nothing', () => {
  assert.doesNotMatch(JSON.stringify(synthesise().template), /MarketStream(?!\\":false)|MARKET_STREAM/);
});

test('it starts every minute by a schedule, runs for a quarter of an hour at most, and is told where it listens', () => {
  const [, rule] = only(opened, 'AWS::Events::Rule');
  assert.equal(rule.Properties.ScheduleExpression, 'rate(1 minute)');
  const [, { Properties }] = only(opened, 'AWS::Lambda::Function');
  assert.equal(Properties.Timeout, 900);
  const tableName = opened.table('Cache')?.[0];
  assert.deepEqual(settingsOf(Properties, 'MARKET_STREAM'), { url, sessions: 4, tableName });
  assert.equal(settingsOf(Properties, 'LIMITER')?.tableName, opened.table('Budget')?.[0]);
});

test('its role reads the app secret, counts requests, and shares quotes: nothing else', () => {
  const [, role] = only(opened, 'AWS::IAM::Role');
  assert.deepEqual(
    statementsOf(role).map((one) => [(one as { readonly Action: string | string[] }).Action].flat().join()),
    [
      'secretsmanager:GetSecretValue',
      'dynamodb:GetItem,dynamodb:PutItem,dynamodb:UpdateItem',
      'dynamodb:BatchGetItem,dynamodb:PutItem,dynamodb:Query,dynamodb:UpdateItem',
      'logs:CreateLogStream,logs:PutLogEvents',
    ],
  );
  const [, lambda] = only(opened, 'AWS::Lambda::Function');
  assert.ok(policiesOf(opened.template.Resources[idOf(lambda.Properties.Role)]).length > 0);
});

test('functions that share answers know that it writes to the cache', () => {
  const reading = opened
    .all('AWS::Lambda::Function')
    .filter(([, { Properties }]) => settingsOf(Properties, 'CACHE')?.hasMarketStream)
    .map(([id]) => id.replace(/Function.*$/, ''));
  assert.deepEqual(reading.sort(), [
    'MassCancelsCanceller',
    'fundamentals',
    'instruments',
    'marketdata',
    'ordercancels',
    'orderreads',
    'orders',
    'quotestreams',
    'screeners',
  ]);
});

test('where it carries nothing that clients ask for, an alarm says so', () => {
  const alarm = opened
    .all('AWS::CloudWatch::Alarm')
    .find(([, { Properties }]) => Properties.MetricName === 'MarketStreamAway');
  assert.deepEqual(
    [alarm?.[1].Properties.TreatMissingData, alarm?.[1].Properties.EvaluationPeriods],
    ['breaching', 5],
  );
});

testRefusals([
  ['no URL', { ...base, marketStream: {} }, /^marketStream\.url/],
  [
    'plain text to another machine',
    { ...base, marketStream: { url: 'mqtt://quotes.example' } },
    /is not encrypted/,
  ],
  [
    'plain text to the function’s own host',
    { ...base, marketStream: { url: 'mqtt://127.0.0.1:8790' } },
    /^marketStream\.url takes mqtts or wss/,
  ],
  ['another protocol', { ...base, marketStream: { url: 'https://quotes.example' } }, /none of mqtts, wss/],
  ['credentials in it', { ...base, marketStream: { url: 'mqtts://a:b@quotes.example' } }, /more than a host/],
  ['more sessions than the upstream allows', { ...base, marketStream: { url, sessions: 5 } }, /1 to 4/],
  [
    'nothing to put quotes into',
    { ...base, cache: 'off', marketStream: { url } },
    /^marketStream needs the cache/,
  ],
  [
    'no quotes to serve',
    { ...base, groups: { 'market-data': 'closed' }, marketStream: { url } },
    /^marketStream needs groups\.market-data/,
  ],
]);
