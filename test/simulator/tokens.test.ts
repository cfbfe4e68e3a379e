import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createWorld } from '../../infra/simulator/world.ts';
import { type Json, play } from './player.ts';
import { send, testTime, withSimulator } from './support.ts';

const days = (count: number) => count * 86_400_000;

test('a token’s life: pending, approved after a few seconds, expired after 15 days', () => {
  const player = play();
  const made = player.ask('createToken', {}, {});
  assert.match(made.token, /^[0-9a-f]{32}$/);
  assert.deepEqual(
    [made.status, made.expires_at, made.expires],
    ['PENDING', testTime + days(15), testTime + days(15)],
  );
  const status = (): string => player.ask('checkToken', {}, { token: made.token }).status;
  player.now = testTime + 2999;
  assert.equal(status(), 'PENDING');
  player.now = testTime + 3000;
  assert.equal(status(), 'NORMAL');
  player.now = testTime + days(15) - 1;
  assert.equal(status(), 'NORMAL');
  player.now = testTime + days(15);
  assert.equal(status(), 'EXPIRED');
  assert.equal(player.refused('createToken', {}, { token: made.token }), 'OPENAPI_PARAM_ERR');
});

test('a token that is still good is renewed; any other is not', () => {
  const player = play();
  const { token } = player.ask('createToken', {}, {});
  player.now += days(14);
  const renewed = player.ask('createToken', {}, { token });
  assert.deepEqual(
    [renewed.token, renewed.status, renewed.expires_at],
    [token, 'NORMAL', player.now + days(15)],
  );
  player.now += days(14);
  assert.equal(player.ask('checkToken', {}, { token }).status, 'NORMAL');
  assert.notEqual(player.ask('createToken', {}, {}).token, token);
  assert.equal(player.refused('createToken', {}, { token: 'f'.repeat(32) }), 'OPENAPI_PARAM_ERR');
});

test('a token that was never issued is invalid; what cannot be a token is a wrong parameter', () => {
  const player = play();
  const { expires_at, ...unknown }: Json = player.ask('checkToken', {}, { token: 'f'.repeat(32) });
  assert.deepEqual([unknown.status, expires_at], ['INVALID', undefined]);
  assert.equal(player.refused('checkToken', {}, { token: 'F'.repeat(32) }), 'OPENAPI_PARAM_ERR');
  player.now = Date.UTC(2031, 0);
  assert.equal(player.ask('checkToken', {}, { token: '5d0c9be27af14836b1d2e07745c6a98f' }).status, 'NORMAL');
});

test('how long the approval takes can be set, and a token is asked for without one', async () => {
  const at_once = play(createWorld(1, { tokenApprovalMs: 0 }));
  assert.equal(at_once.ask('createToken', {}, {}).status, 'NORMAL');
  await withSimulator({ accessToken: 'token', tokenApprovalMs: 60_000 }, async (simulator) => {
    const draft = { method: 'POST', target: '/auth/tokens/create', body: '{}' };
    const reply = await send(simulator, draft);
    assert.deepEqual([reply.status, (reply.json as Json).status], [200, 'PENDING']);
    assert.equal((await send(simulator, { target: '/trading/accounts/list' })).status, 401);
  });
});
