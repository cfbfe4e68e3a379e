/** The directory of a deployed function: its key is read ahead and once, and no failure counts as "unknown". */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { gatewayPorts } from '../../functions/aws/ports.ts';
import { composeAccess, composeVerifier } from '../../functions/compose/access.ts';
import { composeIdentity } from '../../functions/compose/credential.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { createIdentity, nameOfPrincipal } from '../../lib/access/identity.ts';
import { hostWith } from '../support/deployed.ts';
import { each } from '../support/each.ts';
import { useCalmTime } from '../world/test-time.ts';
import { awsEnvironment, startSecretsManagerStub } from './secrets-manager-stub.ts';

useCalmTime();

const key = 'an-identity-key-of-a-test-0123456789';
const principal = { kind: 'key', id: 'canary-key' } as const;

async function worldOf(t: TestContext, read: () => object) {
  const stub = await startSecretsManagerStub();
  const env = { ...awsEnvironment, AWS_ENDPOINT_URL_SECRETS_MANAGER: stub.url };
  const before = { ...process.env };
  Object.assign(process.env, env);
  t.onTestFinished(async () => {
    await stub.close();
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  const log: LogEntry[] = [];
  const commands: (readonly [operation: string, input: object])[] = [];
  const send = async (operation: string, input: object) => {
    commands.push([operation, input]);
    return read();
  };
  const start = () => {
    const settings = {
      tableName: 'access',
      identityKeySecretId: stub.secretId,
      auth: undefined,
      userGroups: [],
    };
    const ports = gatewayPorts(
      hostWith((entry) => log.push(entry)),
      () => ({ send }),
    );
    return composeAccess(
      settings,
      composeIdentity(settings.identityKeySecretId, ports),
      ports,
      composeVerifier,
    );
  };
  return { stub, start, log, commands };
}

test('the key is read once, when the function starts, and the names are those of the operator’s command', async (t) => {
  const { stub, start, commands, log } = await worldOf(t, () => ({ Responses: { access: [] } }));
  stub.set(key);
  const access = start();
  const { user, kind } = await access.directory.standing({ principal });
  assert.equal(kind, 'unknown');
  assert.equal(user, await nameOfPrincipal(createIdentity(async () => key).names, principal));
  assert.equal(await nameOfPrincipal(access.names, principal), user);
  assert.deepEqual(stub.requests, ['AWSCURRENT']);
  assert.equal(commands.length, 1);
  assert.equal(commands[0]?.[0], 'BatchGetItem');
  assert.ok(!JSON.stringify(commands).includes('canary'));
  assert.deepEqual(log, []);
});

test('a key that cannot be read, is not set, or is short rejects, and is read again with the next request', async (t) => {
  const { stub, start, log } = await worldOf(t, () => ({ Responses: {} }));
  stub.setFault('denied');
  const { directory, names } = start();
  await assert.rejects(directory.standing({ principal }));
  stub.setFault('no-secret');
  await assert.rejects(names.nameOf('user', 'a'), /not set/);
  stub.setFault(undefined);
  stub.set(key);
  assert.equal((await directory.standing({ principal })).kind, 'unknown');
  assert.deepEqual(
    [...new Set(log.map(({ event }) => event))],
    ['identity_key_not_read', 'identity_key_not_set'],
  );
  stub.set('password');
  await assert.rejects(start().directory.standing({ principal }), TypeError);
});

test('a table that cannot be read rejects, and is one line in the log without content', async (t) => {
  const { stub, start, log } = await worldOf(t, () => {
    throw new Error('canary');
  });
  stub.set(key);
  await assert.rejects(start().directory.standing({ principal }));
  assert.deepEqual(each(log, 'level', 'event'), [['error', 'access_not_read']]);
  assert.ok(
    !JSON.stringify(log[0])
      .replaceAll(/"at":\[[^\]]*\]/g, '')
      .includes('canary'),
  );
});
