/** Who may make a request: principals in their order, scopes, accounts, the filter, and what a refusal says. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import type { SimulatorOptions } from '../../infra/simulator/index.ts';
import { tokenFaults } from '../../lib/access/verifier.ts';
import { operations } from '../../lib/catalogue/index.ts';
import {
  type AccessOptions,
  createGateway,
  createMemoryCacheStores,
  type GatewayOptions,
  type Outcome,
  type RefusalCode,
  type SenderEvidence,
} from '../../lib/gateway/index.ts';
import {
  bearer,
  claimsOf,
  createTestAccess,
  grantsOf,
  iam,
  issuer,
  key,
  source,
  user,
} from '../support/access.ts';
import {
  accountsPath,
  coreFor,
  type Draft,
  accountId as mine,
  orderBody,
  orderPath,
  requestOf,
  secretText,
  snapshotTarget,
} from '../support/core.ts';
import { each } from '../support/each.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

/** The other account of every simulated upstream. */
const foreign = 'B1N6UY3G8W0JFS7QTC2IE9OH4M';
const watchlists = '/market-data/watchlists/list';
const balance = (account: string) => `/trading/assets/balances/get?account_id=${account}`;
const roleArn = 'arn:aws:iam::123456789012:role/back-end';

interface Given extends Draft {
  readonly evidence?: SenderEvidence;
}

async function worldFor(
  t: TestContext,
  change: Partial<AccessOptions> = {},
  { options, simulated }: { options?: Partial<GatewayOptions>; simulated?: Partial<SimulatorOptions> } = {},
) {
  const people = createTestAccess(change);
  const read: string[] = [];
  const secrets = {
    read: async (version?: string) => {
      read.push(version ?? 'current');
      return secretText();
    },
  };
  const core = await coreFor(t, simulated, {
    access: people.access,
    secrets,
    // So that each request that gets so far reads it.
    secretTimeToLiveMs: 0,
    ...options,
  });
  const send = async (target: string, { evidence, ...draft }: Given = {}) => {
    const request = { ...requestOf(target, draft), ...(evidence && { evidence }) };
    const { status, headers, body } = await core.gateway.handle(request);
    const text = new TextDecoder().decode(body);
    return {
      status,
      headers,
      text,
      code: status < 400 ? undefined : (JSON.parse(text) as { code: RefusalCode }).code,
    };
  };
  /** Refused with this code, and neither the upstream nor the secret was asked. */
  const refuses = async (code: RefusalCode, target: string, given?: Given) => {
    const before = [core.simulator.received.length, read.length];
    const reply = await send(target, given);
    assert.equal(reply.code, code, reply.text);
    assert.deepEqual([core.simulator.received.length, read.length], before);
    assert.equal(core.reports.at(-1)?.attempts, 0);
    return { ...reply, detail: (JSON.parse(reply.text) as { detail: string }).detail };
  };
  const passes = async (target: string, given?: Given) => {
    const reply = await send(target, given);
    assert.equal(reply.status, 200, reply.text);
    return reply;
  };
  return { ...core, people, send, refuses, passes };
}

/** With the claims of this user's token. */
const as = (subject: string, change: Parameters<typeof claimsOf>[1] = {}): Given => ({
  evidence: { claims: claimsOf(subject, change) },
});
const idsIn = (text: string) => (JSON.parse(text) as { account_id: string }[]).map((one) => one.account_id);

describe('who', { concurrent: true }, () => {
  test('a token comes before an AWS signature, and that before a key', async (t) => {
    const { people, passes } = await worldFor(t);
    await people.grant(user('anna'), grantsOf({ [mine]: ['read'] }));
    await people.grant(iam(roleArn), grantsOf({ '*': ['read'] }));
    await people.grant(key('key-1'), grantsOf({ [foreign]: ['read'] }));
    const evidence: SenderEvidence = { apiKeyId: 'key-1', iamArn: roleArn };
    const headers = bearer(people.token(claimsOf('anna')));
    const seen = async (given: Given) => idsIn((await passes(accountsPath, given)).text);
    assert.deepEqual(await seen({ evidence, headers }), [mine]);
    assert.deepEqual(await seen({ evidence: { ...evidence, claims: claimsOf('anna') } }), [mine]);
    assert.deepEqual(await seen({ evidence }), [mine, foreign]);
    assert.deepEqual(await seen({ evidence: { apiKeyId: 'key-1' } }), [foreign]);
  });

  test('claims of the authorizer in front come before the header', async (t) => {
    const { people, passes } = await worldFor(t);
    await people.grant(user('anna'), grantsOf({ [mine]: ['read'] }));
    await people.grant(user('ben'), grantsOf({ [foreign]: ['read'] }));
    const headers = bearer(people.token(claimsOf('ben')));
    const { text } = await passes(accountsPath, { headers, evidence: { claims: claimsOf('anna') } });
    assert.deepEqual(idsIn(text), [mine]);
  });

  test('a token that is not accepted is refused with its reason, though the key would be', async (t) => {
    const { people, refuses } = await worldFor(t);
    await people.grant(key('key-1'), grantsOf({ [mine]: ['read'] }));
    const evidence = { apiKeyId: 'key-1' };
    for (const fault of Object.keys(tokenFaults) as (keyof typeof tokenFaults)[]) {
      const code =
        fault === 'issuer_unavailable'
          ? 'access_unavailable'
          : fault === 'missing'
            ? 'missing_token'
            : 'invalid_token';
      const { detail, headers, status } = await refuses(code, accountsPath, {
        evidence,
        headers: bearer(people.token(fault)),
      });
      const challenge = headers['www-authenticate'];
      assert.equal(challenge !== undefined, status === 401);
      if (code !== 'invalid_token') continue;
      assert.equal(detail, tokenFaults[fault]);
      assert.equal(
        challenge,
        `Bearer error="invalid_token", error_description="${detail.replace('’', "'")}"`,
      );
    }
  });

  for (const [header, code] of [
    ['Bearer', 'missing_token'],
    ['BEARER x', 'invalid_token'],
    ['Bearer a, Bearer b', 'invalid_token'],
    ['Basic YTpi', 'invalid_token'],
    ['AWS4-HMAC-SHA256 Credential=a', 'invalid_token'],
  ] as const)
    test(`${JSON.stringify(header)} is ${code}: the key does not count in its place`, async (t) => {
      const { people, refuses } = await worldFor(t);
      await people.grant(key('key-1'), grantsOf({ [mine]: ['read'] }));
      await refuses(code, accountsPath, {
        evidence: { apiKeyId: 'key-1' },
        headers: { authorization: header },
      });
    });

  test('an empty header, and the one of an AWS signature that was checked, have no token', async (t) => {
    const { people, passes } = await worldFor(t);
    await people.grant(key('key-1'), grantsOf({ [mine]: ['read'] }));
    await people.grant({ kind: 'iam', arn: roleArn }, grantsOf({ [mine]: ['read'] }));
    for (const [evidence, authorization] of [
      [{ apiKeyId: 'key-1' }, ''],
      [{ iamArn: roleArn }, 'AWS4-HMAC-SHA256 Credential=a'],
    ] as const)
      await passes(accountsPath, { evidence, headers: { authorization } });
  });

  test('nobody: 401 where a token would do, 403 where the gateway takes none', async (t) => {
    const { refuses } = await worldFor(t);
    const { headers } = await refuses('missing_token', accountsPath);
    assert.equal(headers['www-authenticate'], 'Bearer');
    const { verifier: _, ...access } = createTestAccess().access;
    const without = await worldFor(t, {}, { options: { access } });
    await without.refuses('forbidden', accountsPath, { headers: bearer('any') });
  });

  for (const [what, evidence, words] of [
    ['a key', { apiKeyId: 'key-1' }, /API key/],
    ['an AWS identity', { iamArn: roleArn }, /AWS identity/],
    ['a source', { eventSource: 'orders.example' }, /source of events/],
  ] as const)
    test(`${what} without a grant, or that is blocked`, async (t) => {
      const { people, refuses } = await worldFor(t);
      assert.match((await refuses('forbidden', accountsPath, { evidence })).detail, words);
      for (const one of [key('key-1'), iam(roleArn), source('orders.example')]) await people.revoke(one);
      assert.match((await refuses('forbidden', accountsPath, { evidence })).detail, /blocked/);
    });

  test('a key that was blocked stops the tokens that come with it: 403, and no other token helps', async (t) => {
    const { people, refuses, passes } = await worldFor(t);
    await people.grant(user('anna'), grantsOf({ '*': ['read'] }));
    const evidence = { claims: claimsOf('anna'), apiKeyId: 'key-1' };
    await people.revoke(key('key-1'));
    assert.match((await refuses('forbidden', accountsPath, { evidence })).detail, /API key.*blocked/);
    await passes(accountsPath, { evidence: { ...evidence, apiKeyId: 'key-2' } });
  });

  test('a user, a token or an app that was revoked: 401', async (t) => {
    const { people, refuses } = await worldFor(t);
    await people.revoke(user('anna'));
    const evidence = { claims: claimsOf('anna', { tokenId: 'token-1', issuedAt: 7 }) };
    const { detail } = await refuses('invalid_token', accountsPath, { evidence });
    assert.equal(detail, tokenFaults.revoked);
    assert.deepEqual(people.questions.at(-1), {
      principal: user('anna'),
      token: { id: 'token-1', clientId: 'the-app', issuedAt: 7 },
    });
  });

  test('claims that an authorizer has remembered end with their token, and a minute for the clocks', async (t) => {
    let now = 0;
    const { people, refuses, passes } = await worldFor(
      t,
      {},
      { options: { clock: () => now }, simulated: { clock: () => now } },
    );
    await people.grant(user('anna'), grantsOf({ [mine]: ['read'] }));
    const evidence = { claims: claimsOf('anna', { expiresAt: 1_790_000_000 }) };
    now = 1_790_000_059_999;
    await passes(accountsPath, { evidence });
    now++;
    const { detail } = await refuses('invalid_token', accountsPath, { evidence });
    assert.equal(detail, tokenFaults.expired);
  });

  test('a directory that cannot tell', async (t) => {
    const { people, refuses, passes } = await worldFor(t);
    people.state.isAway = true;
    const { headers } = await refuses('access_unavailable', accountsPath, as('anna'));
    assert.equal(headers['retry-after'], '5');
    await passes(snapshotTarget, { evidence: { apiKeyId: 'key-1' } });
    assert.equal(people.questions.length, 1);
  });

  test('is asked before the body is read', async (t) => {
    const { refuses } = await worldFor(t);
    for (const body of ['{', '[]', orderBody({ side: 'HOLD' })])
      await refuses('missing_token', orderPath, { body });
  });
});

describe('market facts', { concurrent: true }, () => {
  test('need nobody, and ask no directory; a wrong token is not looked at', async (t) => {
    const { people, passes } = await worldFor(t);
    await passes(snapshotTarget);
    await passes(snapshotTarget, { headers: bearer('wrong') });
    assert.equal(people.questions.length, 0);
  });

  test('need a user where the deployer says so, but no account', async (t) => {
    const { people, passes, refuses } = await worldFor(t, { userGroups: ['market-data'] });
    await passes(snapshotTarget, { headers: bearer(people.token(claimsOf('anna'))) });
    await refuses('missing_token', snapshotTarget);
    await refuses('forbidden', snapshotTarget, { evidence: { apiKeyId: 'key-1' } });
    await refuses('insufficient_scope', snapshotTarget, as('anna', { scopes: ['trade'] }));
    await people.revoke(user('anna'));
    await refuses('invalid_token', snapshotTarget, as('anna'));
  });
});

describe('scopes', { concurrent: true }, () => {
  test('are those of the token and of the grant, for each account', async (t) => {
    const { people, refuses, passes } = await worldFor(t);
    await people.grant(user('anna'), grantsOf({ [mine]: ['trade'], [foreign]: ['read'] }));
    const order = orderBody();
    await passes(orderPath, { body: order, ...as('anna', { scopes: ['trade'] }) });
    const { detail } = await refuses('insufficient_scope', orderPath, {
      body: order,
      ...as('anna', { scopes: ['read'] }),
    });
    assert.match(detail, /token lacks the scope trade/);
    await passes(balance(foreign), as('anna', { scopes: ['read'] }));
    assert.match(
      (await refuses('insufficient_scope', balance(mine), as('anna', { scopes: ['read'] }))).detail,
      /scope read for this account/,
    );
    await refuses('insufficient_scope', balance(foreign), as('anna', { scopes: ['trade', 'write'] }));
  });

  test('have the names that the issuer gives them', async (t) => {
    const { people, refuses, passes } = await worldFor(t, { tokenScopes: { read: ['api/look', 'api/all'] } });
    await people.grant(user('anna'), grantsOf({ '*': ['read'] }));
    for (const scope of ['api/look', 'api/all'])
      await passes(accountsPath, as('anna', { scopes: ['x', scope] }));
    await refuses('insufficient_scope', accountsPath, as('anna', { scopes: ['read', 'API/LOOK'] }));
  });

  test('of watchlists are granted for the user’s data, whatever accounts there are', async (t) => {
    const { people, refuses, passes } = await worldFor(t);
    const anna = as('anna');
    await people.grant(user('anna'), grantsOf({ '*': ['read', 'trade', 'write'] }));
    await refuses('insufficient_scope', watchlists, anna);
    await people.grant(user('anna'), grantsOf({}, ['read']));
    await passes(watchlists, anna);
    const create = { body: '{"name":"Ideas"}', ...anna };
    await refuses('insufficient_scope', '/market-data/watchlists/create', create);
    await people.grant(user('anna'), grantsOf({}, ['read', 'write']));
    await passes('/market-data/watchlists/create', create);
    await refuses('account_not_granted', accountsPath, anna);
  });
});

describe('accounts', { concurrent: true }, () => {
  test('that were not granted are refused alike, whether they exist or not', async (t) => {
    const { people, refuses } = await worldFor(t);
    await people.grant(user('anna'), grantsOf({ [mine]: ['read'] }));
    const anna = as('anna');
    const texts = new Set<string>();
    for (const account of [foreign, 'UNKNOWN', mine.toLowerCase(), '*', `${mine},${foreign}`])
      texts.add((await refuses('account_not_granted', balance(account), anna)).text);
    assert.equal(texts.size, 1);
  });

  test('of a token’s claim replace those of the directory', async (t) => {
    const { people, refuses, passes } = await worldFor(t);
    await people.grant(user('anna'), grantsOf({ [mine]: ['read'] }, ['read']));
    await passes(balance(foreign), as('anna', { accounts: [foreign] }));
    await passes(watchlists, as('anna', { accounts: [foreign] }));
    await refuses('account_not_granted', balance(mine), as('anna', { accounts: [foreign] }));
    await refuses('account_not_granted', balance(mine), as('anna', { accounts: [] }));
    // A star there is the name of no account.
    await refuses('account_not_granted', balance(mine), as('anna', { accounts: ['*'] }));
    await refuses('account_not_granted', balance('*'), as('anna', { accounts: ['*'] }));
  });

  test('of a claim are enough for a user whom the directory does not know', async (t) => {
    const { refuses, passes } = await worldFor(t);
    assert.deepEqual(idsIn((await passes(accountsPath, as('carl', { accounts: [foreign] }))).text), [
      foreign,
    ]);
    await refuses('account_not_granted', accountsPath, as('carl'));
  });

  test('an answer that names another one is withheld: a read fails, of an order the outcome is unknown', async (t) => {
    const body = { order_id: '1', client_order_id: 'x', legs: [{ accountId: foreign }] };
    const { people, send } = await worldFor(
      t,
      {},
      { simulated: { fault: () => ({ kind: 'status', status: 200, body }) } },
    );
    await people.grant(user('anna'), grantsOf({ [mine]: ['read', 'trade'] }));
    const evidence = { claims: claimsOf('anna') };
    const lost = await send(orderPath, { evidence, body: orderBody() });
    assert.equal(lost.code, 'outcome_unknown');
    const broken = await send(balance(mine), { evidence });
    assert.equal(broken.code, 'upstream_broken_answer');
    for (const { text } of [lost, broken]) assert.ok(!text.includes(foreign), text);
    // Whose accounts they all are gets it as it is.
    await people.grant(user('anna'), grantsOf({ '*': ['read'] }));
    assert.equal((await send(balance(mine), { evidence })).text, JSON.stringify(body));
  });
});

describe('the list of accounts', { concurrent: true }, () => {
  const cached = { options: { cache: createMemoryCacheStores() } };

  test('is fetched once and shown to each as its own, with a tag of its own', async (t) => {
    const { people, passes, send, simulator } = await worldFor(t, {}, cached);
    await people.grant(user('anna'), grantsOf({ [mine]: ['read'] }));
    await people.grant(user('ben'), grantsOf({ [foreign]: ['read'], [mine]: ['trade'] }));
    await people.grant(iam(roleArn), grantsOf({ '*': ['read'] }));
    const all = await passes(accountsPath, { evidence: { iamArn: roleArn } });
    const anna = as('anna');
    const ben = as('ben');
    const [ofAnna, ofBen] = [await passes(accountsPath, anna), await passes('/openapi/account/list', ben)];
    assert.deepEqual(
      [ofAnna, ofBen].map(({ text }) => idsIn(text)),
      [[mine], [foreign]],
    );
    assert.equal(
      `[${ofAnna.text.slice(1, -1)},${ofBen.text.slice(1, -1)}]`,
      all.text,
      'the upstream’s bytes',
    );
    assert.equal(new Set([all, ofAnna, ofBen].map(({ headers }) => headers.etag)).size, 3);
    assert.ok(ofAnna.headers.age);
    const again = async (given: Given, etag = '') =>
      (await send(accountsPath, { ...given, headers: { 'if-none-match': etag } })).status;
    assert.equal(await again(anna, ofAnna.headers.etag), 304);
    assert.equal(await again(anna, ofBen.headers.etag), 200);
    assert.equal(await again(anna, all.headers.etag), 200);
    assert.equal(simulator.received.length, 1);
  });

  test('that is no list is nobody’s', async (t) => {
    const { people, send } = await worldFor(
      t,
      {},
      {
        simulated: { fault: () => ({ kind: 'status', status: 200, body: { data: [{ account_id: mine }] } }) },
      },
    );
    await people.grant(user('anna'), grantsOf({ [mine]: ['read'] }));
    const { code, text } = await send(accountsPath, as('anna'));
    assert.equal(code, 'upstream_broken_answer');
    assert.ok(!text.includes(mine));
  });
});

describe('the report', { concurrent: true }, () => {
  test('names app, user and account by keyed hashes, of refusals too, and nothing in clear', async (t) => {
    const { people, send, reports } = await worldFor(t);
    await people.grant(user('anna'), grantsOf({ [mine]: ['read'] }));
    const { nameOf } = people;
    const evidence = { apiKeyId: 'key-1', claims: claimsOf('anna') };
    await send(balance(mine), { evidence });
    await send(balance(foreign), { evidence });
    await send(orderPath, { evidence, body: orderBody() });
    const ofUser = {
      app: await nameOf('app', 'key-1'),
      user: await nameOf('user', JSON.stringify(user('anna'))),
    };
    assert.deepEqual(
      reports.map(({ app, user: who, account, status }) => ({ app, user: who, account, status })),
      [
        { ...ofUser, account: await nameOf('account', mine), status: 200 },
        { ...ofUser, account: await nameOf('account', foreign), status: 403 },
        // Its body was not read.
        { ...ofUser, account: undefined, status: 403 },
      ],
    );
    const text = JSON.stringify(reports);
    for (const clear of [mine, foreign, 'anna', 'key-1', issuer, 'the-app'])
      assert.ok(!text.includes(clear), clear);
  });

  test('names the app of a token where there is no key, and of a request for market facts', async (t) => {
    const { people, send, reports } = await worldFor(t);
    await send(accountsPath, { headers: bearer(people.token(claimsOf('anna'))) });
    await send(snapshotTarget, { evidence: { apiKeyId: 'key-1' } });
    assert.deepEqual(each(reports, 'app'), [
      await people.nameOf('app', 'the-app'),
      await people.nameOf('app', 'key-1'),
    ]);
  });

  test('lacks the names when they cannot be made; quotes are answered all the same', async (t) => {
    const names = { nameOf: () => Promise.reject(new Error('no key')) };
    const { passes, reports } = await worldFor(t, { names });
    await passes(snapshotTarget, { evidence: { apiKeyId: 'key-1' } });
    assert.equal(reports[0]?.app, undefined);
  });
});

test('a lookup by event is its source’s: the outcome is filtered before anything makes HTTP of it', async (t) => {
  const { people, gateway } = await worldFor(t);
  await people.grant(source('orders.example'), grantsOf({ [mine]: ['read'] }));
  const ask = (target: string, eventSource: string) =>
    gateway.ask({ ...requestOf(target), evidence: { eventSource }, priority: 'events' });
  const codeOf = (outcome: Outcome) => (outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind);
  const outcome = await ask(accountsPath, 'orders.example');
  assert.ok(outcome.kind === 'uncached');
  assert.deepEqual(idsIn(new TextDecoder().decode(outcome.body)), [mine]);
  assert.equal(codeOf(await ask(balance(foreign), 'orders.example')), 'account_not_granted');
  assert.equal(codeOf(await ask(balance(mine), 'another.example')), 'forbidden');
});

test('a user is one caller, whatever network and app the requests come from', async (t) => {
  const counted: string[] = [];
  const { responses, ...stores } = createMemoryCacheStores();
  const countUse: typeof responses.countUse = (name, ...rest) => {
    counted.push(name.replace(/^.*\//, ''));
    return responses.countUse(name, ...rest);
  };
  const cache = { ...stores, responses: { ...responses, countUse } };
  const { people, gateway } = await worldFor(t, { userGroups: ['market-data'] }, { options: { cache } });
  for (const [symbol, apiKeyId] of [
    ['AAPL', 'key-1'],
    ['MSFT', 'key-2'],
  ] as const) {
    const target = `/openapi/market-data/stock/quotes?symbol=${symbol}&category=US_STOCK`;
    const evidence = { apiKeyId, claims: claimsOf('anna') };
    const caller = { unit: apiKeyId, member: `a phone of ${apiKeyId}` };
    assert.equal((await gateway.handle({ ...requestOf(target), evidence, caller })).status, 200);
  }
  assert.deepEqual(counted, Array(2).fill(await people.nameOf('user', JSON.stringify(user('anna')))));
});

describe('a gateway', () => {
  const options = {
    upstreamBaseUrl: 'https://api.example.com',
    secrets: { read: async () => secretText() },
  };
  const ofGroup = (group: string) => operations.filter((operation) => operation.group === group);

  for (const group of ['accounts', 'orders', 'watchlists'])
    test(`for ${group} is made only when it knows who may use them`, () => {
      assert.throws(() => createGateway({ ...options, operations: ofGroup(group) }), {
        name: 'TypeError',
        message: /^access: \w+ belongs to an account: say who may use it/,
      });
      createGateway({ ...options, operations: ofGroup(group), access: 'single-user' });
      createGateway({ ...options, operations: ofGroup(group), access: createTestAccess().access });
    });

  test('for market facts is made without', () => {
    createGateway({ ...options, operations: ofGroup('market-data') });
  });

  test('for a single user checks nothing', async (t) => {
    const { gateway, reports } = await coreFor(t);
    for (const target of [accountsPath, balance(foreign), watchlists])
      assert.equal((await gateway.handle(requestOf(target))).status, 200);
    assert.deepEqual(
      reports.map(({ user: who, account }) => [who, account]),
      Array(3).fill([undefined, undefined]),
    );
  });
});
