/**
 * Every entry of the catalogue, at each of its paths, for each kind of caller: who gets through is derived from the
 * entry's group, scope and account places, and whatever is refused never reaches the upstream.
 */

import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Principal } from '../../../lib/access/evidence.ts';
import {
  createAccessAdmin,
  createDirectory,
  createIdentity,
  createMemoryAccessStore,
} from '../../../lib/access/index.ts';
import { isAccountData } from '../../../lib/catalogue/groups.ts';
import { type Operation, operations } from '../../../lib/catalogue/index.ts';
import { isSentOn } from '../../../lib/catalogue/operation.ts';
import { type Scope, scopeOf, scopes } from '../../../lib/catalogue/scopes.ts';
import type { GatewayRequest, RefusalCode, SenderEvidence } from '../../../lib/gateway/index.ts';
import { bearer, claimsOf, createTestAccess, iam, issuer, key, source, user } from '../../support/access.ts';
import { accountId as mine, requestOf, startCore } from '../../support/core.ts';

const foreign = 'B1N6UY3G8W0JFS7QTC2IE9OH4M';

type Core = Awaited<ReturnType<typeof startCore>>;
const identity = createIdentity(async () => 'an identity key of 32 characters or more');
const store = createMemoryAccessStore();
const admin = createAccessAdmin({ store, identity, by: 'a test' });
const people = createTestAccess({
  directory: createDirectory({ store, identity }),
  names: identity.names,
});
let core: Core;

async function grant(subject: Principal, accounts: Accounts, userData: readonly Scope[] = []): Promise<void> {
  const change = { action: 'grant', subject } as const;
  for (const [account, own] of Object.entries(accounts))
    await admin.apply({ ...change, accounts: [account], userData: false, scopes: own });
  if (userData.length > 0) await admin.apply({ ...change, accounts: [], userData: true, scopes: userData });
}

type Accounts = Readonly<Record<string, readonly Scope[]>>;
const all: Accounts = { [mine]: scopes };

beforeAll(async () => {
  core = await startCore({}, { access: people.access });
});
afterAll(() => core.simulator.close());

/** What the answer's code is when the caller is refused, or that the request got as far as it can. */
type Verdict = RefusalCode | 'through';

interface CallerKind {
  readonly setUp: () => Promise<void>;
  readonly given: () => Pick<GatewayRequest, 'evidence'> & { readonly headers?: GatewayRequest['headers'] };
  /** Of an operation that belongs to an account. All others are anybody's. */
  readonly verdict: (operation: Operation) => Verdict;
}

const evidenceOf = (evidence: SenderEvidence) => () => ({ evidence });
const nothing = async () => {};
const block = async (subject: Principal) => {
  await admin.apply({ action: 'block', subject });
};
/** To a user who has been granted all scopes, unless that one was blocked before. */
const bind = async (subject: Principal, owner: string) => {
  const principal = { kind: 'user', issuer, subject: owner } as const;
  await grant(principal, all, scopes);
  await admin.apply({ action: 'bind', subject, user: principal });
};

/** Granted scopes for the caller's own account, and for what belongs to the upstream's user. */
const granted = (name: string, own: readonly Scope[], userData: readonly Scope[]): CallerKind => ({
  setUp: () => grant(user(name), { [mine]: own }, userData),
  given: () => ({ headers: bearer(people.token(claimsOf(name))) }),
  verdict: (operation) =>
    (operation.accounts ? own : userData).includes(scopeOf(operation)) ? 'through' : 'insufficient_scope',
});

const through = () => 'through' as const;

const callers: Readonly<Record<string, CallerKind>> = {
  'no token': { setUp: nothing, given: () => ({}), verdict: () => 'missing_token' },
  'a wrong token': {
    setUp: () => grant(key('key-0'), all, scopes),
    given: () => ({ evidence: { apiKeyId: 'key-0' }, headers: bearer('wrong') }),
    verdict: () => 'invalid_token',
  },
  read: granted('reader', ['read'], ['read']),
  trade: granted('trader', ['trade'], []),
  write: granted('writer', ['write'], ['write']),
  'read and trade': granted('both', ['read', 'trade'], []),
  'all scopes, and a token of none': {
    setUp: () => grant(user('without'), all, scopes),
    given: evidenceOf({ claims: claimsOf('without', { scopes: ['openid'] }) }),
    verdict: () => 'insufficient_scope',
  },
  'a user without a grant': {
    setUp: nothing,
    given: evidenceOf({ claims: claimsOf('new') }),
    verdict: ({ accounts }) => (accounts ? 'account_not_granted' : 'insufficient_scope'),
  },
  'a foreign account': {
    setUp: () => grant(user('other'), { [foreign]: scopes }, scopes),
    given: evidenceOf({ claims: claimsOf('other') }),
    verdict: ({ accounts }) => (accounts?.query || accounts?.body ? 'account_not_granted' : 'through'),
  },
  revoked: {
    setUp: () => block(user('gone')),
    given: () => ({ headers: bearer(people.token(claimsOf('gone'))) }),
    verdict: () => 'invalid_token',
  },
  'a key bound to a user': {
    setUp: () => bind(key('key-1'), 'owner'),
    given: evidenceOf({ apiKeyId: 'key-1' }),
    verdict: through,
  },
  'a key bound to nobody': {
    setUp: nothing,
    given: evidenceOf({ apiKeyId: 'key-2' }),
    verdict: () => 'forbidden',
  },
  'a key whose user was revoked': {
    setUp: () => bind(key('key-3'), 'gone'),
    given: evidenceOf({ apiKeyId: 'key-3' }),
    verdict: () => 'forbidden',
  },
  'an AWS identity': {
    setUp: () => grant(iam('arn:aws:iam::1:role/a'), { '*': scopes }, scopes),
    given: evidenceOf({ iamArn: 'arn:aws:iam::1:role/a', apiKeyId: 'key-2' }),
    verdict: through,
  },
  'an AWS identity without a grant': {
    setUp: nothing,
    given: evidenceOf({ iamArn: 'arn:aws:iam::1:role/b', apiKeyId: 'key-1' }),
    verdict: () => 'forbidden',
  },
  'a source of events': {
    setUp: () => grant(source('a.example'), all, scopes),
    given: evidenceOf({ eventSource: 'a.example' }),
    verdict: through,
  },
};

/** The example of an entry, which names the caller's own account. */
function requestAt(path: string, { method, example }: Operation): GatewayRequest {
  return requestOf(
    path,
    {
      query: Object.entries(example.query ?? {}),
      ...(example.body !== undefined && { body: JSON.stringify(example.body) }),
    },
    method,
  );
}

/** The codes with which the core says who may do what. */
const accessCodes: readonly RefusalCode[] = [
  'missing_token',
  'invalid_token',
  'insufficient_scope',
  'account_not_granted',
  'forbidden',
  'access_unavailable',
];

async function verdictOf(request: GatewayRequest): Promise<{
  readonly verdict: Verdict;
  readonly status: number;
  readonly sent: number;
  readonly text: string;
}> {
  const before = core.simulator.received.length;
  const { status, body } = await core.gateway.handle(request);
  const text = new TextDecoder().decode(body);
  const { code } = (status === 200 ? {} : JSON.parse(text)) as { code?: RefusalCode };
  // What the upstream thinks of an example is not the subject.
  const verdict = code && accessCodes.includes(code) ? code : 'through';
  return { verdict, status, sent: core.simulator.received.length - before, text };
}

const pathsOf = ({ path, aliases }: Operation) => [path, ...aliases];

let cells = 0;
let foreignTried = 0;
let foreignThrough = 0;

describe('every entry, at each path', () => {
  for (const [name, { setUp, given, verdict }] of Object.entries(callers))
    test(`${name}: as declared`, async () => {
      await setUp();
      for (const operation of operations)
        for (const path of pathsOf(operation)) {
          const request = requestAt(path, operation);
          const { evidence, headers } = given();
          const seen = await verdictOf({
            ...request,
            headers: { ...request.headers, ...headers },
            ...(evidence && { evidence }),
          });
          const expected = isAccountData(operation.group) ? verdict(operation) : 'through';
          assert.equal(seen.verdict, expected, `${operation.id} at ${path}: ${seen.text}`);
          const sent = expected === 'through' && isSentOn(operation) ? 1 : 0;
          assert.equal(seen.sent, sent, `${operation.id} at ${path}`);
          cells++;
        }
    });

  test('a foreign account gets through nowhere: in a query, in a body, in a batch, in a list, at no path', async () => {
    await grant(user('owner'), all, scopes);
    for (const operation of operations.filter(({ group }) => isAccountData(group)))
      for (const path of pathsOf(operation)) {
        const own = { ...requestAt(path, operation), evidence: { claims: claimsOf('owner') } };
        const answered = await verdictOf(own);
        assert.equal(answered.verdict, 'through');
        for (const { request, code } of withForeign(own, operation)) {
          foreignTried++;
          const { status, sent, text } = await verdictOf(request);
          if (sent > 0) foreignThrough++;
          assert.deepEqual([status, sent], [code === 'account_not_granted' ? 403 : 400, 0], path);
          assert.equal((JSON.parse(text) as { code: string }).code, code);
        }
        if (!operation.accounts?.records) continue;
        foreignTried++;
        if (answered.text.includes(foreign)) foreignThrough++;
      }
    assert.equal(foreignThrough, 0);
  });

  test('so many cells there were', () => {
    const paths = operations.flatMap(pathsOf).length;
    assert.equal(cells, paths * Object.keys(callers).length);
    console.log(
      `${cells} requests of ${Object.keys(callers).length} kinds of callers to ${operations.length} operations at ${paths} paths, all as declared; foreign account through ${foreignThrough} of ${foreignTried}`,
    );
    assert.ok(foreignTried >= 500, `${foreignTried}`);
  });
});

interface Smuggled {
  readonly request: GatewayRequest;
  readonly code: RefusalCode;
}

/** The same request with the foreign account at each declared place in turn, and at each place where none belongs. */
function* withForeign(request: GatewayRequest, { accounts }: Operation): Generator<Smuggled> {
  const { query } = request;
  for (const declared of accounts?.query ?? []) {
    const replaced = query.map(([name, value]) => [name, name === declared ? foreign : value] as const);
    yield { request: { ...request, query: replaced }, code: 'account_not_granted' };
  }
  for (const name of ['account_id', 'accountId', 'ACCOUNT_ID', 'account_id[]'])
    for (const more of [
      [[name, foreign] as const, ...query],
      [...query, [name, foreign] as const],
    ])
      yield { request: { ...request, query: more }, code: 'invalid_parameter' };
  if (!request.body) return;
  const body = JSON.parse(new TextDecoder().decode(request.body)) as object;
  for (const keys of objectsIn(body))
    for (const name of ['account_id', 'accountId', 'ACCOUNT_ID', 'sub_accounts']) {
      const pointer = [...keys.map((one) => (typeof one === 'number' ? '*' : one)), name]
        .map((step) => `/${step}`)
        .join('');
      yield {
        request: { ...request, body: new TextEncoder().encode(JSON.stringify(withMember(body, keys, name))) },
        code: accounts?.body?.includes(pointer) ? 'account_not_granted' : 'invalid_parameter',
      };
    }
}

type Keys = readonly (string | number)[];

/** The way to every object of a body. */
function* objectsIn(value: unknown, keys: Keys = []): Generator<Keys> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield keys;
  for (const [name, inner] of Object.entries(value))
    yield* objectsIn(inner, [...keys, Array.isArray(value) ? Number(name) : name]);
}

function withMember(body: object, keys: Keys, name: string): object {
  const copy = structuredClone(body);
  const place = keys.reduce(
    (at, one) => at[one] as Record<string, unknown>,
    copy as Record<string | number, unknown>,
  );
  place[name] = foreign;
  return copy;
}
