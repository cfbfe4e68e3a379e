/** Both secret sources keep the contract; besides, how the one over Secrets Manager fails. */

import assert from 'node:assert/strict';
import { type TestContext, test, vi } from 'vitest';
import { createSecretsManagerSource } from '../../functions/aws/secrets-manager.ts';
import { closedPort } from '../support/closed-port.ts';
import { memorySecrets } from './memory-secrets.ts';
import { secretSourceContract } from './secret-source.contract.ts';
import { awsEnvironment, startSecretsManagerStub } from './secrets-manager-stub.ts';
import { headerOf, upstreamFor } from './upstreams.ts';

Object.assign(process.env, awsEnvironment);

/** However slow the machine is, no attempt ends by time. */
const patienceMs = 600_000;

async function stubFor(t: TestContext) {
  const stub = await startSecretsManagerStub();
  t.onTestFinished(stub.close);
  const failures: unknown[] = [];
  const source = createSecretsManagerSource({
    secretId: stub.secretId,
    endpoint: stub.url,
    timeoutMs: patienceMs,
    onFailure: (error, version) => failures.push([error instanceof Error && error.name, version]),
  });
  return { stub, source, failures };
}

secretSourceContract('in memory', () => {
  const secrets = memorySecrets();
  return { source: secrets, set: secrets.set, setDown: secrets.setDown };
});

secretSourceContract('Secrets Manager', async (t) => {
  const { stub, source } = await stubFor(t);
  return { source, set: stub.set, setDown: (down) => stub.setFault(down ? 'down' : undefined) };
});

test('a failure that may pass is tried twice, one that will not once; each is reported', async (t) => {
  const { stub, source, failures } = await stubFor(t);
  stub.setFault('down');
  await assert.rejects(source.read());
  assert.equal(stub.requests.length, 2);
  stub.setFault('denied');
  await assert.rejects(source.read('previous'));
  assert.equal(stub.requests.length, 3);
  assert.deepEqual(failures, [
    ['InternalServiceError', 'current'],
    ['AccessDeniedException', 'previous'],
  ]);
});

test('a service that says nothing, or is not there, is given up', async (t) => {
  const { stub, source, failures } = await stubFor(t);
  stub.setFault('hang');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  t.onTestFinished(() => void vi.useRealTimers());
  const given = assert.rejects(source.read());
  for (const attempts of [1, 2]) {
    // Until the request is there hardly any time passes, except for the pause between the two.
    while (stub.requests.length < attempts) {
      vi.advanceTimersByTime(10);
      await new Promise(setImmediate);
    }
    assert.equal(failures.length, 0);
    vi.advanceTimersByTime(patienceMs);
  }
  await given;
  assert.equal(stub.requests.length, 2);
  assert.deepEqual(failures, [['TimeoutError', 'current']]);
  vi.useRealTimers();
  const endpoint = `http://127.0.0.1:${await closedPort()}`;
  await assert.rejects(createSecretsManagerSource({ secretId: stub.secretId, endpoint }).read());
});

test('a secret that does not exist is not set; binary values are text too', async (t) => {
  const { stub, source, failures } = await stubFor(t);
  stub.setFault('no-secret');
  assert.equal(await source.read(), undefined);
  stub.setFault(undefined);
  stub.setBinary(Buffer.from('{"app_key":"ë"}'));
  assert.equal(await source.read(), '{"app_key":"ë"}');
  assert.deepEqual(failures, []);
});

test('without an endpoint of its own the client finds AWS_ENDPOINT_URL', async (t) => {
  const { stub } = await stubFor(t);
  stub.set('text');
  process.env.AWS_ENDPOINT_URL = stub.url;
  t.onTestFinished(() => void delete process.env.AWS_ENDPOINT_URL);
  assert.equal(
    await createSecretsManagerSource({ secretId: stub.secretId, timeoutMs: patienceMs }).read(),
    'text',
  );
});

test('a refused time is corrected and tried once more; each attempt has a connection of its own and the caller’s credentials', async (t) => {
  const ahead = 3_600_000;
  const { url, arrivals } = await upstreamFor(t, (response, { connection }) => {
    response.setHeader('date', new Date(Date.now() + ahead).toUTCString());
    if (connection > 1) response.end('{"SecretString":"text"}');
    else response.writeHead(400).end('{"__type":"RequestExpired"}');
  });
  const source = createSecretsManagerSource({
    secretId: 'one',
    endpoint: url,
    timeoutMs: patienceMs,
    credentials: async () => ({ accessKeyId: 'of-the-caller', secretAccessKey: 'secret' }),
    region: async () => 'eu-west-1',
  });
  assert.equal(await source.read('previous'), 'text');
  assert.deepEqual(
    arrivals.map(({ connection, body }) => [connection, JSON.parse(body)]),
    [1, 2].map((connection) => [connection, { SecretId: 'one', VersionStage: 'AWSPREVIOUS' }]),
  );
  const [first, second] = arrivals.map((arrival) => headerOf(arrival, 'x-amz-date') ?? '');
  assert.ok(second! > first!, 'signed by the service’s clock');
  for (const arrival of arrivals)
    assert.match(
      headerOf(arrival, 'authorization') ?? '',
      /Credential=of-the-caller\/\d{8}\/eu-west-1\/secretsmanager\/aws4_request,/,
    );
});
