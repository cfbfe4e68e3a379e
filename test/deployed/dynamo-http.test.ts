/** The client of DynamoDB against servers that answer as DynamoDB does, or as what stands between; the SDK is the judge. */

import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import zlib from 'node:zlib';
import { Sha256 } from '@aws-crypto/sha256-js';
import { type AttributeValue, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, type TestContext, test, vi } from 'vitest';
import { type AwsCredentials, createAwsSigner } from '../../functions/aws/aws-signature.ts';
import { withLimit } from '../../functions/aws/dynamo-client.ts';
import {
  createDynamoClient,
  type DynamoClientOptions,
  DynamoError,
  endpointIn,
} from '../../functions/aws/dynamo-http.ts';
import { urlFor } from '../support/listening.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';

beforeEach(() => {
  for (const [name, value] of Object.entries(emulatorEnvironment)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

const get = ['GetItem', { TableName: 'table', Key: { pk: { S: 'a' } } }] as const;
const head = { 'content-type': 'application/x-amz-json-1.0' };

type Answering = (response: ServerResponse, request: IncomingMessage & { readonly text: string }) => unknown;

/** A client of a server that answers its requests one after the other, and the last answer from then on. */
async function clientOf(t: TestContext, answers: readonly Answering[], options: DynamoClientOptions = {}) {
  const seen = { requests: 0, connections: 0 };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const answer = answers[Math.min(seen.requests++, answers.length - 1)];
    answer?.(response, Object.assign(request, { text }));
  });
  // It closes none by itself, however slow the machine.
  server.keepAliveTimeout = 0;
  server.on('connection', () => seen.connections++);
  const url = await urlFor(t, server);
  return { client: createDynamoClient(url, options), seen, url };
}

const says =
  (body: object | string, status = 200, headers: object = {}): Answering =>
  (response) =>
    response
      .writeHead(status, { ...head, ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

const refusal = (type: string, status = 400) => says({ __type: `a.b#${type}`, message: 'no' }, status);

/** By the SDK, of a request as it came. */
async function authorizationOf(
  { headers, text }: IncomingMessage & { readonly text: string },
  credentials: AwsCredentials,
  region = emulatorEnvironment.AWS_REGION,
): Promise<string | undefined> {
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const time = String(headers['x-amz-date']);
  return smithySigned(
    Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
    { credentials, region, body: text },
    new Date(time.replace(/(....)(..)(.....)(..)(..)/, '$1-$2-$3:$4:$5')),
  );
}

async function smithySigned(
  headers: Record<string, string>,
  { credentials, region, body }: { credentials: AwsCredentials; region: string; body: string },
  signingDate: Date,
  service = 'dynamodb',
): Promise<string | undefined> {
  const { sessionToken, ...keys } = credentials;
  const signer = new SignatureV4({
    service,
    region,
    credentials: { ...keys, ...(sessionToken && { sessionToken }) },
    sha256: Sha256,
    applyChecksum: false,
  });
  const request = {
    method: 'POST',
    protocol: 'https:',
    hostname: 'host',
    path: '/',
    query: {},
    headers,
    body,
  };
  return (await signer.sign(request, { signingDate })).headers.authorization;
}

test('any request is signed as the SDK signs it, on any day and whoever signs', async () => {
  const word = fc.stringMatching(/^[\w/+=.-]{1,40}$/);
  const signers = {
    dynamodb: createAwsSigner('dynamodb'),
    secretsmanager: createAwsSigner('secretsmanager'),
  };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('dynamodb' as const, 'secretsmanager' as const),
      fc.record({
        region: fc.constantFrom('us-east-1', 'eu-central-1', 'cn-north-1', 'us-gov-west-1'),
        credentials: fc.record({
          accessKeyId: word,
          // Few, so that what is kept of one meets other days and Regions.
          secretAccessKey: fc.constantFrom('a', 'b/c', 'd+e='),
          sessionToken: fc.option(word, { nil: undefined }),
        }),
        body: fc.string({ unit: 'grapheme' }),
        target: word,
      }),
      fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
      async (service, { target, ...request }, date) => {
        const own = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target };
        const sign = signers[service];
        const url = new URL(`https://${service}.${request.region}.amazonaws.com`);
        const made = { ...request, at: date.getTime(), url, headers: own };
        const { authorization } = sign(made);
        assert.equal(sign(made).authorization, authorization);
        assert.equal(authorization, await smithySigned({ ...own, host: url.host }, request, date, service));
      },
    ),
    { numRuns: 200 },
  );
});

test('each request has the credentials of its moment, from the environment or from the caller', async (t) => {
  const first = { accessKeyId: 'id-1', secretAccessKey: 'secret-1', sessionToken: 'token-1' };
  const second = { accessKeyId: 'id-2', secretAccessKey: 'secret-2', sessionToken: undefined };
  let now: AwsCredentials = first;
  const setTo = (credentials: AwsCredentials) => {
    now = credentials;
    vi.stubEnv('AWS_ACCESS_KEY_ID', now.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', now.secretAccessKey);
    vi.stubEnv('AWS_SESSION_TOKEN', now.sessionToken);
  };
  let region: string = emulatorEnvironment.AWS_REGION;
  const right: string[] = [];
  const judge: Answering = async (response, request) => {
    const authorization = await authorizationOf(request, now, region);
    assert.equal(request.headers['x-amz-security-token'], now.sessionToken);
    if (request.headers.authorization === authorization) right.push(now.accessKeyId);
    says({})(response, request);
  };
  const { client, url } = await clientOf(t, [judge]);
  for (const credentials of [first, second, first]) {
    setTo(credentials);
    await client.send(...get);
  }
  now = second;
  region = 'eu-west-1';
  const given = { credentials: async () => second, region: async () => 'eu-west-1' };
  await createDynamoClient(url, given).send(...get);
  assert.deepEqual(right, ['id-1', 'id-2', 'id-1', 'id-2']);
});

test('without credentials or Region nothing is sent, until they are there', async (t) => {
  const { client, seen } = await clientOf(t, [says({})]);
  vi.stubEnv('AWS_REGION', undefined);
  await assert.rejects(client.send(...get), /Region is missing/);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
  await assert.rejects(client.send(...get), /no AWS credentials/);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  assert.equal(seen.requests, 0);
  await client.send(...get);
});

test('the endpoint is the environment’s, or else the Region’s', () => {
  vi.stubEnv('AWS_ENDPOINT_URL', undefined);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', undefined);
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', undefined);
  assert.equal(endpointIn('us-gov-west-1', 'dynamodb'), 'https://dynamodb.us-gov-west-1.amazonaws.com');
  assert.equal(
    endpointIn('cn-north-1', 'secretsmanager'),
    'https://secretsmanager.cn-north-1.amazonaws.com.cn',
  );
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://all');
  assert.equal(endpointIn('cn-north-1', 'dynamodb'), 'http://all');
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', 'http://own');
  assert.equal(endpointIn('cn-north-1', 'dynamodb'), 'http://own');
  assert.equal(endpointIn('cn-north-1', 'secretsmanager'), 'http://all');
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', 'http://secrets');
  assert.equal(endpointIn('cn-north-1', 'secretsmanager'), 'http://secrets');
});

test('what DynamoDB refuses or fails has its name, its words and whose fault it is', async (t) => {
  const reasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item: { pk: { B: 'AQI=' } } }];
  const said = { __type: 'a.b#TransactionCanceledException', Message: 'why', CancellationReasons: reasons };
  const { client } = await clientOf(t, [
    refusal('ThrottlingException'),
    refusal('Failed', 503),
    says(said, 400),
  ]);
  const [throttled, failed, cancelled] = [
    { name: 'ThrottlingException', message: 'no', $fault: 'client', $metadata: { httpStatusCode: 400 } },
    { name: 'Failed', $fault: 'server', $metadata: { httpStatusCode: 503 } },
    {
      name: 'TransactionCanceledException',
      message: 'why',
      CancellationReasons: [reasons[0], { ...reasons[1], Item: { pk: { B: Uint8Array.of(1, 2) } } }],
    },
  ];
  await assert.rejects(client.send(...get), throttled);
  await assert.rejects(client.send(...get), failed);
  await assert.rejects(client.send(...get), cancelled);
});

describe('what does not arrive whole may pass, and its error repeats nothing of it', () => {
  const whole = '{"Item":{"pk":{"S":"canary"}}}';
  // Without a `crc32`, as before Node 20.15, the client compares no checksum.
  const right = zlib.crc32 && { 'x-amz-crc32': zlib.crc32(whole) };
  const faults: Readonly<Record<string, Answering>> = {
    'a cut body': (response) =>
      response
        .writeHead(200, { ...head, 'content-length': 99 })
        .write(whole, () => response.socket?.destroy()),
    ...(right && { 'a body with another checksum': says(whole.replace('canary', 'Canary'), 200, right) }),
    'no JSON': says('canary canary'),
    'JSON of no object': says('null'),
    'no JSON in a refusal': says('<html>canary', 403),
    'a dropped connection': (response) => response.socket?.destroy(),
  };
  for (const [what, fault] of Object.entries(faults))
    test(what, async (t) => {
      const { client, seen } = await clientOf(t, [fault, fault, says(whole, 200, right)]);
      await assert.rejects(client.send(...get), (error: Error) => {
        assert.ok(!(error instanceof DynamoError));
        assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /anary/);
        return true;
      });
      // It is not sent again by itself: some operations count.
      assert.equal(seen.requests, 1);
      const { Item } = await withLimit(client, { timeoutMs: 60_000, attempts: 2 }).send(...get);
      assert.deepEqual(Item, { pk: { S: 'canary' } });
      assert.equal(seen.requests, 3);
    });
});

test('a call that is given up in the middle of its answer ends its connection, and one that is not begun opens none', async (t) => {
  const { client, seen } = await clientOf(t, [
    async (response) => {
      response.writeHead(200, { ...head, 'content-length': 99 }).write('{');
      const closed = once(response, 'close');
      given.abort(new Error('given up'));
      await closed;
      ended.abort();
    },
  ]);
  const [given, ended] = [new AbortController(), new AbortController()];
  const isEnded = once(ended.signal, 'abort');
  await assert.rejects(client.send(...get, { abortSignal: given.signal }), /given up/);
  await isEnded;
  await assert.rejects(client.send(...get, { abortSignal: given.signal }), /given up/);
  assert.deepEqual(seen, { requests: 1, connections: 1 });
});

test('a connection is kept, however a call of it ended later; one that the server closed costs one call, and an idle one none', async (t) => {
  let now = Date.now();
  const { client, seen } = await clientOf(
    t,
    [says({}), refusal('Any'), says({}), (response) => response.socket?.destroy(), says({})],
    { clock: () => now },
  );
  const finished = new AbortController();
  await client.send(...get, { abortSignal: finished.signal });
  assert.deepEqual(getEventListeners(finished.signal, 'abort'), []);
  finished.abort();
  await assert.rejects(client.send(...get));
  await client.send(...get);
  assert.deepEqual(seen, { requests: 3, connections: 1 });
  await assert.rejects(client.send(...get), { code: 'ECONNRESET' });
  await client.send(...get);
  assert.deepEqual(seen, { requests: 5, connections: 2 });
  // The function was frozen meanwhile.
  now += 60_000;
  await client.send(...get);
  assert.deepEqual(seen, { requests: 6, connections: 3 });
});

for (const hours of [-1, 1])
  test(`a clock that is ${hours} h from the service’s is corrected by a refusal, and again when it is set right`, async (t) => {
    const service = Date.UTC(2030, 0, 1);
    let now = service + hours * 3_600_000;
    const judge: Answering = (response, request) => {
      const signedAt = String(request.headers['x-amz-date']);
      const isRight = signedAt.startsWith('20300101T0000');
      response.setHeader('date', new Date(service).toUTCString());
      (isRight ? says({}) : refusal('InvalidSignatureException'))(response, request);
    };
    const { client } = await clientOf(t, [judge], { clock: () => now });
    for (let turn = 0; turn < 2; turn++) {
      await assert.rejects(client.send(...get), { name: 'InvalidSignatureException' });
      await client.send(...get);
      await client.send(...get);
      now = service;
    }
  });

test('bytes are Base64 on the way and bytes at both ends, wherever they stand; the SDK sends the same', async (t) => {
  const name = fc.constantFrom('a', 'B', 'BS', 'M', '__proto__');
  const { value: anyValue } = fc.letrec<{ value: AttributeValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.uint8Array().map((B) => ({ B })),
      fc.array(fc.uint8Array(), { minLength: 1 }).map((BS) => ({ BS })),
      fc.string().map((S) => ({ S })),
      fc.array(tie('value'), { maxLength: 3 }).map((L) => ({ L })),
      fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }).map((M) => ({ M })),
    ),
  }));
  let [sent, answer]: [string, (item: unknown) => object] = ['', () => ({})];
  const echo: Answering = (response, request) => {
    sent = request.text;
    says(answer(JSON.parse(sent).Item), sent.includes('refuse') ? 400 : 200)(response, request);
  };
  const { client, url } = await clientOf(t, [echo]);
  const sdk = new DynamoDBClient({ endpoint: url, maxAttempts: 1 });
  t.onTestFinished(() => sdk.destroy());
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, anyValue, { noNullPrototype: true }), async (Item) => {
      const put = { TableName: 'table', Item };
      answer = (item) => ({
        Item: item,
        Items: [item],
        Responses: { table: [item] },
        LastEvaluatedKey: item,
      });
      const expected = { Item, Items: [Item], Responses: { table: [Item] }, LastEvaluatedKey: Item };
      assert.deepEqual(await client.send('PutItem', put), expected);
      const own = sent;
      await sdk.send(new PutItemCommand(put));
      assert.deepEqual(JSON.parse(own), JSON.parse(sent));
      answer = (item) => ({ __type: 'a#b', Item: item, CancellationReasons: [{ Item: item }] });
      await assert.rejects(client.send('PutItem', { ...put, TableName: 'refuse' }), (error: DynamoError) => {
        assert.deepEqual([error.Item, error.CancellationReasons], [Item, [{ Item }]]);
        return true;
      });
    }),
    { numRuns: 60 },
  );
  // A part of a larger buffer is that part alone, which Node's own buffers often are.
  const part = Buffer.from('xabcx').subarray(1, 4);
  await assert.rejects(client.send('PutItem', { TableName: 'refuse', Item: { part: { B: part } } }));
  assert.equal(JSON.parse(sent).Item.part.B, 'YWJj');
});
