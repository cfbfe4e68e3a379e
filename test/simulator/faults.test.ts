import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { test } from 'vitest';
import type { ApiFault, FaultRequest } from '../../infra/simulator/index.ts';
import { each } from '../support/each.ts';
import { newOrder } from '../support/orders.ts';
import { until } from '../support/until.ts';
import {
  codeOf,
  headersFor,
  send,
  snapshotPath,
  snapshotQuery,
  snapshotTarget,
  withSimulator,
} from './support.ts';

const order = newOrder();

/** Places an order under a fault; what became of the call, and how many orders are stored afterwards. */
async function underFault(fault: ApiFault) {
  let result: unknown;
  let stored = -1;
  let outcome: string | undefined;
  await withSimulator({ fault: () => fault }, async (simulator) => {
    const body = JSON.stringify({ account_id: simulator.accounts[0]?.account_id, new_orders: [order] });
    const draft = { method: 'POST', target: '/trade/place_order', body };
    const hangs = fault.kind === 'hang' || fault.kind === 'hang-after';
    // Who hangs has the request and says nothing for a while.
    const nothing = until(() => simulator.received.length > 0).then(() => pause(150));
    const sent = send(simulator, draft, hangs ? nothing : undefined);
    result = await sent.catch((error: Error) => error.message);
    stored = simulator.orders.length;
    outcome = simulator.received.at(-1)?.outcome;
    assert.equal(simulator.received.at(-1)?.fault, fault.kind);
  });
  return { result, stored, outcome };
}

test('drop and hang: nothing is executed, nothing answered', async () => {
  assert.deepEqual(await underFault({ kind: 'drop' }), {
    result: 'socket hang up',
    stored: 0,
    outcome: 'fault',
  });
  assert.deepEqual(await underFault({ kind: 'hang' }), { result: 'no answer', stored: 0, outcome: 'fault' });
});

test('drop-after and hang-after: executed, and the client does not learn of it', async () => {
  assert.deepEqual(await underFault({ kind: 'drop-after' }), {
    result: 'socket hang up',
    stored: 1,
    outcome: 'ok',
  });
  assert.deepEqual(await underFault({ kind: 'hang-after' }), {
    result: 'no answer',
    stored: 1,
    outcome: 'ok',
  });
});

test('truncate: executed, and half of the answer arrives', async () => {
  assert.deepEqual(await underFault({ kind: 'truncate' }), { result: 'aborted', stored: 1, outcome: 'ok' });
});

test('answer-after: executed, and answered with something else', async () => {
  const { result, stored } = await underFault({ kind: 'answer-after', status: 500, body: 'busy' });
  const { status, text } = result as Awaited<ReturnType<typeof send>>;
  assert.deepEqual([status, text, stored], [500, 'busy', 1]);
});

test('answers in place of the operation’s', async () => {
  const ask = async (fault: ApiFault) => {
    let reply: Awaited<ReturnType<typeof send>> | undefined;
    await withSimulator({ fault: () => fault }, async (simulator) => {
      reply = await send(simulator, { target: snapshotTarget });
    });
    return reply!;
  };
  const busy = await ask({
    kind: 'status',
    status: 503,
    headers: { 'retry-after': '2' },
    body: { error_code: 'X' },
  });
  assert.deepEqual([busy.status, busy.headers['retry-after'], busy.json], [503, '2', { error_code: 'X' }]);
  const bare = await ask({ kind: 'status', status: 502 });
  assert.deepEqual([bare.status, bare.text], [502, '']);
  const page = await ask({ kind: 'not-json' });
  assert.deepEqual([page.status, page.headers['content-type'], page.json], [200, 'text/html', undefined]);
  const large = await ask({ kind: 'oversized', bytes: 3_000_000 });
  assert.deepEqual([large.status, large.text.length], [200, 3_000_000]);
});

test('an answer in place of the operation’s still needs a right signature and a new nonce', async () => {
  const fault = (): ApiFault => ({ kind: 'status', status: 503 });
  await withSimulator({ fault }, async (simulator) => {
    const draft = { target: snapshotTarget, nonce: 'once' };
    assert.equal(codeOf(await send(simulator, { ...draft, appSecret: 'wrong' })), 'INCORRECT_SIGN');
    assert.equal((await send(simulator, draft)).status, 503);
    assert.equal(codeOf(await send(simulator, draft)), 'DUPPLICATED_REQUEST');
  });
});

test('a late answer is the right one', async () => {
  await withSimulator({ fault: () => ({ kind: 'delay', ms: 20 }) }, async (simulator) => {
    assert.equal((await send(simulator, { target: snapshotTarget })).status, 200);
  });
});

test('closing does not wait for late answers', async () => {
  await withSimulator({ fault: () => ({ kind: 'delay', ms: 600_000 }) }, async (simulator) => {
    const late = send(simulator, { target: snapshotTarget }).catch((error: Error) => error.message);
    while (simulator.received.length === 0) await new Promise(setImmediate);
    await simulator.close();
    assert.equal(await late, 'socket hang up');
  });
});

test('a compressed answer is the right one', async () => {
  await withSimulator({ fault: () => ({ kind: 'gzip' }) }, async (simulator) => {
    const response = await new Promise<Buffer>((resolve, reject) => {
      import('node:http').then(({ get }) => {
        const headers = headersFor({ target: snapshotTarget });
        get(`${simulator.url}${snapshotTarget}`, { headers, agent: false }, (incoming) => {
          assert.equal(incoming.headers['content-encoding'], 'gzip');
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () => resolve(Buffer.concat(chunks)));
        }).on('error', reject);
      }, reject);
    });
    assert.match(gunzipSync(response).toString('utf8'), /^\[\{"symbol":"AAPL"/);
  });
});

test('a fault is chosen by request and attempt', async () => {
  const asked: FaultRequest[] = [];
  const fault = (request: FaultRequest): ApiFault | undefined => {
    asked.push(request);
    return request.attempt === 1 ? { kind: 'status', status: 500 } : undefined;
  };
  await withSimulator({ fault }, async (simulator) => {
    assert.equal((await send(simulator, { target: snapshotTarget })).status, 500);
    assert.equal((await send(simulator, { target: snapshotTarget })).status, 200);
    assert.equal((await send(simulator, { target: '/trading/accounts/list' })).status, 500);
    const [first] = asked;
    assert.deepEqual([first?.method, first?.path, first?.query], ['GET', snapshotPath, snapshotQuery]);
    assert.equal(first?.headers['x-version'], 'v3');
    assert.deepEqual(each(asked, 'attempt'), [1, 2, 1]);
  });
});

test('a fault function that throws is answered, not fatal', async () => {
  const fault = () => {
    throw new Error('broken test');
  };
  await withSimulator({ fault }, async (simulator) => {
    const reply = await send(simulator, { target: snapshotTarget });
    assert.deepEqual([reply.status, (reply.json as { status?: number }).status], [500, 500]);
  });
});
