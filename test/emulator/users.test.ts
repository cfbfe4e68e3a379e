/** `countersign users` as a process, against a stack: its outputs, its table, its identity key, and who the operator is. */

import assert from 'node:assert/strict';
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Ministack, startMinistack } from '../support/ministack.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { runCountersign } from '../support/process.ts';
import { itemsOf, keySchema, textAttributes, textOfItems } from '../world/dynamo.ts';
import { commandEnvironment } from './deployment.ts';

const issuer = 'https://issuer.example/canary-pool';

/** As much of a stage as the command reads. */
const template = {
  Resources: {
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        TableName: 'users',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: textAttributes(['pk', 'sk']),
        KeySchema: keySchema(['pk', 'sk']),
      },
    },
    Key: {
      Type: 'AWS::SecretsManager::Secret',
      Properties: { GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true } },
    },
  },
  Outputs: {
    AccessTable: { Value: { Ref: 'Table' } },
    IdentityKeySecretArn: { Value: { 'Fn::GetAtt': ['Key', 'Id'] } },
    AuthIssuer: { Value: issuer },
    ApiKeyId: { Value: 'a1b2c3d4e5' },
  },
};

describe('countersign users', needsEmulator(), () => {
  let emulator: Ministack;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    emulator = await startMinistack();
    env = commandEnvironment(emulator);
    Object.assign(process.env, env);
    const client = new CloudFormationClient();
    for (const [StackName, body] of [
      ['Countersign-test', template],
      ['Countersign-closed', { Resources: { Key: template.Resources.Key } }],
    ] as const) {
      await client.send(new CreateStackCommand({ StackName, TemplateBody: JSON.stringify(body) }));
      for (let status = ''; status !== 'CREATE_COMPLETE'; ) {
        const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
        status = stack?.StackStatus ?? '';
        assert.match(status, /^CREATE_(IN_PROGRESS|COMPLETE)$/);
      }
    }
  });
  afterAll(async () => {
    for (const name of Object.keys(env ?? {})) delete process.env[name];
    await emulator?.stop();
  });

  const run = (line: string, stack = 'test') =>
    runCountersign(['users', ...line.split(' '), '--stack', `Countersign-${stack}`], env);

  test('two operators grant at once; each is in the audit by name, and the table shows nobody', async () => {
    const grants = await Promise.all(
      ['canary-account-1', 'canary-account-2'].map((account) =>
        run(`grant --user canary-subject --account ${account} --scopes read,trade`),
      ),
    );
    for (const { code, output } of grants) assert.equal(code, 0, output);
    assert.equal((await run('bind --key default/default --user canary-subject')).code, 0);
    const { output } = await run('show --user canary-subject');
    for (const line of [
      '  account canary-account-1: read, trade',
      '  account canary-account-2: read, trade',
      '  key a1b2c3d4e5 acts for it',
      `  issuer: ${issuer}`,
    ])
      assert.ok(output.includes(`${line}\n`), output);
    const audit = await run('audit');
    assert.equal(audit.output.match(/ {2}arn:aws:[^ ]+ {2}(grant|bind) /g)?.length, 3, audit.output);

    const items = await itemsOf(emulator.endpoint, 'users');
    assert.equal(items.length, 5);
    assert.doesNotMatch(textOfItems(items), /canary|a1b2c3d4e5|issuer|arn:/);
  });

  test('what cannot be done is one line and exit code 1', async () => {
    for (const [stack, sentence] of [
      ['none', /^The stack Countersign-none cannot be read: /],
      ['closed', /^The stack Countersign-closed knows no users: open a group of account data/],
    ] as const) {
      const { code, output } = await run('list', stack);
      assert.equal(code, 1, output);
      assert.match(output, sentence);
      assert.match(output, /^[^\n]+\n$/);
    }
  });
});
