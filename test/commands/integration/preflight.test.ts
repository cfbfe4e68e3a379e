/** `countersign preflight`: accounts and stages, and what is said of them. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'vitest';
import { type AwsAccount, readAccount } from '../../../infra/commands/account.ts';
import { verdictOf, type Wish } from '../../../infra/commands/preflight.ts';
import { noneIsTold } from '../../../infra/stack/alarm-table.ts';
import type { CountersignConfig } from '../../../infra/stack/config.ts';
import { resolveConfig } from '../../../infra/stack/resolve-config.ts';
import { judged, launcher } from '../../support/process.ts';
import { type AccountStub, startAccountStub } from '../aws-account-stub.ts';

const upstream = { baseUrl: 'https://upstream.example', limits: 'interface' } as const;
const app = { app: { tier: 'app', keys: ['ios', 'android'] } } as const;
const orders = { orders: 'iam' } as const;
const times = { everySeconds: 5, withinSeconds: 5 };

const account = (instances: number, ratePerSecond = 10_000, burst = 5000): AwsAccount => ({
  region: 'eu-central-1',
  lambda: { all: instances, unreserved: instances },
  apiGateway: { ratePerSecond, burst },
  keys: 3,
  usagePlans: 2,
  deployed: { reserved: 0, keys: 0, usagePlans: 0 },
  unknown: [],
});
const ofNew = account(10);
const ofUsual = account(1000);
const ofSmallRegion = account(1000, 2500, 1250);

const verdict = (config: Omit<CountersignConfig, 'upstream'>, of: AwsAccount, wish: Partial<Wish> = {}) =>
  verdictOf('dev', resolveConfig({ upstream, ...config }), of, { ...times, ...wish });

const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d';
const domain = { name: 'api.example.com', certificateArn };
const withCertificate = (status: string, ...names: readonly string[]): AwsAccount => ({
  ...ofUsual,
  certificate: { status, names },
});

interface Case {
  readonly what: string;
  readonly config: Omit<CountersignConfig, 'upstream'>;
  readonly of: AwsAccount;
  readonly wish?: Partial<Wish>;
  readonly carries: boolean | undefined;
  readonly says: readonly RegExp[];
}

const cases: readonly Case[] = [
  {
    what: 'a key of each plan, one with a quota: what it can cost in a day',
    config: {
      plans: {
        app: { tier: 'app' },
        bounded: { tier: 'app', quota: { requests: 5_000_000, per: 'day' } },
      },
    },
    of: ofUsual,
    wish: { phones: 1000 },
    carries: true,
    says: [
      /^- A key of the plan app can cost \$20,392 a day, for 216,004,000 requests\. The dearest is listStockBars for 5825 records, 1,024 KiB: a million cost \$\d+\.\d\d from the upstream, \$\d+\.\d\d from the cache\. A quota would bound it\.$/m,
      /^- A key of the plan bounded can cost \$513\.08 a day, for 5,000,000 requests\. .* from the cache\.$/m,
    ],
  },
  {
    what: 'a new account carries what the default plan lets through',
    config: {},
    of: ofNew,
    carries: true,
    says: [
      /^This deployment carries about 20 phones that ask every 5 s; bound by the usage plan default \(4 req/m,
      /^Its largest plan, default, is made for 16 phones: it carries them\.$/m,
      /an app takes one of the tier app/,
      /^- A key of the plan default can cost \$66\.20 a day, for 345,660 requests\. .* A quota would bound it\.$/m,
    ],
  },
  {
    what: 'a new account and an app: ten instances take ten requests a second each',
    config: { plans: app },
    of: ofNew,
    carries: false,
    says: [
      /^This deployment carries about 500 phones that ask every 5 s; bound by Lambda’s 10 concurrent instances\.$/m,
      /^From cold, about 125 phones may all come within 5 s; bound by Lambda’s 10/m,
      /^Its largest plan, app, is made for 10,000 phones: it does not carry them\.$/m,
      /^- Ask AWS for Lambda’s quota “Concurrent executions” \(L-B99A9384\): 1,000, now 10\.$/m,
    ],
  },
  {
    what: 'a new account and phones that read, but may not all come at once',
    config: { plans: app },
    of: ofNew,
    wish: { phones: 400 },
    carries: false,
    says: [/^Enough while they read, too little when all come from cold within 5 s: Lambda’s 10/m],
  },
  {
    what: 'a new account and as many as it carries',
    config: { plans: app },
    of: ofNew,
    wish: { phones: 125 },
    carries: true,
    says: [/^125 phones were asked for: it carries them\.$/m],
  },
  {
    what: 'a new account can reserve nothing, and the report has what to write',
    config: { plans: app, groups: orders },
    of: ofNew,
    wish: { phones: 100 },
    carries: false,
    says: [
      /^As it is, it cannot be deployed at all\.\nThe stage reserves 16 instances \(orders 10, order-cancels 5, mass cancels 1\), but the account has 10 .* would fail/m,
      /^- Put functions: \{ reservedConcurrency: 'none' \} into the stage/m,
      /carries about 500 phones/,
    ],
  },
  {
    what: 'a new account with what the report has',
    config: { plans: app, groups: orders, functions: { reservedConcurrency: 'none' } },
    of: ofNew,
    wish: { phones: 100 },
    carries: true,
    says: [],
  },
  {
    what: 'the usual quotas carry ten thousand',
    config: { plans: app, groups: orders },
    of: ofUsual,
    carries: true,
    says: [
      /^This deployment carries about 12,500 phones that ask every 5 s; bound by the usage plan app/m,
      /^From cold, about 12,300 phones may all come within 5 s; bound by Lambda’s 984/m,
      /1,000, less 16 that this stage reserves \(orders 10, order-cancels 5, mass cancels 1\)/,
    ],
  },
  {
    what: 'a Region with 2,500 and 1,250 carries them too, and nothing beside',
    config: { plans: app },
    of: ofSmallRegion,
    carries: true,
    says: [
      /carries about 12,500 phones/,
      /^- One key of the plan app may take all that API Gateway gives the account/m,
      /2,500 requests a second and 1,250 at once\. 12,500 phones every 5 s; 13,700 from cold/,
    ],
  },
  {
    what: 'such a Region and more phones: the rate, not the burst, is asked for',
    config: { plans: { app: { ratePerSecond: 5000, burst: 8000 } } },
    of: ofSmallRegion,
    wish: { phones: 20_000, withinSeconds: 10 },
    carries: false,
    says: [
      /^Too little for 20,000 phones every 5 s: API Gateway’s rate for the account \(2,500/m,
      /^- Ask AWS for API Gateway’s quota “Throttle rate” \(L-8A5B8E43\): at least 5,000 .*, now 2,500/m,
    ],
  },
  {
    what: 'the default plan and an app',
    config: {},
    of: ofUsual,
    wish: { phones: 10_000 },
    carries: false,
    says: [/^- Give the app a plan .*: plans: \{ app: \{ tier: 'app', keys: \['ios', 'android'\] \} \}\.$/m],
  },
  {
    what: 'a hundred thousand phones meet every bound, and one that no quota raises',
    config: { plans: app },
    of: ofUsual,
    wish: { phones: 100_000 },
    carries: false,
    says: [
      /plans: \{ app: \{ ratePerSecond: 25000, burst: 40000, keys/,
      /at least 25,000 requests a second/,
      /“Concurrent executions” \(L-B99A9384\): 2,000, now 1,000/,
      /spread the first requests of 100,000 phones over 40 s.*--within 40/,
    ],
  },
  {
    what: 'a hundred thousand phones with all of that',
    config: { plans: { app: { ratePerSecond: 25_000, burst: 40_000 } } },
    of: account(3000, 25_000, 12_500),
    wish: { phones: 100_000, withinSeconds: 40 },
    carries: true,
    says: [],
  },
  {
    what: 'instances that are reserved for market data are the most that it has',
    config: { plans: app, functions: { reservedConcurrency: { 'market-data': 100 } } },
    of: {
      ...ofUsual,
      lambda: { all: 1000, unreserved: 900 },
      deployed: { reserved: 100, keys: 3, usagePlans: 2 },
    },
    carries: false,
    says: [
      /carries about 5,000 phones that ask every 5 s; bound by Lambda’s 100/,
      /^- Give market data 800 instances: functions: \{ reservedConcurrency: \{ 'market-data': 800 \} \}\.$/m,
    ],
  },
  {
    what: 'what other functions have reserved is not there',
    config: { plans: app },
    of: { ...ofUsual, lambda: { all: 1000, unreserved: 600 } },
    carries: false,
    says: [/600 instances .*: 1,000, less 400 that other functions have reserved/],
  },
  {
    what: 'others left no room for a reservation',
    config: { plans: app, groups: orders },
    of: { ...ofUsual, lambda: { all: 1000, unreserved: 105 } },
    wish: { phones: 10 },
    carries: false,
    says: [/Lambda can give 5: the deployment would fail/, /\(L-B99A9384\): 1,011, now 1,000/],
  },
  {
    what: 'a stage that has its reservation already needs no second one',
    config: { plans: app, groups: orders },
    of: {
      ...ofUsual,
      lambda: { all: 116, unreserved: 100 },
      deployed: { reserved: 16, keys: 3, usagePlans: 2 },
    },
    wish: { phones: 10 },
    carries: true,
    says: [/116, less 16 that this stage reserves/],
  },
  {
    what: 'keys are used up',
    config: { plans: app },
    of: { ...ofUsual, keys: 9998 },
    carries: false,
    says: [/The stage has 3 API keys, but the account has 9,998 others, of 10,000/],
  },
  {
    what: 'keys that are the stage’s own are no others',
    config: { plans: app },
    of: { ...ofUsual, keys: 10_000, deployed: { reserved: 0, keys: 3, usagePlans: 2 } },
    carries: true,
    says: [],
  },
  {
    what: 'without shared answers each read is one to the upstream',
    config: { plans: app, cache: 'off' },
    of: ofUsual,
    carries: false,
    says: [
      /carries about 25 phones .*bound by the upstream’s limit of 300/,
      /put marketDataUse into the stage in place of cache: 'off'/,
    ],
  },
  {
    what: 'market data that is closed has no phones',
    config: { groups: { 'market-data': 'closed' } },
    of: ofUsual,
    carries: true,
    says: [/Market data is closed/],
  },
  {
    what: 'signed callers need no plan, and no load is known of them',
    config: { groups: { 'market-data': 'iam' } },
    of: ofUsual,
    carries: true,
    says: [/carries about 50,000 phones .*bound by API Gateway’s rate/],
  },
  {
    what: 'Lambda’s figure is missing',
    config: { plans: app },
    of: { ...ofUsual, lambda: undefined, unknown: ['Lambda’s instances: no.'] },
    carries: undefined,
    says: [
      /about 12,500 phones .*, as far as is known;/,
      /whether it carries them is unknown/,
      /^- Lambda’s inst/m,
    ],
  },
  {
    what: 'Lambda’s figure is missing, but another decides',
    config: {},
    of: { ...ofUsual, lambda: undefined, unknown: ['Lambda’s instances: no.'] },
    wish: { phones: 10_000 },
    carries: false,
    says: [],
  },
  {
    what: 'what the stage has already is missing, and decides',
    config: { groups: orders },
    of: { ...ofUsual, lambda: { all: 1000, unreserved: 100 }, deployed: undefined },
    carries: undefined,
    says: [],
  },
];

for (const { what, config, of, wish, carries, says } of cases)
  test(what, () => {
    const { words, ...rest } = verdict(config, of, wish);
    assert.equal(rest.carries, carries, words);
    for (const expected of says) assert.match(words, expected);
    assert.doesNotMatch(words, /undefined|NaN|Infinity/);
  });

test('the domain’s certificate: what API Gateway would refuse is said before', () => {
  const elsewhere = certificateArn.replace('eu-central-1', 'us-east-1');
  const faults: readonly (readonly [CountersignConfig['domain'], AwsAccount, RegExp | undefined])[] = [
    [domain, ofUsual, undefined],
    [domain, withCertificate('ISSUED', 'api.example.com'), undefined],
    [domain, withCertificate('ISSUED', 'example.com', '*.example.com'), undefined],
    [
      domain,
      withCertificate('ISSUED', 'example.com', '*.com'),
      /is for example\.com, \*\.com, not for api\./,
    ],
    [domain, withCertificate('PENDING_VALIDATION', 'api.example.com'), /has the status PENDING_VALIDATION: /],
    [domain, withCertificate('missing'), /^The account has no certificate with the ARN of/m],
    [{ ...domain, certificateArn: elsewhere }, ofUsual, /is a certificate in us-east-1, .* eu-central-1: /],
  ];
  for (const [given, of, fault] of faults) {
    const { carries, words } = verdict({ ...(given && { domain: given }) }, of);
    assert.equal(carries, fault === undefined, words);
    if (fault) {
      assert.match(words, fault);
      assert.match(words, /cannot be deployed at all[\s\S]*What to do\n- (Request|Write)/);
    }
    assert.ok(!words.includes('123456789012'), 'no account id in the output');
  }
});

const certificates: readonly (readonly [string, AccountStub, Partial<AwsAccount>])[] = [
  [
    'one that is issued',
    { certificate: { Status: 'ISSUED', SubjectAlternativeNames: ['api.example.com'] } },
    { certificate: { status: 'ISSUED', names: ['api.example.com'] }, unknown: [] },
  ],
  ['none', {}, { certificate: { status: 'missing', names: [] }, unknown: [] }],
  [
    'one that may not be read',
    { denied: ['certificate'] },
    { unknown: ['the certificate: acm:DescribeCertificate failed with AccessDeniedException.'] },
  ],
];

for (const [what, stub, expected] of certificates)
  test(`a certificate over HTTP: ${what}`, async (t) => {
    Object.assign(process.env, await startAccountStub(t, stub));
    const { certificate, unknown } = await readAccount('s', certificateArn);
    assert.deepEqual({ certificate, unknown }, { certificate: undefined, ...expected });
    const { certificate: other } = await readAccount('s', certificateArn.replace('eu-', 'us-'));
    assert.equal(other, undefined, 'of another Region it is not asked for');
  });

async function run(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [launcher, 'preflight', ...args], {
    env: { ...judged, HOME: '/nowhere', AWS_EC2_METADATA_DISABLED: 'true', ...env },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (err += data));
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.ok(!(out + err).includes('canary'), 'no credentials in the output');
  return { code, out, err };
}

const accounts: readonly (readonly [string, AccountStub, string[], number, RegExp])[] = [
  ['a new one', { instances: 10 }, [], 0, /20 phones.*\n.*10 instances/s],
  ['a new one, with a wish', { instances: 10 }, ['--phones', '1000'], 1, /1,000, now 10\./],
  [
    'one with 1,203 keys',
    { keys: 1203, held: 10 },
    [],
    0,
    /API keys: 1,203 of 10,000 are used; usage plans: 1 of/,
  ],
  ['one that others use', { reservedByOthers: 300, held: 10 }, [], 0, /less 300 that other functions/],
  [
    'one that may not be read',
    { denied: ['/account'] },
    [],
    1,
    /instances: lambda:GetAccountSettings failed with AccessDen/,
  ],
  [
    'one without a list of keys',
    { denied: ['/apikeys', 'cloudformation'] },
    [],
    0,
    /Unknown\n- API keys: apigateway:GET/,
  ],
  [
    'an emulator’s, without figures',
    { empty: ['/account'] },
    [],
    1,
    /failed with an answer without the figure/,
  ],
];

for (const [what, stub, args, code, line] of accounts)
  test(`an account over HTTP: ${what}`, async (t) => {
    const result = await run(args, await startAccountStub(t, stub));
    assert.equal(result.err, '');
    assert.match(result.out, line);
    assert.equal(result.code, code, result.out);
  });

test('what must be there first is asked for in one line', async (t) => {
  const env = await startAccountStub(t, {});
  const { AWS_ACCESS_KEY_ID: _, ...withoutKey } = env;
  const { AWS_REGION: __, ...withoutRegion } = env;
  const old = await startAccountStub(t, { refusal: 'ExpiredTokenException' });
  for (const [given, line] of [
    [withoutKey, /^AWS credentials are missing: set AWS_PROFILE, .*\.\n$/],
    [withoutRegion, /^The Region is missing: set AWS_REGION\.\n$/],
    [old, /^AWS does not accept the credentials \(ExpiredTokenException\): renew them\.\n$/],
  ] as const) {
    const { code, out, err } = await run([], given);
    assert.match(err, line);
    assert.deepEqual([code, out], [1, '']);
  }
});

test('it says when nobody hears of alarms', () => {
  const words = (config: Partial<CountersignConfig>) => verdict(config, ofUsual).words;
  assert.ok(words({}).includes(noneIsTold));
  for (const heard of [
    { alarmEmail: 'ops@example.com' },
    { alarmTopic: 'arn:aws:sns:eu-central-1:123456789012:alarms' },
  ])
    assert.ok(!words(heard).includes(noneIsTold));
});
