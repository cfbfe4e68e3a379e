/** The Lambda authorizer, with an issuer on loopback: its policies, its failures, and what stands in its log. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { authorizerPorts } from '../../functions/aws/ports.ts';
import type { AuthorizerEvent } from '../../functions/compose/authorizer.ts';
import { authorizer, start as startFunction } from '../../functions/compose/functions.ts';
import type { Log, LogEntry } from '../../functions/log/log.ts';
import type { Environment } from '../../functions/settings/parts.ts';
import { tokenFaults } from '../../lib/access/index.ts';
import { forgedTokens } from '../access/forged-tokens.ts';
import { tokenOf } from '../access/issuer.ts';
import { lasting, startIssuer } from '../access/issuer-server.ts';
import { hostWith } from '../support/deployed.ts';

const stage = 'arn:aws:execute-api:eu-central-1:123456789012:abc123/main';

const deployedAuthorizer = (env: Environment, log: Log) =>
  startFunction(authorizer, env, authorizerPorts(hostWith(log)));

async function worldFor(t: TestContext) {
  const issuer = await startIssuer();
  t.onTestFinished(issuer.close);
  const logged: LogEntry[] = [];
  const start = () =>
    deployedAuthorizer({ AUTH: JSON.stringify(issuer.auth) }, (entry) => logged.push(entry));
  return { ...issuer, logged, start };
}

const eventWith = (...values: readonly string[]): AuthorizerEvent => ({
  methodArn: `${stage}/GET/trading/accounts/list`,
  headers: values.length > 0 ? { Authorization: values.at(-1) } : {},
  multiValueHeaders: values.length > 0 ? { Authorization: [...values] } : {},
  requestContext: { requestId: 'request-1' },
});

test('allows the whole stage, with the claims as the core reads them', async (t) => {
  const { start, token, auth, logged } = await worldFor(t);
  const given = token({
    sub: 'canary-subject',
    jti: 'canary-token',
  });
  const { context, ...result } = await start()(eventWith(`Bearer ${given}`));
  assert.deepEqual(result, {
    principalId: 'user',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${stage}/*` }],
    },
  });
  assert.deepEqual(Object.keys(context ?? {}), ['claims']);
  assert.deepEqual(JSON.parse(`${context?.claims}`), {
    issuer: auth.issuer,
    subject: 'canary-subject',
    clientId: 'app-1',
    tokenId: 'canary-token',
    scopes: ['read', 'trade'],
    issuedAt: lasting.iat,
    expiresAt: lasting.exp,
  });
  const [entry, ...more] = logged;
  assert.deepEqual(
    [{ ...entry, milliseconds: 0 }, more],
    [{ level: 'info', event: 'token', requestId: 'request-1', milliseconds: 0 }, []],
  );
});

test('denies every forged token for the whole stage, with the reason and nothing of the token', async (t) => {
  const { start, logged } = await worldFor(t);
  const authorize = start();
  for (const { name, token } of forgedTokens.filter(({ token }) => /^\S+$/.test(token))) {
    const { context, ...result } = await authorize(eventWith(`Bearer ${token}`));
    assert.deepEqual(
      result.policyDocument.Statement,
      [{ Action: 'execute-api:Invoke', Effect: 'Deny', Resource: `${stage}/*` }],
      name,
    );
    const fault = `${context?.fault}` as keyof typeof tokenFaults;
    assert.deepEqual(context, { fault, detail: tokenFaults[fault] });
    assert.equal(logged.at(-1)?.fault, fault);
    const written = JSON.stringify([context, result, logged.at(-1)]);
    for (const part of ['user-1', 'token-1', 'app-1', ...token.split('.')].filter(({ length }) => length > 5))
      assert.ok(!written.includes(part), name);
  }
});

test('denies a request without one bearer token', async (t) => {
  const { start, token } = await worldFor(t);
  const authorize = start();
  const good = `Bearer ${token()}`;
  const faultOf = async (event: AuthorizerEvent) => (await authorize(event)).context?.fault;
  assert.equal(await faultOf(eventWith()), 'missing');
  assert.equal(await faultOf(eventWith('Basic YTpi')), 'wrong_scheme');
  assert.equal(await faultOf(eventWith(good, good)), 'several_tokens');
  const twice = { Authorization: [good], authorization: [good] };
  assert.equal(await faultOf({ ...eventWith(), multiValueHeaders: twice }), 'several_tokens');
  assert.equal(await faultOf({ ...eventWith(good), headers: null, multiValueHeaders: null }), 'missing');
  assert.equal(
    await faultOf({ ...eventWith(), headers: { AUTHORIZATION: good }, multiValueHeaders: null }),
    undefined,
  );
});

test('fails while the issuer’s keys cannot be read, so that nothing is kept, and says why', async (t) => {
  const { start, token, logged, fail } = await worldFor(t);
  fail();
  const authorize = start();
  await assert.rejects(authorize(eventWith(`Bearer ${token()}`)), { name: 'NotJudged' });
  assert.deepEqual(
    logged.map(({ level, event, code, fault }) => [level, event, code ?? fault]),
    [
      ['error', 'issuer_not_read', 'not_200'],
      ['error', 'token', 'issuer_unavailable'],
    ],
  );
});

test('fails with a wrong environment, which is in the log once', async () => {
  for (const [AUTH, fault] of [
    [undefined, 'AUTH: not set'],
    ['{', 'AUTH: not JSON'],
    ['{"issuer":"https://issuer.example.com"}', 'AUTH: audience, clientIds: at least one of them is needed'],
  ] as const) {
    const logged: LogEntry[] = [];
    const authorize = deployedAuthorizer({ AUTH }, (entry) => logged.push(entry));
    for (let asked = 0; asked < 3; asked++)
      await assert.rejects(authorize(eventWith(`Bearer ${tokenOf()}`)), { name: 'NotJudged' });
    assert.deepEqual(logged, [{ level: 'error', event: 'wrong_configuration', faults: [fault] }]);
  }
});
