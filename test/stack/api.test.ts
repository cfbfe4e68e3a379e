/** The API as a resource, its stage, plans, keys and outputs. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { test } from 'vitest';
import type { CountersignStackProps } from '../../infra/stack/stack.ts';
import { getConfig, getStockSnapshots, limits, openable, placeOrder } from '../../lib/catalogue/index.ts';
import { synthesise } from './synthesise.ts';

const operations = [getStockSnapshots, placeOrder];

test('one regional API, whose body replaces what was there', () => {
  const { one, all, template } = synthesise({ operations });
  const [, { Properties }] = one('AWS::ApiGateway::RestApi');
  assert.equal(Properties.Mode, 'overwrite', 'merged, the routes of a group that was closed would stay');
  assert.deepEqual(Properties.EndpointConfiguration, { Types: ['REGIONAL'] });
  assert.deepEqual(Properties.Parameters, { endpointConfigurationTypes: 'REGIONAL' });
  assert.ok(getStockSnapshots.path in (Properties.Body as { paths: object }).paths);
  for (const type of ['Resource', 'Method', 'GatewayResponse', 'RequestValidator', 'Model'])
    assert.deepEqual(all(`AWS::ApiGateway::${type}`), [], 'all of that stands in the body');
  // Elsewhere on its way through CloudFormation other characters become question marks.
  assert.match(JSON.stringify(template), /^[ -~]*$/);
});

test('every deployment answers what clients read first, without a function or a key for it', () => {
  const { one, all } = synthesise({
    groups: { instruments: 'closed', screeners: 'closed', fundamentals: 'closed', 'market-data': 'iam' },
  });
  const [, { Properties }] = one('AWS::ApiGateway::RestApi');
  const { paths } = Properties.Body as {
    readonly paths: Readonly<Record<string, { readonly get?: Readonly<Record<string, unknown>> }>>;
  };
  const { security, 'x-amazon-apigateway-integration': integration } = paths[getConfig.path]?.get ?? {};
  assert.equal(security, undefined);
  assert.equal((integration as { readonly type?: string }).type, 'mock');
  assert.equal(all('AWS::Lambda::Function').length, 1, 'that of market data');
});

test('nothing of the account is touched unless it is asked for', () => {
  const { one, all } = synthesise({ operations });
  assert.deepEqual(all('AWS::ApiGateway::Account'), []);
  const [, { Properties }] = one('AWS::ApiGateway::Stage');
  assert.equal(Properties.StageName, 'v1');
  assert.equal(Properties.TracingEnabled, false);
  assert.equal(Properties.AccessLogSetting, undefined);
});

test('what needs no key, or no plan bounds in time, is throttled by the stage', () => {
  const settings = (props: Partial<CountersignStackProps>) => {
    const [, { Properties }] = synthesise({ operations: [getConfig, ...operations], ...props }).one(
      'AWS::ApiGateway::Stage',
    );
    return (Properties.MethodSettings as readonly Readonly<Record<string, unknown>>[]).map(
      ({ HttpMethod, ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit }) => [
        `${HttpMethod} ${String(ResourcePath).replaceAll('~1', '/')}`,
        ThrottlingRateLimit,
        ThrottlingBurstLimit,
      ],
    );
  };
  const keyless = [
    ['GET //health', 10, 20],
    ...[getConfig.path, ...getConfig.aliases].map((path) => [`GET /${path}`, 10, 20]),
  ];
  assert.deepEqual(settings({}), keyless);
  for (const mode of ['jwt', 'bound-key', 'iam'] as const) {
    const auth = mode !== 'iam' && {
      auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
      trading: { limits: 'none' as const },
    };
    const orders = [placeOrder.path, ...placeOrder.aliases].map((path) => [`POST /${path}`, 50, 60]);
    assert.deepEqual(
      settings({ groups: { orders: mode }, throttle: { ratePerSecond: 50, burst: 60 }, ...auth }).sort(),
      [...keyless.map(([name]) => [name, 5, 6]), ...orders].sort(),
      mode,
    );
  }
});

test('each method that is open without a credential has a throttle, which it shares with no other method', () => {
  const cors = { origins: ['https://app.example', 'https://b.example'] };
  const usual = openThrottled({ cors });
  const most = openThrottled({
    cors,
    groups: {
      ...Object.fromEntries(openable.map((group) => [group, 'jwt'])),
      'market-data': 'api-key',
      instruments: 'iam',
    },
    auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
    trading: { limits: 'none' },
    tradeEvents: {},
    live: { maxStreams: 1, maxOrderStreams: 1 },
  });
  const page = readFileSync('docs/configuration.md', 'utf8').replaceAll('\n', ' ');
  assert.ok(
    page.includes(`there are ${usual} such methods, ${most} if every group is open`),
    `${usual}, ${most}`,
  );
  const dollarsADay = (methods: number) => (methods * 10 * 86_400 * 3.5) / 1_000_000;
  assert.ok(page.includes(`$${dollarsADay(1).toFixed(2)} a day for each method`));
  assert.ok(page.includes(`$${dollarsADay(usual).toFixed(0)} and $${dollarsADay(most).toFixed(0)} a day`));
});

/** Number of methods without a credential, each of which has been found to have a throttle of its own. */
function openThrottled(props: Partial<CountersignStackProps>): number {
  const { one } = synthesise(props);
  const [, { Properties: stage }] = one('AWS::ApiGateway::Stage');
  const settings = stage.MethodSettings as readonly Readonly<Record<string, unknown>>[];
  const throttled = new Map(
    settings.map((setting) => [
      `${setting.HttpMethod} ${String(setting.ResourcePath).replace(/^\//, '').replaceAll('~1', '/')}`,
      setting,
    ]),
  );
  assert.equal(throttled.size, settings.length, 'one setting for each');
  for (const name of throttled.keys()) assert.doesNotMatch(name, /\*/, 'a wildcard is for several methods');
  const [, { Properties: api }] = one('AWS::ApiGateway::RestApi');
  const { paths } = api.Body as { readonly paths: Readonly<Record<string, object>> };
  let open = 0;
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { security }] of Object.entries(methods)) {
      const setting = throttled.get(`${method.toUpperCase()} ${path}`);
      if (security !== undefined) continue;
      open++;
      assert.deepEqual(
        [setting?.ThrottlingRateLimit, setting?.ThrottlingBurstLimit],
        [10, 20],
        `${method} ${path}`,
      );
    }
  assert.ok(open > Object.keys(paths).length, 'each path has OPTIONS');
  return open;
}

test('access logs: with the account’s role, or setting it', () => {
  const using = synthesise({ operations, logs: { access: 'use-account-role' } });
  assert.deepEqual(using.all('AWS::ApiGateway::Account'), []);
  const [, { Properties }] = using.one('AWS::ApiGateway::Stage');
  const { Format } = Properties.AccessLogSetting as { readonly Format: string };
  assert.doesNotMatch(Format, /apiKey\}|identity\.apiKey"|querystring|header|context\.path/i);
  assert.ok('requestId' in (JSON.parse(Format) as object));
  // The session of an AWS identity may have a person's name, and what an authorizer says of a token has one.
  assert.doesNotMatch(Format, /userArn|caller|authorizer|identity\.user/);

  const setting = synthesise({ operations, logs: { access: 'set-account-role' } });
  assert.equal(setting.all('AWS::ApiGateway::Account').length, 1);
});

test('the default plan holds one key within the upstream’s limit, with one bucket for all methods', () => {
  const { one, all } = synthesise({ operations });
  const [planId, { Properties }] = one('AWS::ApiGateway::UsagePlan');
  const { BurstLimit, RateLimit } = Properties.Throttle as { BurstLimit: number; RateLimit: number };
  const { requests, perSeconds } = limits['market-data'];
  assert.ok(BurstLimit + perSeconds * RateLimit <= requests);
  assert.ok(BurstLimit >= 1 && RateLimit > 0);
  const [apiId] = one('AWS::ApiGateway::RestApi');
  const [stageId] = one('AWS::ApiGateway::Stage');
  assert.deepEqual(Properties.ApiStages, [{ ApiId: { Ref: apiId }, Stage: { Ref: stageId }, Throttle: {} }]);
  const [keyId, key] = one('AWS::ApiGateway::ApiKey');
  assert.ok(!('Value' in key.Properties), 'API Gateway makes the value');
  assert.equal(key.Properties.Enabled, true);
  assert.deepEqual(
    all('AWS::ApiGateway::UsagePlanKey').map(([, link]) => link.Properties),
    [{ KeyId: { Ref: keyId }, KeyType: 'API_KEY', UsagePlanId: { Ref: planId } }],
  );
});

test('further plans, keys and quotas are configuration', () => {
  const { all, template } = synthesise({
    operations,
    plans: {
      default: { keys: ['default', 'android'] },
      partner: { ratePerSecond: 0.5, burst: 5, quota: { requests: 1000, per: 'month' } },
    },
  });
  const partner = all('AWS::ApiGateway::UsagePlan').find(
    ([, { Properties }]) => Properties.UsagePlanName === 'Countersign-test partner',
  )?.[1].Properties;
  assert.deepEqual(partner?.Throttle, { BurstLimit: 5, RateLimit: 0.5 });
  assert.deepEqual(partner?.Quota, { Limit: 1000, Period: 'MONTH' });
  assert.equal(all('AWS::ApiGateway::ApiKey').length, 3);
  assert.equal(all('AWS::ApiGateway::UsagePlanKey').length, 3);
  assert.deepEqual(Object.keys(template.Outputs).sort(), [
    'ApiKeyId',
    'ApiKeyIdDefaultAndroid',
    'ApiKeyIdPartnerDefault',
    'ApiUrl',
    'BudgetTable',
    'LimitsKey',
    'SecretArn',
    'UpstreamUrl',
    'Version',
  ]);
  assert.match(
    JSON.stringify(template),
    /gatewayresponse\.header\.Retry-After":"'2'"/,
    'for the slowest plan',
  );
});

test('a plan for an app beside the one that mirrors the upstream’s limit', () => {
  const { all } = synthesise({
    operations,
    plans: { app: { tier: 'app', keys: ['ios', 'android'], quota: { requests: 1_000_000, per: 'day' } } },
  });
  const plans = all('AWS::ApiGateway::UsagePlan').map(([, { Properties }]) => [
    Properties.Throttle,
    Properties.Quota,
  ]);
  assert.deepEqual(plans, [
    [{ BurstLimit: 60, RateLimit: 4 }, undefined],
    [
      { BurstLimit: 4000, RateLimit: 2500 },
      { Limit: 1_000_000, Period: 'DAY' },
    ],
  ]);
  assert.equal(all('AWS::ApiGateway::ApiKey').length, 3);
});

test('outputs: where to call, which key, which secret', () => {
  const { template, one } = synthesise({ operations, stageName: 'beta' });
  assert.deepEqual(Object.keys(template.Outputs), [
    'ApiUrl',
    'BudgetTable',
    'LimitsKey',
    'SecretArn',
    'UpstreamUrl',
    'Version',
    'ApiKeyId',
  ]);
  assert.equal(template.Outputs.UpstreamUrl?.Value, 'https://upstream.example');
  assert.deepEqual(template.Outputs.SecretArn?.Value, { Ref: one('AWS::SecretsManager::Secret')[0] });
  assert.deepEqual(template.Outputs.ApiKeyId?.Value, { Ref: one('AWS::ApiGateway::ApiKey')[0] });
  assert.match(JSON.stringify(template.Outputs.ApiUrl?.Value), /https:\/\/.*execute-api.*\/beta"/);
});

const variants: Readonly<Record<string, Partial<CountersignStackProps>>> = {
  plain: {},
  'access logs': { logs: { access: 'use-account-role' } },
  'access logs and the account’s role': { logs: { access: 'set-account-role' } },
  'IAM groups, CORS, plans': {
    groups: { orders: 'iam' },
    cors: { origins: ['https://a.example'] },
    plans: { partner: { keys: ['one', 'two'] } },
  },
  'users by token': {
    groups: { orders: 'jwt' },
    trading: { limits: 'none' },
    auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
  },
  'a stop that alarms set': {
    groups: { orders: 'iam' },
    trading: { limits: 'none', stopOnAlarms: { names: ['orders-refused'], cancelOpen: true } },
  },
  'lookups by event': {
    events: { archiveDays: 7, alarmTopic: 'arn:aws:sns:eu-central-1:123456789012:alarms' },
  },
  'plans and functions for an app': {
    groups: { orders: 'iam' },
    plans: { app: { tier: 'app' } },
    functions: { reservedConcurrency: { 'market-data': 500 } },
  },
  'a check of the access token': { accessToken: {} },
  'alarms by mail': { alarmEmail: 'ops@example.com' },
  'trade events': { tradeEvents: { alarmTopic: 'arn:aws:sns:eu-central-1:123456789012:alarms' } },
  'no cache': { cache: 'off' },
  'a shared limiter': { limiter: { table: 'another-table', share: 0.5 } },
};

for (const [what, props] of Object.entries(variants))
  test(`cdk-nag, AwsSolutions: ${what}`, () => {
    const { app } = synthesise({ operations, ...props });
    const { success, violations } = new AwsSolutionsChecks(app).validateScope(app);
    assert.deepEqual(violations, []);
    assert.ok(success);
  });
