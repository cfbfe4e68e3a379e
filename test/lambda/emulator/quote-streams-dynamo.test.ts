/** Streams in Lambda's own runtime client: what API Gateway is told before the first text, the texts, and clients that stall. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, type TestContext, test } from 'vitest';
import { writePart } from '../../../functions/settings/parts.ts';
import { startSimulator } from '../../../infra/simulator/index.ts';
import { streamStockSnapshots } from '../../../lib/catalogue/live.ts';
import { bundleFile } from '../../deployed/bundles.ts';
import { startSecretsManagerStub } from '../../deployed/secrets-manager-stub.ts';
import { whatIsMissing } from '../../support/ministack.ts';
import { orSkip } from '../../support/missing.ts';
import { part } from '../../support/parts.ts';
import { createLimiterTable, emulatorEnvironment } from '../../world/dynamo.ts';
import { dynamoEngine } from '../../world/dynamo-engine.ts';
import { floodText } from '../flood.ts';
import { missingForStartUp } from '../runtime-client.ts';
import { readWhole, startStreaming, streamEvent } from '../streaming-runtime.ts';

/** Without the names of headers that scripts may read. */
const withoutLists = ({ headers, ...head }: { readonly headers: Readonly<Record<string, string>> }) => {
  const { 'access-control-expose-headers': _, ...others } = headers;
  return { ...head, headers: others };
};

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
let directory: string;
const bundled = async (name: string, entry: string) =>
  (await bundleFile(here(entry), join(directory, name))).file;

beforeAll(async () => {
  const parent = here('../../../.build/');
  await mkdir(parent, { recursive: true });
  directory = await mkdtemp(join(parent, 'streaming-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('in Lambda’s runtime client', orSkip(missingForStartUp()), () => {
  test('an answer is its head, eight zero bytes and each text, byte for byte', async (t) => {
    const { call } = await startStreaming(t, await bundled('flood', '../streaming.ts'));
    const answer = await call({ resource: '200' }, 60_000);
    assert.equal(answer.headers['content-type'], 'application/vnd.awslambda.http-integration-response');
    assert.equal(answer.headers['lambda-runtime-function-response-mode'], 'streaming');
    const { head, body } = await readWhole(answer);
    assert.deepEqual(head, {
      statusCode: 200,
      headers: { 'content-type': 'text/event-stream', 'x-name': 'value' },
    });
    assert.equal(body.toString(), Array.from({ length: 200 }, (_, index) => floodText(index)).join(''));
    assert.deepEqual(answer.trailers, {});
  });

  test('a client that takes nothing is cut off, having cost a few texts: the process ends, and Lambda begins a new one', async (t) => {
    const runtime = await startStreaming(t, await bundled('flood', '../streaming.ts'));
    const stalled = await runtime.call({ resource: '100000' }, 60_000);
    stalled.on('error', () => {});
    assert.equal(await runtime.ended, 1);
    const [, texts, isWhole] = /"texts":(\d+),"isWhole":(\w+)/.exec(runtime.logged.join('')) ?? [];
    assert.equal(isWhole, 'false');
    // What the sockets of a machine hold, in texts of 64 kB.
    assert.ok(Number(texts) > 0 && Number(texts) < 1000, texts);
  });

  test('on managed instances one thread has streams side by side, and cutting one off takes no other along', async (t) => {
    const runtime = await startStreaming(t, await bundled('flood', '../streaming.ts'), {
      AWS_LAMBDA_MAX_CONCURRENCY: '64',
      AWS_LAMBDA_NODEJS_WORKER_COUNT: '1',
    });
    const held = await runtime.call({ resource: 'hold' }, 60_000);
    const stalled = await runtime.call({ resource: '100000' }, 60_000);
    stalled.on('error', () => {});
    while (!/isWhole\W+false/.test(runtime.logged.join(''))) await delay(50);
    const { body } = await readWhole(await runtime.call({ resource: '3' }, 60_000));
    assert.equal(body.toString(), [0, 1, 2].map(floodText).join(''));
    await readWhole(await runtime.call({ resource: 'release' }, 60_000));
    assert.equal((await readWhole(held)).body.toString(), 'held and released');
    assert.match(runtime.logged.join(''), /unhandled_rejection/);
  });
});

describe('the deployed function', orSkip(whatIsMissing() ?? missingForStartUp()), () => {
  const engine = dynamoEngine();

  const event = (query: Readonly<Record<string, string>>) =>
    streamEvent(streamStockSnapshots.path, {
      headers: { origin: 'https://app.example' },
      query,
      identity: { apiKeyId: 'key' },
    });

  async function deployed(t: TestContext, change: Readonly<Record<string, string>> = {}) {
    const simulator = await startSimulator({ appKey: 'k', appSecret: 's' });
    const secrets = await startSecretsManagerStub();
    t.onTestFinished(async () => void (await Promise.all([simulator.close(), secrets.close()])));
    secrets.set('{"app_key":"k","app_secret":"s"}');
    const limiter = `limiter-${t.task.id}`;
    await createLimiterTable(engine.endpoint, limiter);
    return startStreaming(t, await bundled('quote-streams', '../../../functions/quote-streams/handler.ts'), {
      ...emulatorEnvironment,
      AWS_ENDPOINT_URL: secrets.url,
      AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
      ...part('UPSTREAM', { baseUrl: simulator.url, secretId: secrets.secretId }),
      ...part('LIMITER', { tableName: limiter }),
      ...part('CACHE', { tableName: await engine.table() }),
      ...part('LIVE', { maxStreams: 7 }),
      ...writePart('CORS', ['https://app.example']),
      ...change,
    });
  }

  const quotes = event({ symbols: 'AAPL,MSFT', category: 'US_STOCK' });

  test('tells what is known, and what comes after it', async (t) => {
    const { call } = await deployed(t);
    const answer = await call(quotes, 900_000);
    answer.setEncoding('utf8');
    let text = '';
    const known = (symbol: string) =>
      new RegExp(`"symbol":"${symbol}","at":\\d+,"record":\\{.*\n\n`).test(text);
    for await (const chunk of answer) {
      text += chunk;
      if (known('AAPL') && known('MSFT') && /\nevent: beat\n.*\n\n/.test(text)) break;
    }
    const [head = '', body = ''] = text.split('\0'.repeat(8));
    assert.deepEqual(withoutLists(JSON.parse(head)), {
      statusCode: 200,
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-request-id': 'request-1',
        'access-control-allow-origin': 'https://app.example',
        vary: 'origin',
      },
    });
    assert.match(body, /^retry: 1000\n\nevent: snapshot\ndata: \{"now":/);
  });

  test('ends before its time is over, and takes the next one', async (t) => {
    const { call } = await deployed(t);
    for (const _ of [1, 2]) {
      const { body } = await readWhole(await call(quotes, 4000));
      const events = body.toString().split('\n\n').filter(Boolean);
      assert.match(events.at(-1) ?? '', /^event: end\ndata: \{"reason":"time"/);
    }
  });

  test('refuses as other functions do', async (t) => {
    const { call } = await deployed(t);
    const { head, body } = await readWhole(await call(event({ symbols: 'AAPL' }), 60_000));
    assert.equal(head.statusCode, 400);
    assert.equal(head.headers['content-type'], 'application/json');
    assert.equal(head.headers['access-control-allow-origin'], 'https://app.example');
    assert.equal(JSON.parse(body.toString()).code, 'invalid_parameter');
  });

  test('without a cache it has nothing to follow, and says that it is set up wrongly', async (t) => {
    const runtime = await deployed(t, { CACHE: '' });
    const { head, body } = await readWhole(await runtime.call(quotes, 60_000));
    assert.deepEqual([head.statusCode, JSON.parse(body.toString()).code], [500, 'gateway_error']);
    assert.match(runtime.logged.join(''), /wrong_configuration.*CACHE: not set/);
  });
});
