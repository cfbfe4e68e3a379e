/** Each function's bundle, as it is deployed: what is in it, and that it works. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, test } from 'vitest';
import { type FunctionName, functionOf, operationsIn, workerNames } from '../../../functions/rows.ts';
import { startSimulator } from '../../../infra/simulator/index.ts';
import { type Operation, openable, operations } from '../../../lib/catalogue/index.ts';
import { liveOperations } from '../../../lib/catalogue/live.ts';
import { symbolListing } from '../../../lib/catalogue/symbol-listing.ts';
import { bytesOf, holdCeilings } from '../../ceilings.ts';
import { closedPort } from '../../support/closed-port.ts';
import { part } from '../../support/parts.ts';
import { useCalmTime } from '../../world/test-time.ts';
import { type Bundle, bundleFile, bundleFunctions } from '../bundles.ts';
import {
  awsEnvironment,
  identityKeyId,
  operatorArn,
  startSecretsManagerStub,
  usersTable,
} from '../secrets-manager-stub.ts';

useCalmTime();

const offered = [...operations, ...liveOperations];
const routable = new Set(offered.filter(({ group }) => openable.includes(group)).map(functionOf));

const lookups = 'quote-lookup';
const tokenCheck = 'access-token';
const authorizer = 'authorizer';
const tradeEvents = 'trade-events';
const marketStream = 'market-stream';
const tradingStop = 'trading-stop';

/** Of one file, which comes whole. */
const isOrderRead = (operation: Operation) =>
  functionOf(operation) === 'order-reads' && !operation.legacyOf && !operation.answeredBy;

let directory: string;
let bundles: readonly Bundle[];

beforeAll(async () => {
  // Inside the repository, as the stack's are: a source map's paths are relative to where it lies.
  const parent = fileURLToPath(new URL('../../../.build/', import.meta.url));
  await mkdir(parent, { recursive: true });
  directory = await mkdtemp(join(parent, 'bundles-'));
  bundles = await bundleFunctions(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('every group that can be opened has its functions, every worker has one, and there is no other', () => {
  assert.deepEqual(bundles.map(({ group }) => group).sort(), [...routable, ...workerNames].sort());
});

test('no bundle is larger than its ceiling', () =>
  holdCeilings(Object.fromEntries(bundles.map(({ group, bytes }) => [bytesOf(group), bytes]))));

test('a bundle knows the operations of its function, with snapshots those of the group that lists their symbols, and to check orders the snapshots', async () => {
  const { operation: listing } = symbolListing;
  for (const { group, file } of bundles.filter(({ group }) => routable.has(group as FunctionName))) {
    const text = await readFile(file, 'utf8');
    const own = operationsIn(group as FunctionName, offered);
    for (const operation of offered)
      for (const word of [operation.id, operation.path, ...operation.aliases])
        assert.equal(
          new RegExp(`["'\`]${word}["'\`]`).test(text),
          own.includes(operation) ||
            // An answer may be lost: then the order is looked up.
            (['orders', 'order-cancels'].includes(group) && isOrderRead(operation)) ||
            (group === 'orders' && ['getStockSnapshots', 'getOptionSnapshots'].includes(operation.id)) ||
            own.some(({ follows }) => follows === operation) ||
            (['market-data', 'quote-streams'].includes(group) &&
              operation.group === listing.group &&
              !operation.legacyOf),
          `${group}: ${word}`,
        );
  }
});

test('the function for the access token knows the three groups that it calls, and no other', () => {
  const { kept = [] } = bundles.find(({ group }) => group === tokenCheck) ?? {};
  for (const group of ['accounts', 'auth', 'config'])
    assert.ok(kept.includes(`lib/catalogue/${group}.ts`), group);
  for (const group of ['orders', 'order-cancels', 'market-data/index', 'instruments', 'index'])
    assert.ok(!kept.includes(`lib/catalogue/${group}.ts`), group);
});

test('the reader of last prices has of the cache what one symbol takes, and nothing that makes refreshes or writes', async () => {
  const entry = join(directory, 'last-prices.ts');
  // The reader, and what AWS gives it.
  const parts = ['compose/last-prices.ts', 'aws/dynamo-snapshot-reads.ts'].map((part) =>
    fileURLToPath(new URL(`../../../functions/${part}`, import.meta.url)),
  );
  await writeFile(entry, parts.map((part) => `export * from ${JSON.stringify(part)};\n`).join(''));
  const { kept } = await bundleFile(entry, join(directory, 'deployed-last-prices'));
  assert.deepEqual(kept.filter((input) => /^lib\/cache\/|snapshot-store/.test(input)).sort(), [
    'lib/cache/snapshots/one-symbol.ts',
    'lib/cache/snapshots/records.ts',
    // Of both the names of partitions and views alone.
    'lib/cache/snapshots/store.ts',
    'lib/cache/snapshots/view.ts',
  ]);
  for (const input of ['lib/gateway/gateway.ts', 'lib/gateway/cache.ts'])
    assert.ok(!kept.includes(input), input);
  assert.ok(kept.includes('functions/aws/dynamo-snapshot-reads.ts'));
});

test('the function that stops trading has neither a gateway nor a signer nor an operation in it, and so cannot order', () => {
  const { kept = [] } = bundles.find(({ group }) => group === tradingStop) ?? {};
  assert.ok(kept.includes('lib/guard-rails/admin.ts'));
  for (const input of kept)
    assert.doesNotMatch(
      input,
      /^lib\/(gateway|catalogue|limiter\/(?!store-throttled)|orders)\/|signer\/(canonical|sign)|node-send/,
    );
});

test('what serves market facts does without the room of orders and that of guard rails, as if they were not there', () => {
  const facts = ['fundamentals', 'instruments', 'market-data', lookups, 'quote-streams', 'screeners'];
  for (const { group, inputs, kept } of bundles.filter(({ group }) =>
    [...facts, 'accounts'].includes(group),
  )) {
    for (const input of inputs) assert.doesNotMatch(input, /^lib\/(orders|guard-rails)\//, group);
    if (group !== 'accounts') assert.ok(!kept.some((input) => input.includes('/jose/')), group);
  }
});

test('what reads or cancels orders has no guard rails, and quotes alone are refreshed', () => {
  const having = (room: RegExp) =>
    bundles.filter(({ kept }) => kept.some((one) => room.test(one))).map(({ group }) => group);
  assert.deepEqual(having(/^lib\/guard-rails\/(guard|checks|notional)\.ts/), ['orders']);
  const refreshing = ['market-data', lookups, 'quote-streams'];
  assert.deepEqual(having(/^lib\/cache\/snapshots\/refresh\.ts/).sort(), refreshing);
});

test('a function that places orders asks for mass cancels; it neither lists nor ends what was asked for', () => {
  const [placing, cancelling] = ['orders', 'mass-cancels'].map(
    (name) => bundles.find(({ group }) => group === name)?.kept ?? [],
  );
  const [asking, serving] = ['dynamo-mass-cancel-requests', 'dynamo-mass-cancels'].map(
    (name) => `functions/aws/${name}.ts`,
  ) as [string, string];
  assert.deepEqual([placing?.includes(asking), placing?.includes(serving)], [true, false]);
  assert.ok(cancelling?.includes(serving));
});

test('the authorizer has neither an AWS client nor a gateway nor an operation in it, and so no secret and no table', () => {
  const { kept = [], bytes = 0 } = bundles.find(({ group }) => group === authorizer) ?? {};
  assert.ok(kept.some((input) => input.startsWith('node_modules/jose/')));
  for (const input of kept)
    assert.doesNotMatch(
      input,
      /^node_modules\/(?!jose\/)|gateway\/gateway|secrets-manager|dynamo|catalogue\/(index|accounts|orders|operation)/,
    );
  assert.ok(bytes < 40_000, `${bytes}`);
});

test('a bundle is made of the gateway and the AWS client, and says nothing of this machine', async () => {
  const own = /^(lib|functions)\//;
  const packages = /^node_modules\/(valibot|jose|tslib|bowser|@aws-sdk|@aws-crypto|@aws|@smithy)\//;
  // Of the stream's messages.
  const ofTradeEvents = /^node_modules\/@bufbuild\/protobuf\/|grpc/;
  // The library of MQTT, and what it brings along.
  const ofMqtt =
    /^node_modules\/(@bufbuild\/protobuf|mqtt|mqtt-packet|ws|socks|ip-address|smart-buffer|readable-stream|bl|debug|ms|rfdc|lru-cache|worker-timers|worker-timers-broker|broker-factory|fast-unique-numbers|abort-controller|event-target-shim|process|process-nextick-args|safe-buffer|string_decoder|inherits|has-flag|supports-color)\//;
  const others: Readonly<Record<string, RegExp>> = { [tradeEvents]: ofTradeEvents, [marketStream]: ofMqtt };
  for (const { group, file, kept } of bundles) {
    for (const input of kept.filter((one) => !others[group]?.test(one))) {
      assert(own.test(input) || packages.test(input), `${group} has ${input} in it`);
      // Stores and secrets have a client of their own, and of the SDK's its types alone.
      assert.doesNotMatch(input, /client-(dynamodb|secrets-manager)|dynamodb-codec/, group);
      // What puts events onto a bus alone has the SDK, which takes as long to load as a whole function.
      if (![lookups, tradeEvents, 'order-audit'].includes(group))
        assert.doesNotMatch(input, /^node_modules\/(@aws-sdk|@smithy)\//, group);
      assert.doesNotMatch(input, ofTradeEvents, group);
    }
    const text = await readFile(file, 'utf8');
    const map = await readFile(`${file}.map`, 'utf8');
    for (const words of [text, map]) assert(!words.includes(process.cwd()), group);
    assert.doesNotMatch(text, /node:test|APP_SECRET|simulator/, group);
    // Where a library requires parts of Node, the bundle makes itself a `require`.
    if (group !== marketStream) assert.doesNotMatch(text, /Dynamic require of/, group);
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

test('in the bundle, a library that requires parts of Node finds them', async () => {
  const entry = join(directory, 'mqtt.ts');
  const transport = fileURLToPath(new URL('../../../functions/aws/mqtt-transport.ts', import.meta.url));
  const port = await closedPort();
  await writeFile(
    entry,
    `import { createMqttTransport } from ${JSON.stringify(transport)};
     const call = { sessionId: 's', appKey: 'k', pingMs: 1000, signal: new AbortController().signal };
     const transport = createMqttTransport({ url: 'mqtt://127.0.0.1:${port}' });
     try { for await (const _ of transport.open(call)); } catch (error) { console.log(error.code, error.cause?.code); }`,
  );
  const { file } = await bundleFile(entry, join(directory, 'deployed-mqtt'));
  const said = await promisify(execFile)(process.execPath, ['--pending-deprecation', file]);
  assert.equal(said.stdout, 'stream_ended ECONNREFUSED\n');
  // Operators would read the warning: outside `node_modules`, Node gives it from version 24 on, and earlier when asked to.
  assert.doesNotMatch(said.stderr, /url\.parse/);
});

test('a bundle answers one whom the directory knows, through Secrets Manager and a signed call', async (t) => {
  const simulator = await startSimulator({ appKey: 'k', appSecret: 's' });
  const stub = await startSecretsManagerStub();
  t.onTestFinished(async () => void (await Promise.all([simulator.close(), stub.close()])));
  stub.set('{"app_key":"k","app_secret":"s"}');
  Object.assign(process.env, awsEnvironment, {
    AWS_ENDPOINT_URL: stub.url,
    ...part('UPSTREAM', { baseUrl: simulator.url, secretId: stub.secretId }),
    ...part('ACCESS', { tableName: usersTable, identityKeySecretId: identityKeyId }),
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
    requestContext: { requestId: 'r', identity: { userArn: operatorArn } },
  };
  const context = { getRemainingTimeInMillis: () => 20_000 };
  const unknown = { ...event, requestContext: { requestId: 'r', identity: { apiKeyId: 'k' } } };
  assert.equal((await handler(unknown, context)).statusCode, 403);
  const answer = await handler(event, context);
  assert.equal(answer.statusCode, 200);
  assert.equal(simulator.counts.ok, 1);
});
