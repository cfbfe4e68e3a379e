/** Keys, logs and a web ACL of the account’s own: each off by default, and then of everything that it is for. */

import assert from 'node:assert/strict';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, test } from 'vitest';
import { testRefusals } from './refusals.ts';
import { base, idOf, type Synthesised, synthesise } from './synthesise.ts';

const stage = {
  groups: { orders: 'iam', accounts: 'jwt', watchlists: 'iam' },
  auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
  trading: { limits: { max_order_notional: '10000', max_orders_per_minute: 30 }, stopOnAlarms: {} },
  events: {},
  accessToken: {},
  tradeEvents: {},
  live: { maxStreams: 5, maxOrderStreams: 5 },
  logs: { access: 'use-account-role' },
} as const;
const inAccount = (rest: string) => `arn:aws:${rest.replace('ACCOUNT', 'eu-central-1:123456789012')}`;
const encryptionKey = inAccount('kms:ACCOUNT:key/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f');
const webAclArn = inAccount('wafv2:ACCOUNT:regional/webacl/front/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f');
const firehoseArn = inAccount('firehose:ACCOUNT:deliverystream/logs');

const plain = synthesise(stage);
const types = ({ template }: Synthesised) => Object.values(template.Resources).map(({ Type }) => Type);
/** What is there beside the same stage without the option. */
const added = (made: Synthesised) =>
  Object.entries(made.template.Resources).filter(([id]) => !Object.hasOwn(plain.template.Resources, id));

test('by default there is none of it', () => {
  assert.ok(!types(plain).some((type) => /WAFv2|SubscriptionFilter/.test(type)));
  assert.doesNotMatch(JSON.stringify(plain.template.Resources), /kms:|Kms(Key|Master)/);
});

describe('a key of one’s own', () => {
  const made = synthesise({ ...stage, encryptionKey });

  test('encrypts every table, secret and log group', () => {
    for (const [id, { Properties }] of made.all('AWS::DynamoDB::Table'))
      assert.deepEqual(
        Properties.SSESpecification,
        { KMSMasterKeyId: encryptionKey, SSEEnabled: true, SSEType: 'KMS' },
        id,
      );
    for (const type of ['AWS::SecretsManager::Secret', 'AWS::Logs::LogGroup']) {
      assert.ok(made.all(type).length > 1);
      for (const [id, { Properties }] of made.all(type)) assert.equal(Properties.KmsKeyId, encryptionKey, id);
    }
  });

  test('each function may use it through DynamoDB and Secrets Manager, but the authorizer, which reads neither', () => {
    const policies = made.all('AWS::IAM::Policy').filter(([id]) => id.includes('UseKey'));
    const users = new Set(
      policies.flatMap(([, { Properties }]) =>
        (Properties.Roles as readonly { readonly Ref: string }[]).map(({ Ref }) => Ref),
      ),
    );
    const roles = made
      .all('AWS::Lambda::Function')
      .filter(([id]) => !id.includes('Authorizer'))
      .map(([, { Properties }]) => idOf(Properties.Role));
    assert.deepEqual([...users].sort(), roles.sort());
    for (const [, { Properties }] of policies) {
      const text = JSON.stringify(Properties.PolicyDocument);
      assert.match(text, /"kms:ViaService":.*dynamodb\..*secretsmanager\./);
      assert.ok(text.includes(`"Effect":"Allow","Resource":"${encryptionKey}"}]`), text);
    }
  });

  test('nothing else is added, and no table is made anew', () => {
    assert.deepEqual([...new Set(added(made).map(([, { Type }]) => Type))], ['AWS::IAM::Policy']);
  });
});

describe('logs that go on', () => {
  const made = synthesise({ ...stage, logs: { ...stage.logs, firehoseArn } });

  test('each log group has one filter, which lets every line through to the stream', () => {
    const filters = made.all('AWS::Logs::SubscriptionFilter').map(([, { Properties }]) => Properties);
    const groups = made.all('AWS::Logs::LogGroup').map(([Ref]) => ({ Ref }));
    assert.ok(groups.length > 10);
    assert.deepEqual(
      filters.map(({ LogGroupName }) => LogGroupName),
      groups,
    );
    for (const { DestinationArn, FilterPattern } of filters)
      assert.deepEqual([DestinationArn, FilterPattern], [firehoseArn, '']);
  });

  test('CloudWatch Logs of this account and Region alone sends them, and may do nothing else', () => {
    const [role] = added(made).filter(([, { Type }]) => Type === 'AWS::IAM::Role');
    const text = JSON.stringify(role);
    assert.match(text, /"Service":"logs\.amazonaws\.com"/);
    assert.match(text, /"aws:SourceArn":.*AWS::Region.*AWS::AccountId/);
    assert.match(
      text,
      /"Action":\["firehose:PutRecord","firehose:PutRecordBatch"\],"Effect":"Allow","Resource":"arn:aws:firehose/,
    );
  });
});

test('a web ACL stands in front of the stage', () => {
  const made = synthesise({ ...stage, webAclArn });
  const [, { Properties }] = made.one('AWS::WAFv2::WebACLAssociation');
  assert.equal(Properties.WebACLArn, webAclArn);
  const [api] = made.one('AWS::ApiGateway::RestApi');
  const [stageId] = made.one('AWS::ApiGateway::Stage');
  const arn = JSON.stringify(Properties.ResourceArn);
  assert.ok(arn.includes(`::/restapis/",{"Ref":"${api}"},"/stages/",{"Ref":"${stageId}"}`), arn);
  assert.equal(added(made).length, 1);
});

test('cdk-nag, AwsSolutions, with all of it', () => {
  const { app } = synthesise({
    ...stage,
    encryptionKey,
    webAclArn,
    logs: { ...stage.logs, firehoseArn },
    functions: { rollout: 'linear' },
  });
  const { success, violations } = new AwsSolutionsChecks(app).validateScope(app);
  assert.deepEqual([success, violations], [true, []], JSON.stringify(violations));
});

testRefusals([
  [
    'an alias of a key',
    { ...base, encryptionKey: inAccount('kms:ACCOUNT:alias/own') },
    /^encryptionKey takes the ARN of a key/,
  ],
  [
    'a web ACL of CloudFront',
    { ...base, webAclArn: webAclArn.replace('regional', 'global') },
    /^webAclArn takes the ARN of a Regional/,
  ],
  [
    'a log group as a stream',
    { ...base, logs: { firehoseArn: inAccount('logs:ACCOUNT:log-group:a') } },
    /^logs\.firehoseArn takes/,
  ],
]);
