import assert from 'node:assert/strict';
import { test } from 'vitest';
import { functionsOf } from '../../functions/rows.ts';
import {
  getStockSnapshots,
  listAccounts,
  openable,
  placeOrder,
  previewOrder,
} from '../../lib/catalogue/index.ts';
import {
  baseUrl,
  idOf,
  type Synthesised,
  settingsOf,
  statementsOf,
  synthesise,
  variablesOf,
} from './synthesise.ts';

const operations = [getStockSnapshots, listAccounts, placeOrder];
const plain = synthesise({ operations });
const opened = synthesise({ operations, groups: { accounts: 'iam', orders: 'iam' } });

/** Functions that serve requests are called as in the catalogue; a worker as its construct, which has tests of its own. */
const own = (found: ReturnType<Synthesised['all']>) =>
  found.filter(([id]) => /^([a-z]|Lookups|AccessLog)/.test(id));
const serving = ({ all }: Pick<Synthesised, 'all'>) => own(all('AWS::Lambda::Function'));

test('closed groups are neither routed nor deployed', () => {
  assert.equal(serving(plain).length, 1);
  assert.doesNotMatch(JSON.stringify(plain.template), /place_order|account\/list|sigv4/);
  assert.equal(serving(opened).length, 3);
  assert.match(JSON.stringify(opened.template), /place_order/);
  const closed = synthesise({ operations, groups: { 'market-data': 'closed', accounts: 'iam' } });
  assert.doesNotMatch(JSON.stringify(closed.template), /snapshot/);
});

test('operations on tokens are never routed, whatever is opened', () => {
  const everything = synthesise({
    groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' },
    tradeEvents: {},
    live: { maxStreams: 5, maxOrderStreams: 5 },
  });
  assert.equal(serving(everything).length, openable.flatMap(functionsOf).length);
  assert.doesNotMatch(JSON.stringify(everything.template), /tokens?\/(create|check)/);
});

test('the newest runtime, and time-outs that nest', () => {
  const [, { Properties }] = plain.one('AWS::Lambda::Function');
  assert.deepEqual(Properties.Architectures, ['arm64']);
  assert.equal(Properties.Runtime, 'nodejs24.x');
  assert.equal(Properties.Handler, 'index.handler');
  const { timeoutMs = Number.NaN } = settingsOf(Properties, 'UPSTREAM') ?? {};
  assert.ok(2 * timeoutMs < 1000 * Number(Properties.Timeout));
  assert.ok(Number(Properties.Timeout) < 29);
});

test('the environment names the secret and does not hold it', () => {
  const [, { Properties }] = plain.one('AWS::Lambda::Function');
  const [secretId] = plain.one('AWS::SecretsManager::Secret');
  assert.deepEqual(Object.keys(variablesOf(Properties)), ['UPSTREAM', 'LIMITER', 'CACHE']);
  assert.deepEqual(settingsOf(Properties, 'UPSTREAM'), {
    baseUrl,
    limits: 'interface',
    paths: {},
    timeoutMs: 10_000,
    secretId,
  });
});

test('the limiter’s table: on demand, expiring, and gone with the stack', () => {
  for (const onRemoval of ['destroy', 'retain'] as const) {
    const table = synthesise({ operations, onRemoval }).table('Budget')?.[1];
    assert.equal(table?.DeletionPolicy, 'Delete');
    assert.deepEqual(table?.Properties, {
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
    });
  }
});

test('without a function that counts requests there is no table', () => {
  // No choice of limits has a figure for previews.
  const { all, template } = synthesise({
    groups: { ...closed, orders: 'iam' },
    operations: [previewOrder],
    cache: 'off',
  });
  assert.equal(serving({ all }).length, 1);
  assert.deepEqual(
    all('AWS::DynamoDB::Table').map(([id]) => id.replace(/[0-9A-F]{8}$/, '')),
    ['UsersTable'],
  );
  assert.ok(!('BudgetTable' in template.Outputs));
});

test('functions have what is configured of the limiter', () => {
  const limits = { trading: { requests: 10, perSeconds: 1, for: ['orders'] } };
  const limiter = { share: 0.5, instances: 15, reserve: 0.1, bucket: 'team', operationLimits: limits };
  const groups = { ...closed, 'market-data': 'api-key', orders: 'iam' } as const;
  const functions = { reservedConcurrency: { 'market-data': 5 } };
  const { all, table } = synthesise({ operations, limiter, groups, functions });
  const tableId = table('Budget')?.[0];
  for (const [, { Properties }] of serving({ all }))
    assert.deepEqual(settingsOf(Properties, 'LIMITER'), {
      tableName: tableId,
      share: 0.5,
      reserve: { part: 0.1, instances: 15 },
      bucket: 'team',
      operationLimits: limits,
    });
});

test('under the vendor’s table orders and accounts are counted, too, and each function is told the choice', () => {
  const groups = { ...closed, accounts: 'iam', orders: 'iam' } as const;
  const upstream = { baseUrl, limits: 'published' } as const;
  const { functionOf, table } = synthesise({ operations, groups, upstream });
  const tableId = table('Budget')?.[0];
  for (const group of ['accounts', 'orders'] as const) {
    const { Properties } = functionOf(group)[1];
    assert.equal(settingsOf(Properties, 'LIMITER')?.tableName, tableId);
    assert.equal(settingsOf(Properties, 'UPSTREAM')?.limits, 'published');
  }
  const figures = { 'order-change': { requests: 2, perSeconds: 2 } };
  const own = synthesise({ operations, groups, upstream: { baseUrl, limits: figures } });
  assert.deepEqual(settingsOf(own.functionOf('orders')[1].Properties, 'UPSTREAM')?.limits, figures);
  // Figures that name no accounts count them only when they are tightened, for which the function has the table.
  assert.ok(variablesOf(own.functionOf('accounts')[1].Properties).LIMITER);
});

test('the reserve is divided by the functions that are reserved, those of lookups too', () => {
  const { all, functionOf } = synthesise({
    operations,
    limiter: { reserve: 0.2 },
    functions: { reservedConcurrency: { 'market-data': 30 } },
    groups: { orders: 'iam' },
    events: { concurrency: 4, reservedConcurrency: 6 },
  });
  assert.equal(functionOf('market-data')[1].Properties.ReservedConcurrentExecutions, 30);
  const variables = serving({ all }).map(([, { Properties }]) => ({
    reserved: Properties.ReservedConcurrentExecutions,
    instances: settingsOf(Properties, 'LIMITER')?.reserve?.instances,
  }));
  // Orders count against no limit here: they have the table for tighter limits only, which have no reserve.
  assert.deepEqual(
    variables.sort((a, b) => Number(a.reserved) - Number(b.reserved)),
    [
      { reserved: 2, instances: 36 },
      { reserved: 4, instances: 36 },
      { reserved: 10, instances: 36 },
      { reserved: 30, instances: 36 },
    ],
  );
});

test('a table can be shared, by its name or its ARN', () => {
  const arn = 'arn:aws:dynamodb:eu-central-1:123456789012:table/shared';
  for (const [table, resource] of [
    ['shared', /table\/shared/],
    [arn, new RegExp(arn)],
  ] as const) {
    const { all, one, template } = synthesise({ operations, limiter: { table } });
    assert.deepEqual(
      all('AWS::DynamoDB::Table').map(([id]) => id.replace(/[0-9A-F]{8}$/, '')),
      ['Cache'],
    );
    const [, { Properties }] = one('AWS::Lambda::Function');
    assert.equal(settingsOf(Properties, 'LIMITER')?.tableName, table);
    assert.equal(template.Outputs.BudgetTable?.Value, table);
    const role = template.Resources[idOf(Properties.Role)];
    assert.match(JSON.stringify(statementsOf(role)[1]), resource);
  }
});

test('functions that count only under tighter limits have the table as well', () => {
  const accounts = { groups: { ...closed, accounts: 'iam' }, cache: 'off' } as const;
  const { one, all } = synthesise(accounts);
  // The users’ table is the other one.
  assert.equal(all('AWS::DynamoDB::Table').length, 2);
  const { Properties } = one('AWS::Lambda::Function')[1];
  assert.equal(settingsOf(Properties, 'UPSTREAM')?.limits, 'interface');
  assert.ok(settingsOf(Properties, 'LIMITER'));
});

/** What is open by default. */
const closed = {
  instruments: 'closed',
  'market-data': 'closed',
  screeners: 'closed',
  fundamentals: 'closed',
} as const;

test('a function knows the other paths of its own operations', () => {
  const paths = {
    placeOrder: '/trading/orders/place',
    getStockSnapshots: '/market-data/stocks/snapshots/list',
  };
  const { all } = synthesise({
    upstream: { baseUrl, limits: 'interface', paths },
    groups: { orders: 'iam' },
  });
  const known = serving({ all }).map(([, { Properties }]) =>
    JSON.stringify(settingsOf(Properties, 'UPSTREAM')?.paths),
  );
  assert.deepEqual(known.filter((text) => text !== '{}').sort(), [
    JSON.stringify({ getStockSnapshots: paths.getStockSnapshots }),
    // Last prices are read there, too.
    JSON.stringify(paths),
  ]);
});

test('functions know the origins', () => {
  for (const [origins, known] of [
    [
      ['https://a.example', 'capacitor://localhost'],
      ['https://a.example', 'capacitor://localhost'],
    ],
    [['*'], '*'],
  ] as const) {
    const { one } = synthesise({ operations, cors: { origins } });
    assert.deepEqual(settingsOf(one('AWS::Lambda::Function')[1].Properties, 'CORS'), known);
  }
});

test('the secret is empty until the operator sets it', () => {
  const [, { Properties }] = plain.one('AWS::SecretsManager::Secret');
  assert.deepEqual(Object.keys(Properties), ['Description']);
});

for (const [what, synthesised] of Object.entries({ plain, opened }))
  test(`each function has its own role, which can do what it needs and no more (${what})`, () => {
    const { all, table, template } = synthesised;
    const secretOf = (name: string) =>
      all('AWS::SecretsManager::Secret').find(([id]) => id.startsWith(name))?.[0];
    const functions = serving({ all });
    const tableArn = (name: 'Budget' | 'Cache' | 'Users' | 'OrderJournal' | 'TradingControls') => ({
      'Fn::GetAtt': [table(name)?.[0], 'Arn'],
    });
    const roles = own(all('AWS::IAM::Role'));
    assert.equal(roles.length, functions.length);
    assert.equal(
      new Set(functions.map(([, { Properties }]) => idOf(Properties.Role))).size,
      functions.length,
    );
    for (const [id, { Properties }] of functions) {
      const counting = {
        Effect: 'Allow',
        Action: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
        Resource: tableArn('Budget'),
      };
      const caching = (...actions: readonly string[]) => ({
        Effect: 'Allow',
        Action: actions.map((action) => `dynamodb:${action}`),
        Resource: tableArn('Cache'),
      });
      // No snapshots: orders are checked against their prices.
      const ofAnswers = {
        Condition: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['answers#*', 'spent#*'] },
        },
      };
      const logGroup = (Properties.LoggingConfig as { LogGroup: { Ref: string } }).LogGroup.Ref;
      const role = template.Resources[idOf(Properties.Role)];
      assert.equal(role?.Properties.ManagedPolicyArns, undefined);
      assert.deepEqual(statementsOf(role), [
        { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: { Ref: secretOf('Secret') } },
        // Accounts and orders count under tighter limits.
        counting,
        ...(id.startsWith('marketdata')
          ? [caching('BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem')]
          : [
              // Placing only ends what is shared.
              {
                ...(id.startsWith('orders')
                  ? caching('DeleteItem', 'PutItem')
                  : caching('DeleteItem', 'GetItem', 'PutItem', 'UpdateItem')),
                ...ofAnswers,
              },
              { Effect: 'Allow', Action: 'dynamodb:BatchGetItem', Resource: tableArn('Users') },
              {
                Effect: 'Allow',
                Action: 'secretsmanager:GetSecretValue',
                Resource: { Ref: secretOf('UsersIdentityKey') },
              },
            ]),
        ...(id.startsWith('orders')
          ? [
              {
                Effect: 'Allow',
                Action: ['dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
                Resource: tableArn('OrderJournal'),
              },
              // Last prices, of what market data shares.
              { Effect: 'Allow', Action: 'dynamodb:BatchGetItem', Resource: tableArn('Cache') },
              { Effect: 'Allow', Action: 'dynamodb:BatchGetItem', Resource: tableArn('TradingControls') },
              // Requests for mass cancels, and no limit or stop.
              {
                Effect: 'Allow',
                Action: 'dynamodb:PutItem',
                Resource: tableArn('TradingControls'),
                Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['mass-cancel'] } },
              },
            ]
          : []),
        {
          Effect: 'Allow',
          Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          Resource: { 'Fn::GetAtt': [logGroup, 'Arn'] },
        },
      ]);
    }
    assert.deepEqual(own(all('AWS::IAM::Policy')), [], 'nothing is attached from elsewhere');
    assert.deepEqual(all('AWS::IAM::ManagedPolicy'), []);
  });

test('one invoke permission for each function, for this API only', () => {
  const [apiId] = opened.one('AWS::ApiGateway::RestApi');
  const permissions = own(opened.all('AWS::Lambda::Permission'));
  assert.deepEqual(
    permissions.map(([, { Properties }]) => idOf(Properties.FunctionName)).sort(),
    serving(opened)
      .map(([id]) => id)
      .sort(),
  );
  for (const [, { Properties }] of permissions) {
    assert.equal(Properties.Principal, 'apigateway.amazonaws.com');
    assert.equal(
      joined(Properties.SourceArn),
      `arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<${apiId}>/*`,
    );
  }
});

test('log groups keep a month, and go with the stack, unless configured otherwise', () => {
  const logGroups = ({ all }: Synthesised) => own(all('AWS::Logs::LogGroup')).map(([, resource]) => resource);
  assert.equal(logGroups(opened).length, 3);
  for (const { Properties, DeletionPolicy } of logGroups(opened)) {
    assert.equal(Properties.RetentionInDays, 30);
    assert.equal(DeletionPolicy, 'Delete');
  }
  const kept = synthesise({
    operations,
    logs: { retentionDays: 365, access: 'use-account-role' },
    onRemoval: 'retain',
  });
  assert.equal(logGroups(kept).length, 2, 'the function’s and the access log');
  for (const { Properties, DeletionPolicy } of [...logGroups(kept)]) {
    assert.equal(Properties.RetentionInDays, 365);
    assert.equal(DeletionPolicy, 'Retain');
  }
  assert.equal(kept.one('AWS::SecretsManager::Secret')[1].DeletionPolicy, 'Retain');
});

/** A Fn::Join with its references in angle brackets. */
const joined = (value: unknown) =>
  (value as { 'Fn::Join': readonly [string, readonly (string | { Ref: string })[]] })['Fn::Join'][1]
    .map((part) => (typeof part === 'string' ? part : `<${part.Ref}>`))
    .join('');
