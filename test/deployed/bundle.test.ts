/** Each function's bundle, as it is deployed: what is in it, and that it works. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, test } from 'vitest';
import { startSimulator } from '../../infra/simulator/index.ts';
import { type Group, openable, operations } from '../../lib/catalogue/index.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { type Bundle, bundleFunctions } from './bundles.ts';
import { awsEnvironment, startSecretsManagerStub } from './secrets-manager-stub.ts';

const routable = new Set(operations.map(({ group }) => group).filter((group) => openable.includes(group)));

/** Two are no group's: one reads by event what any open group offers, one looks after the access token. */
const lookups = 'quote-lookup';
const tokenCheck = 'access-token';

let directory: string;
let bundles: readonly Bundle[];

beforeAll(async () => {
  // Inside the repository, as the stack's are: a source map's paths are relative to where it lies.
  const parent = fileURLToPath(new URL('../../.build/', import.meta.url));
  await mkdir(parent, { recursive: true });
  directory = await mkdtemp(join(parent, 'bundles-'));
  bundles = await bundleFunctions(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('every group that can be opened has a function, and no other has', () => {
  assert.deepEqual(bundles.map(({ group }) => group).sort(), [...routable, lookups, tokenCheck].sort());
});

test('a bundle knows the operations of its group, and with snapshots those of the group that lists their symbols', async () => {
  const { operation: listing } = symbolListing;
  for (const { group, file } of bundles.filter(({ group }) => routable.has(group as Group))) {
    const text = await readFile(file, 'utf8');
    for (const operation of operations)
      for (const word of [operation.id, operation.path, ...operation.aliases])
        assert.equal(
          new RegExp(`["'\`]${word}["'\`]`).test(text),
          operation.group === group ||
            (group === 'market-data' && operation.group === listing.group && !operation.legacyOf),
          `${group}: ${word}`,
        );
  }
});

test('the function for the access token knows the three groups that it calls, and no other', () => {
  const { inputs = [] } = bundles.find(({ group }) => group === tokenCheck) ?? {};
  for (const group of ['accounts', 'auth', 'config'])
    assert.ok(inputs.includes(`lib/catalogue/${group}.ts`), group);
  for (const group of ['orders', 'market-data/index', 'instruments', 'index'])
    assert.ok(!inputs.includes(`lib/catalogue/${group}.ts`), group);
});

test('a bundle is made of the gateway and the AWS client, and says nothing of this machine', async () => {
  const own = /^(lib|functions)\//;
  // The DynamoDB client brings mnemonist and obliterator.
  const packages =
    /^node_modules\/(valibot|tslib|bowser|mnemonist|obliterator|@aws-sdk|@aws-crypto|@aws|@smithy)\//;
  for (const { group, file, inputs } of bundles) {
    for (const input of inputs)
      assert(own.test(input) || packages.test(input), `${group} has ${input} in it`);
    const text = await readFile(file, 'utf8');
    const map = await readFile(`${file}.map`, 'utf8');
    for (const words of [text, map]) assert(!words.includes(process.cwd()), group);
    assert.doesNotMatch(text, /node:test|Dynamic require of|APP_SECRET|simulator/, group);
    assert.equal(JSON.parse(map).sourcesContent, undefined);
  }
});

test('a bundle does not import node:http when it starts, which would load all of fetch', async () => {
  for (const { group, file } of bundles) {
    const text = await readFile(file, 'utf8');
    assert.match(text, /from"node:https"/, group);
    assert.doesNotMatch(text, /from"node:http"|import"node:http"/, group);
  }
});

test('a bundle answers through Secrets Manager and a signed call', async (t) => {
  const simulator = await startSimulator({ appKey: 'k', appSecret: 's' });
  const stub = await startSecretsManagerStub();
  t.onTestFinished(async () => void (await Promise.all([simulator.close(), stub.close()])));
  stub.set('{"app_key":"k","app_secret":"s"}');
  Object.assign(process.env, awsEnvironment, {
    AWS_ENDPOINT_URL: stub.url,
    SECRET_ID: stub.secretId,
    UPSTREAM_BASE_URL: simulator.url,
  });
  const accounts = bundles.find(({ group }) => group === 'accounts');
  const { handler } = await import(pathToFileURL(accounts?.file ?? '').href);
  const event = {
    resource: '/trading/accounts/list',
    httpMethod: 'GET',
    headers: {},
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: 'r' },
  };
  const answer = await handler(event, { getRemainingTimeInMillis: () => 20_000 });
  assert.equal(answer.statusCode, 200);
  assert.equal(simulator.counts.ok, 1);
});
