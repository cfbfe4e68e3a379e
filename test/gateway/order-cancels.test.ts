/** One cancel of the mass cancel: what it sends, what became of it, and how long it waits for its turn. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { GatewayRequest, Outcome, RefusalCode } from '../../lib/gateway/index.ts';
import { createGatewayCancels } from '../../lib/gateway/orders/cancels.ts';

const start = 1_800_000_000_000;
const refused = (code: RefusalCode, retryAfterSeconds?: number): Outcome => ({
  kind: 'refused',
  refusal: { code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
});
const accepted: Outcome = { kind: 'uncached', body: new TextEncoder().encode('{"client_order_id":"o"}') };

function stub(answers: readonly Outcome[]) {
  const state = { clock: start };
  const requests: GatewayRequest[] = [];
  const slept: number[] = [];
  const cancel = createGatewayCancels({
    gateway: {
      async ask(request) {
        requests.push(request);
        return answers[Math.min(requests.length, answers.length) - 1]!;
      },
    },
    clock: () => state.clock,
    sleep: async (ms) => {
      slept.push(ms);
      state.clock += ms;
    },
  });
  return { cancel, requests, slept };
}

test('a cancel is one request, with the key that tells it from others', async () => {
  const { cancel, requests } = stub([accepted]);
  assert.equal(await cancel('account', 'o "1"', 'key-1', start + 5000), 'accepted');
  const [{ method, path, headers, body, requestId, deadline } = {} as GatewayRequest, ...more] = requests;
  assert.deepEqual([method, path, more.length], ['POST', '/trading/orders/cancel', 0]);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(body)), {
    account_id: 'account',
    client_order_id: 'o "1"',
  });
  assert.equal(headers['idempotency-key'], 'key-1');
  assert.deepEqual([requestId, deadline], ['mass-cancel-key-1', start + 5000]);
});

test('only an outcome that is not known is unknown; every other refusal had no effect', async () => {
  for (const [code, outcome] of [
    ['outcome_unknown', 'unknown'],
    ['upstream_rejected', 'refused'],
    ['gateway_timeout', 'refused'],
    ['upstream_unreachable', 'refused'],
    ['secret_not_set', 'refused'],
  ] as const) {
    const { cancel, requests } = stub([refused(code)]);
    assert.equal(await cancel('account', 'o', 'key'), outcome, code);
    assert.equal(requests.length, 1, code);
  }
});

test('what the limits refuse waits for its turn under the same key, as long as there is time', async () => {
  const { cancel, requests, slept } = stub([
    refused('budget_used_up', 0.1),
    refused('upstream_rate_limited', 3),
    accepted,
  ]);
  assert.equal(await cancel('account', 'o', 'key', start + 30_000), 'accepted');
  assert.deepEqual(slept, [1000, 3000]);
  assert.deepEqual(new Set(requests.map(({ headers }) => headers['idempotency-key'])), new Set(['key']));
  const late = stub([refused('budget_used_up', 3)]);
  assert.equal(await late.cancel('account', 'o', 'key', start + 3000), 'refused');
  assert.deepEqual([late.slept, late.requests.length], [[], 1]);
  const endless = stub([refused('budget_used_up', 7)]);
  assert.equal(await endless.cancel('account', 'o', 'key'), 'refused');
  assert.equal(endless.slept.length, 4);
});
