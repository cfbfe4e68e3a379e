/** The deployed gateway as a client sees it, from the first call before the secret is set. */

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { groups } from '../../lib/catalogue/index.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { deployedStage } from './deployed-stage.ts';
import { putSecret } from './secret.ts';
import { canary, type Stage, snapshots, startStage } from './stage.ts';

const origin = 'capacitor://localhost';
const other = 'https://app.example.com';

describe('deployed on the emulator', needsEmulator(), () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage({
      props: { cors: { origins: [origin, other] }, groups: { accounts: 'iam' } },
      upstreamLimit: 100_000,
    });
  });
  afterAll(() => stage?.stop());

  const problem = async (response: Response) => {
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    const body = (await response.json()) as Record<string, unknown>;
    assert.equal(body.status, response.status);
    for (const member of ['title', 'detail', 'code', 'request_id', 'error_code', 'message'])
      assert.ok(body[member], `${member} is missing`);
    return body;
  };

  test('without a key, or with a wrong one: 403 in our shape', async () => {
    for (const key of ['', 'not-a-key']) {
      const response = await stage.call(snapshots, { headers: { 'x-api-key': key } });
      assert.equal(response.status, 403);
      assert.equal((await problem(response)).code, 'missing_api_key');
    }
  });

  test('an empty secret is 503 secret_not_set, and calls are answered soon after it is set', async () => {
    const empty = await stage.call(snapshots);
    assert.equal(empty.status, 503);
    assert.equal((await problem(empty)).code, 'secret_not_set');
    await putSecret(stage);
    // That there was none is remembered for a second.
    await pause(1100);
    const response = await stage.call(snapshots);
    assert.equal(response.status, 200);
    const [record] = (await response.json()) as { symbol: string }[];
    assert.equal(record?.symbol, 'AAPL');
    assert.equal(stage.simulator.received.at(-1)?.outcome, 'ok');
  });

  test('every alias is routed, and signed as it was called', async () => {
    const alias = `/market-data/stocks/depths/list?symbol=AAPL&category=US_STOCK`;
    assert.equal((await stage.call(alias)).status, 200);
    assert.match(stage.simulator.received.at(-1)?.target ?? '', /^\/market-data\/stocks\/depths\/list\?/);
  });

  test('a list may come as several parameters of its name', async () => {
    const path = '/trading/instruments/stocks/profiles/list?category=US_STOCK';
    const several = await stage.call(`${path}&symbols=AAPL&symbols=MSFT`);
    assert.equal(several.status, 200);
    const { searchParams } = new URL(stage.simulator.received.at(-1)?.target ?? '', 'http://upstream');
    assert.deepEqual(searchParams.getAll('symbols'), ['AAPL,MSFT']);
  });

  test('refusals of function and API Gateway have one shape', async () => {
    const wrong = await stage.call('/openapi/market-data/stock/snapshot?symbols=AAPL&category=FUTURES');
    assert.equal(wrong.status, 400);
    assert.equal((await problem(wrong)).code, 'invalid_parameter');
    const unknown = await stage.call('/openapi/market-data/stock/snapshot?symbols=NOPE1&category=US_STOCK');
    assert.equal(unknown.status, 422);
    assert.equal((await problem(unknown)).error_code, 'INVALID_SYMBOL');
    // One of the stack's groups wants AWS signatures: an unknown path cannot be told from an unsigned call.
    for (const [path, method] of [
      ['/nowhere', 'GET'],
      ['/trading/accounts/list', 'GET'],
    ] as const) {
      const response = await stage.call(path, { method });
      assert.equal(response.status, 403);
      await problem(response);
    }
  });

  test('lists are for clients that name problem+json; API Gateway’s own refusals have none for any client', async () => {
    const headers = { accept: 'application/problem+json, application/json' };
    const wrong = await stage.call('/openapi/market-data/stock/snapshot?symbols=AAPL&category=FUTURES', {
      headers,
    });
    assert.match(wrong.headers.get('content-type') ?? '', /^application\/problem\+json/);
    assert.match(wrong.headers.get('vary') ?? '', /^accept, origin$/i);
    assert.equal(((await wrong.json()) as { errors: { name: string }[] }).errors[0]?.name, 'category');
    const unknown = await stage.call('/nowhere', { headers });
    const body = await problem(unknown);
    for (const [name, member] of Object.entries(body)) assert.match(typeof member, /^(string|number)$/, name);
  });

  test('a closed group is not routed', async () => {
    const response = await stage.call('/trade/place_order', { method: 'POST', body: '{}' });
    assert.equal(response.status, 403);
    assert.equal(stage.simulator.orders.length, 0);
  });

  test('a preflight needs no key and names what is allowed', async () => {
    const response = await stage.call(snapshots, {
      method: 'OPTIONS',
      headers: { 'x-api-key': '', origin, 'access-control-request-method': 'GET' },
    });
    assert.equal(response.status, 204);
    assert.match(response.headers.get('access-control-allow-headers') ?? '', /x-api-key/);
    assert.match(response.headers.get('access-control-allow-methods') ?? '', /GET/);
  });

  test('an answer names the calling origin when it is configured, and no other', async () => {
    const asked = async (from: string) =>
      (await stage.call(snapshots, { headers: { origin: from } })).headers.get('access-control-allow-origin');
    assert.equal(await asked(origin), origin);
    assert.equal(await asked(other), other);
    assert.equal(await asked('https://evil.example.com'), null);
  });

  test('the plan throttles one key with 429 and Retry-After', async () => {
    let throttled: Response | undefined;
    // One after another is far more than the plan's 4 a second, however slow the machine.
    for (let calls = 0; !throttled && calls < 2000; calls++) {
      const response = await stage.call('/openapi/market-data/stock/snapshot');
      if (response.status === 429) throttled = response;
      else await response.arrayBuffer();
    }
    assert.ok(throttled, 'none of 2000 calls was throttled');
    assert.ok(Number(throttled.headers.get('retry-after')) >= 1);
    assert.equal((await problem(throttled)).code, 'throttled');
  });

  test('nothing secret stands in the template or in any log', () => {
    for (const text of [stage.template, stage.emulator.output()])
      for (const secret of Object.values(canary)) assert.ok(!text.includes(secret));
  });
});

/** Counts against no limit of the upstream, so that one may call it without end. */
const unlimited = '/trading/instruments/stocks/profiles/list?category=US_STOCK';

describe('a running deployment', needsEmulator(), () => {
  const roomy = { default: { ratePerSecond: 5000, burst: 5000 } };
  const stage = deployedStage({ props: { plans: roomy }, upstreamLimit: 100_000 });

  test('health needs no key and says nothing of the secret', async () => {
    const response = await stage.call('/health', { headers: { 'x-api-key': '' } });
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { status: 'ok' });
  });

  test('an existing client begins: the configuration needs no key, and no upstream', async () => {
    const before = stage.simulator.received.length;
    for (const headers of [
      { 'x-api-key': '' },
      { 'x-app-key': 'of-the-client', 'x-signature': 'of-the-client', 'x-version': 'v2' },
    ]) {
      const response = await stage.call('/openapi/config', { headers });
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), { token_check_enabled: false });
    }
    assert.equal(stage.simulator.received.length, before);
  });

  test('a rotated secret is picked up without a failed call', async () => {
    const statuses: (number | string)[] = [];
    const calling = new AbortController();
    const callers = keepCalling(stage, calling.signal, statuses);
    try {
      const next = { appKey: 'rotated-app-key', appSecret: 'rotated-app-secret' };
      await putSecret(stage, next);
      await until(() => statuses.length > 20);
      stage.simulator.setCredentials([next]);
      const sofar = statuses.length;
      await until(() => statuses.length > sofar + 40);
    } finally {
      calling.abort();
      await callers;
    }
    assert.deepEqual([...new Set(statuses)], [200]);
    const refused = stage.simulator.counts.UNAUTHORIZED ?? 0;
    assert.ok(refused >= 1, 'the old key was never refused');
    stage.simulator.setCredentials([canary]);
    await putSecret(stage);
  });

  test('code and plan change without a failed call', async () => {
    const updated = fileURLToPath(new URL('./updated-handler.ts', import.meta.url));
    const statuses: (number | string)[] = [];
    const calling = new AbortController();
    const callers = keepCalling(stage, calling.signal, statuses);
    try {
      await until(() => statuses.length > 20);
      await stage.update({
        plans: { default: { ratePerSecond: 4000, burst: 4000 } },
        entries: Object.fromEntries(Object.keys(groups).map((group) => [group, updated])),
      });
      const sofar = statuses.length;
      await until(() => statuses.length > sofar + 40);
    } finally {
      calling.abort();
      await callers;
    }
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.equal((await stage.call(unlimited)).headers.get('x-revision'), '2');
  });
});

/**
 * The emulator kills a function's processes when its code changes, calls in progress with them; AWS lets them
 * end. These are its own words for that, in its own error shape: a call that was about to write to the killed
 * process names `stdin`, one that was about to read from it `stdout`.
 */
const emulatorKilledIt =
  /Worker process (died|exited immediately\. stderr: )\\"|'NoneType' object has no attribute 'std(in|out)'/;

/** Two clients, one call after another each, until told to stop. */
async function keepCalling(stage: Stage, signal: AbortSignal, statuses: (number | string)[]): Promise<void> {
  const caller = async () => {
    while (!signal.aborted) {
      const response = await stage.call(unlimited);
      const text = await response.text();
      if (emulatorKilledIt.test(text)) continue;
      statuses.push(response.status === 200 ? 200 : `${response.status} ${text}`);
    }
  };
  await Promise.all([caller(), caller()]);
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(20);
}
