/** `npm run users` as a process, against a stack: its outputs, its table, its identity key, and who the operator is. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { type Ministack, startMinistack } from '../support/ministack.ts';
import { needsEmulator } from '../support/missing-emulator.ts';

const issuer = 'https://issuer.example/canary-pool';

/** As much of a stage as the command reads. */
const template = {
  Resources: {
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        TableName: 'users',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
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

describe('npm run users', needsEmulator(), () => {
  let emulator: Ministack;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    emulator = await startMinistack();
    env = {
      AWS_ENDPOINT_URL: emulator.endpoint,
      AWS_REGION: emulator.region,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    };
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

  async function run(line: string) {
    const main = fileURLToPath(new URL('../../infra/commands/main.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', main, 'users', ...line.split(' ')], {
      env: { PATH: process.env.PATH, ...env },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    const code = await new Promise((resolve) => child.once('close', resolve));
    return { code, output };
  }

  test('two operators grant at once; each is in the audit by name, and the table shows nobody', async () => {
    const grants = await Promise.all(
      ['canary-account-1', 'canary-account-2'].map((account) =>
        run(`test grant --user canary-subject --account ${account} --scopes read,trade`),
      ),
    );
    for (const { code, output } of grants) assert.equal(code, 0, output);
    assert.equal((await run('test bind --key default/default --user canary-subject')).code, 0);
    const { output } = await run('test show --user canary-subject');
    for (const line of [
      '  account canary-account-1: read, trade',
      '  account canary-account-2: read, trade',
      '  key a1b2c3d4e5 acts for it',
      `  issuer: ${issuer}`,
    ])
      assert.ok(output.includes(`${line}\n`), output);
    const audit = await run('test audit');
    assert.equal(audit.output.match(/ {2}arn:aws:[^ ]+ {2}(grant|bind) /g)?.length, 3, audit.output);

    const client = createDynamoClient();
    const { Items = [] } = await client.send(new ScanCommand({ TableName: 'users' }));
    client.destroy();
    assert.equal(Items.length, 5);
    for (const item of Items) {
      const bytes = Object.values(item).map(({ B }) => Buffer.from(B ?? []).toString('latin1'));
      assert.doesNotMatch(JSON.stringify(item) + bytes.join(), /canary|a1b2c3d4e5|issuer|arn:/);
    }
  });

  test('what cannot be done is one line and exit code 1', async () => {
    for (const [line, sentence] of [
      ['none list', /^The stack Countersign-none cannot be read: /],
      ['closed list', /^The stack Countersign-closed knows no users: open a group of account data/],
      ['test grant --user alice', /^grant wants --account/],
    ] as const) {
      const { code, output } = await run(line);
      assert.equal(code, 1, output);
      assert.match(output, sentence);
      assert.match(output, /^[^\n]+\n$/);
    }
    const help = await run('--help');
    assert.equal(help.code, 0);
    assert.match(help.output, /^Usage: npm run users/);
  });
});
