/** What tells users apart as resources: there only where a group asks who calls, and no more than its functions need. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { directoryActions } from '../../infra/stack/users.ts';
import { getStockSnapshots, listAccounts, placeOrder } from '../../lib/catalogue/index.ts';
import { each } from '../support/each.ts';
import { actionsIn, codeOf } from './called-by.ts';
import {
  idOf,
  policiesOf,
  removals,
  type Synthesised,
  settingsOf,
  statementsOf,
  synthesise,
  twoKeys,
  variablesOf,
} from './synthesise.ts';

const operations = [getStockSnapshots, listAccounts, placeOrder];
const auth = { issuer: 'https://issuer.example', clientIds: ['app'], scopes: { trade: 'orders' } } as const;
const jwt = synthesise({ operations, groups: { accounts: 'jwt', orders: 'iam' }, auth });

const called = (synthesised: Synthesised, type: string, name: string) =>
  synthesised.all(type).find(([id]) => id.startsWith(name));
const authorizerOf = (synthesised: Synthesised) =>
  called(synthesised, 'AWS::Lambda::Function', 'UsersAuthorizer');

/** What of a function depends on users: its environment, and what its role may do. */
function partsOf({ functionOf, template }: Synthesised, group: 'market-data' | 'accounts' | 'orders') {
  const { Properties } = functionOf(group)[1];
  const role = template.Resources[idOf(Properties.Role)];
  return { Properties, statements: statementsOf(role), policies: policiesOf(role) };
}

test('a stack of market facts for any key has none of it', () => {
  const { all, template } = synthesise({ operations });
  assert.deepEqual(
    all('AWS::DynamoDB::Table')
      .map(([id]) => id.replace(/[0-9A-F]{8}$/, ''))
      .sort(),
    ['Budget', 'Cache'],
  );
  assert.equal(all('AWS::SecretsManager::Secret').length, 1);
  assert.doesNotMatch(JSON.stringify(template), /apigateway-authorizer|"(ACCESS|IDENTITY|AUTH)"|AccessTable/);
});

test('the function of market data is the same beside users and without them', () => {
  const plain = synthesise({ operations });
  const partsIn = (from: Synthesised) => {
    const { Properties, ...others } = partsOf(from, 'market-data');
    return { ...others, variables: variablesOf(Properties) };
  };
  assert.deepEqual(partsIn(jwt), partsIn(plain));
});

test('the users’ table: on demand, expiring, restorable, and gone only with the stack’s data', () => {
  for (const [onRemoval, policy] of removals) {
    const synthesised = synthesise({ operations, groups: { accounts: 'iam' }, onRemoval });
    const table = synthesised.table('Users')?.[1];
    assert.deepEqual([table?.DeletionPolicy, table?.UpdateReplacePolicy], [policy, policy]);
    assert.deepEqual(table?.Properties, {
      ...twoKeys,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
    });
    const key = called(synthesised, 'AWS::SecretsManager::Secret', 'UsersIdentityKey')?.[1];
    assert.equal(key?.DeletionPolicy, policy);
  }
});

test('the identity key is made by AWS, and stands in no template', () => {
  const key = called(jwt, 'AWS::SecretsManager::Secret', 'UsersIdentityKey')?.[1];
  assert.deepEqual(key?.Properties.GenerateSecretString, { PasswordLength: 64, ExcludePunctuation: true });
  assert.equal(key?.Properties.SecretString, undefined);
});

test('a group that asks knows the table and the key, and whose tokens are accepted only where it takes any', () => {
  const users = {
    tableName: jwt.table('Users')?.[0],
    identityKeySecretId: called(jwt, 'AWS::SecretsManager::Secret', 'UsersIdentityKey')?.[0],
    userGroups: [],
  };
  const own = ({ Properties }: ReturnType<typeof partsOf>) =>
    (['ACCESS', 'AUTH', 'IDENTITY'] as const).map((name) => settingsOf(Properties, name));
  const accepted = { ...auth, scopes: { trade: ['orders'] } };
  assert.deepEqual(own(partsOf(jwt, 'accounts')), [users, accepted, undefined]);
  assert.deepEqual(own(partsOf(jwt, 'orders')), [users, undefined, undefined]);
});

test('market facts by token need a user, too', () => {
  const quotes = synthesise({ operations, groups: { 'market-data': 'jwt' }, auth });
  const { Properties } = partsOf(quotes, 'market-data');
  assert.deepEqual(settingsOf(Properties, 'ACCESS')?.userGroups, ['market-data']);
  assert.ok(authorizerOf(quotes));
});

test('a function reads the table by the calls of its directory alone', () => {
  const code = codeOf('dynamo-access-store');
  const reader = code.slice(0, code.indexOf('export function createDynamoAccessStore'));
  assert.deepEqual(actionsIn(reader), directoryActions);
});

test('the authorizer writes its log and can do nothing else', () => {
  const [, { Properties }] = authorizerOf(jwt)!;
  const role = jwt.template.Resources[idOf(Properties.Role)];
  assert.equal(role?.Properties.ManagedPolicyArns, undefined);
  assert.deepEqual(each(policiesOf(role), 'PolicyName'), ['WriteLog']);
  assert.deepEqual(Object.keys(variablesOf(Properties)), ['AUTH']);
  assert.equal(Properties.ReservedConcurrentExecutions, 10);
});

test('API Gateway asks the authorizer, and only this API may', () => {
  const [authorizerId] = authorizerOf(jwt)!;
  const [apiId, api] = jwt.one('AWS::ApiGateway::RestApi');
  assert.match(JSON.stringify(api.Properties.Body), new RegExp(`"authorizerUri":.*"${authorizerId}"`));
  const permissions = jwt
    .all('AWS::Lambda::Permission')
    .map(([, { Properties }]) => Properties)
    .filter(({ FunctionName }) => idOf(FunctionName) === authorizerId);
  assert.equal(permissions.length, 1);
  assert.equal(permissions[0]?.Principal, 'apigateway.amazonaws.com');
  assert.match(JSON.stringify(permissions[0]?.SourceArn), new RegExp(`"${apiId}".*/authorizers/\\*`));
});

test('bound keys and AWS signatures need no authorizer', () => {
  for (const mode of ['bound-key', 'iam'] as const)
    assert.equal(authorizerOf(synthesise({ operations, groups: { accounts: mode } })), undefined);
});

test('the outputs name what countersign users needs', () => {
  const { Outputs } = jwt.template;
  assert.deepEqual(Outputs.AccessTable?.Value, { Ref: jwt.table('Users')?.[0] });
  assert.ok(Outputs.IdentityKeySecretArn);
  assert.equal(Outputs.AuthIssuer?.Value, auth.issuer);
});
