import assert from 'node:assert/strict';
import { test } from 'vitest';
import { accountsPath, ask, coreFor, orderBody, orderPath, snapshotTarget } from '../support/core.ts';

test('each request is reported once when it is answered, with nothing that the client sent', async (t) => {
  // The upstream takes 7 milliseconds of this clock.
  let now = Date.UTC(2026, 10, 17, 9, 30);
  const fault = () => {
    now += 7;
    return undefined;
  };
  const { gateway, reports } = await coreFor(t, { clock: () => now, fault }, { clock: () => now });
  const canary = 'of-the-client';
  const headers = { 'x-canary': canary, category: canary };
  await ask(gateway, snapshotTarget, { requestId: 'a', headers });
  await ask(gateway, orderPath, { requestId: 'b', headers, body: orderBody({ client_order_id: canary }) });
  await ask(gateway, orderPath, { requestId: 'c', headers, body: orderBody({ symbol: canary }) });
  await ask(gateway, `${accountsPath}?${canary}=1`, { requestId: 'd' });
  await ask(gateway, `/${canary}`, { requestId: 'e' });
  await ask(gateway, accountsPath, { requestId: 'f' }, canary);
  assert.deepEqual(reports, [
    { requestId: 'a', operation: 'getStockSnapshots', attempts: 1, status: 200, milliseconds: 7 },
    { requestId: 'b', operation: 'placeOrder', attempts: 1, status: 200, milliseconds: 7 },
    {
      requestId: 'c',
      operation: 'placeOrder',
      attempts: 1,
      status: 422,
      code: 'upstream_rejected',
      upstreamStatus: 417,
      upstreamCode: 'INVALID_SYMBOL',
      milliseconds: 7,
    },
    {
      requestId: 'd',
      operation: 'listAccounts',
      attempts: 0,
      status: 400,
      code: 'invalid_parameter',
      milliseconds: 0,
    },
    { requestId: 'e', attempts: 0, status: 404, code: 'unknown_operation', milliseconds: 0 },
    { requestId: 'f', attempts: 0, status: 405, code: 'method_not_allowed', milliseconds: 0 },
  ]);
  assert.ok(!JSON.stringify(reports).includes(canary));
});
