/**
 * Any sequence of changes by operators, with the store away at times: what the directory says was true at most 60 s ago,
 * at most 30 s while the store is there, and it rejects only when the store is away.
 */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { createAccessAdmin } from '../../lib/access/admin.ts';
import { AccessChangeError, type GrantChange } from '../../lib/access/change.ts';
import { createDirectory } from '../../lib/access/create-directory.ts';
import type { Standing } from '../../lib/access/directory.ts';
import type { Principal } from '../../lib/access/evidence.ts';
import { createIdentity, nameOfPrincipal } from '../../lib/access/identity.ts';
import { isPrincipal } from '../../lib/access/records.ts';
import { type AccessStore, createMemoryAccessStore } from '../../lib/access/store.ts';
import type { Scope } from '../../lib/catalogue/scopes.ts';

const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
const issuer = 'https://issuer.example';
const users = ['alice', 'bob'].map((subject) => ({ kind: 'user', issuer, subject }) as const);
const others = [
  { kind: 'key', id: 'key-1' },
  { kind: 'iam', arn: 'arn:aws:iam::123456789012:role/traders' },
] as const;
const principals: readonly Principal[] = [...users, ...others];
const start = Date.UTC(2026, 10, 22, 15);

/** The model: an independent form of the rules, over plain sets. */
interface Holder {
  readonly grants: ReadonlySet<string>;
  readonly owner?: string;
  readonly blocked: boolean;
  readonly notBefore: number;
}
interface State {
  readonly holders: ReadonlyMap<string, Holder>;
  /** By kind and id, with the time until which they are blocked. */
  readonly blocked: ReadonlyMap<string, number>;
}

const nameOf = (principal: Principal) => JSON.stringify(principal);
const none: Holder = { grants: new Set(), blocked: false, notBefore: 0 };

/** Undefined: the change is to be refused. */
function next(state: State, change: GrantChange): State | undefined {
  const { subject } = change;
  if (!isPrincipal(subject)) {
    const blocked = new Map(state.blocked);
    const key = `${subject.kind} ${subject.id}`;
    if (change.action === 'block')
      blocked.set(key, Math.max(blocked.get(key) ?? 0, change.expiresAt ?? Number.POSITIVE_INFINITY));
    else blocked.delete(key);
    return { ...state, blocked };
  }
  const name = nameOf(subject);
  const before = state.holders.get(name) ?? none;
  const put = (holder: Partial<Holder>): State => ({
    ...state,
    holders: new Map(state.holders).set(name, { ...before, ...holder }),
  });
  if (change.action === 'grant' || change.action === 'revoke') {
    if (change.action === 'grant' && before.owner) return undefined;
    const isRevoke = change.action === 'revoke';
    const accounts = isRevoke && change.accounts.includes('*') ? ['A', '*'] : change.accounts;
    const places = [...accounts, ...(change.userData ? ['user data'] : [])];
    const scopes = isRevoke && change.scopes.length === 0 ? ['read', 'trade', 'write'] : change.scopes;
    const touched = places.flatMap((place) => scopes.map((scope) => `${place} ${scope}`));
    const grants = new Set(before.grants);
    for (const one of touched)
      if (isRevoke) grants.delete(one);
      else grants.add(one);
    return put({ grants });
  }
  if (change.action === 'revoke-all') return put({ grants: new Set() });
  if (change.action === 'bind')
    return subject.kind === 'user' || before.grants.size > 0
      ? undefined
      : put({ owner: nameOf(change.user) });
  if (change.action === 'unbind') {
    const { owner: _, ...rest } = before;
    return { ...state, holders: new Map(state.holders).set(name, rest) };
  }
  if (change.action === 'sign-out') return put({ notBefore: Math.max(before.notBefore, change.notBefore) });
  return put({ blocked: change.action === 'block' });
}

interface Question {
  readonly principal: Principal;
  readonly token?: { readonly id?: string; readonly clientId?: string; readonly issuedAt: number };
  /** Id of a key that comes with the token. */
  readonly besideKey?: string;
}

/** What the model says, where the principal, its owner, and the token were looked at in different states. */
function said(
  [first, second, third]: readonly State[],
  { principal, token, besideKey }: Question,
  now: number,
): string {
  const holder = first?.holders.get(nameOf(principal)) ?? none;
  const owner = holder.owner === undefined ? holder : (second?.holders.get(holder.owner) ?? none);
  const user = holder.owner ?? nameOf(principal);
  const isBlocked = (key: string) => (third?.blocked.get(key) ?? 0) > now;
  const beside = besideKey === undefined ? none : third?.holders.get(nameOf({ kind: 'key', id: besideKey }));
  if (beside?.blocked) return `revoked by its key ${nameOf(principal)}`;
  if (holder.blocked || owner.blocked) return `revoked ${user}`;
  if (token && token.issuedAt < holder.notBefore) return `revoked ${user}`;
  if (token && (isBlocked(`token ${token.id}`) || isBlocked(`app ${token.clientId}`)))
    return `revoked ${user}`;
  return owner.grants.size === 0 ? `unknown ${user}` : `granted ${user} ${[...owner.grants].sort()}`;
}

const hashes = new Map<string, string>();
async function inModelWords(standing: Standing): Promise<string> {
  for (const one of principals) hashes.set(await nameOfPrincipal(identity.names, one), nameOf(one));
  const user = hashes.get(standing.user);
  if (standing.kind === 'revoked' && standing.isKey) return `revoked by its key ${user}`;
  if (standing.kind !== 'granted') return `${standing.kind} ${user}`;
  const { accounts, userData } = standing.grants;
  const places: [string, ReadonlySet<Scope>][] = [...accounts, ['user data', userData]];
  const grants = places.flatMap(([place, scopes]) => [...scopes].map((scope) => `${place} ${scope}`));
  return `granted ${user} ${grants.sort()}`;
}

const oneOf = <T>(all: readonly T[]) => fc.constantFrom(...all);
const scopes = fc.subarray<Scope>(['read', 'trade', 'write'], { minLength: 1 });
const about = {
  accounts: fc.subarray(['A', '*'], { minLength: 1 }),
  userData: fc.boolean(),
};
const blockable = fc.oneof(
  oneOf(principals),
  fc.record({ kind: oneOf(['token', 'app'] as const), id: oneOf(['1', '2']) }),
);
const change = (now: number): fc.Arbitrary<GrantChange> =>
  fc.oneof(
    {
      arbitrary: fc.record({
        action: fc.constant('grant' as const),
        subject: oneOf(principals),
        ...about,
        scopes,
      }),
      weight: 4,
    },
    fc.record({
      action: fc.constant('revoke' as const),
      subject: oneOf(principals),
      ...about,
      scopes: fc.oneof(scopes, fc.constant([])),
    }),
    fc.record({ action: fc.constant('revoke-all' as const), subject: oneOf(principals) }),
    {
      arbitrary: fc.record({
        action: fc.constant('bind' as const),
        subject: oneOf(principals),
        user: oneOf(users),
      }),
      weight: 2,
    },
    fc.record({ action: fc.constant('unbind' as const), subject: oneOf(principals) }),
    fc.record({ action: oneOf(['block', 'unblock'] as const), subject: blockable }),
    fc.record({
      action: fc.constant('block' as const),
      subject: fc.record({ kind: fc.constant('token' as const), id: oneOf(['1', '2']) }),
      expiresAt: fc.integer({ min: 1, max: 300 }).map((seconds) => now + 1000 * seconds),
    }),
    fc.record({
      action: fc.constant('sign-out' as const),
      subject: oneOf(users),
      notBefore: fc.integer({ min: -10, max: 10 }).map((seconds) => start / 1000 + seconds),
    }),
  );

const question: fc.Arbitrary<Question> = fc.oneof(
  fc.record(
    {
      principal: oneOf<Principal>(users),
      besideKey: oneOf([others[0].id, 'another']),
      token: fc.record(
        {
          id: oneOf(['1', '2']),
          clientId: oneOf(['1', '2']),
          issuedAt: fc.integer({ min: -10, max: 10 }).map((seconds) => start / 1000 + seconds),
        },
        { requiredKeys: ['issuedAt'] },
      ),
    },
    { requiredKeys: ['principal', 'token'] },
  ),
  fc.record({ principal: oneOf(principals) }),
);

type Step =
  | { readonly pass: number }
  | { readonly isAway: boolean }
  | { readonly change: GrantChange }
  | { readonly ask: Question };

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 45_000 }) }), weight: 3 },
  { arbitrary: fc.record({ isAway: oneOf([true, false, false]) }), weight: 1 },
  { arbitrary: fc.record({ change: change(start) }), weight: 4 },
  { arbitrary: fc.record({ ask: question }), weight: 6 },
);

async function play(steps: readonly Step[], maxCachedBytes?: number): Promise<Record<string, number>> {
  const memory = createMemoryAccessStore();
  let now = start;
  let isAway = false;
  let awayUntil = 0;
  const seen: Record<string, number> = { rejected: 0 };
  const store: Pick<AccessStore, 'read'> = {
    read: async (keys) => (isAway ? Promise.reject(new Error('away')) : memory.read(keys)),
  };
  const clock = () => now;
  const admin = createAccessAdmin({ store: memory, identity, by: 'test', clock });
  const directory = createDirectory({ store, identity, clock, ...(maxCachedBytes && { maxCachedBytes }) });
  let state: State = { holders: new Map(), blocked: new Map() };
  /** States with the time at which each ended. */
  const past: { readonly state: State; readonly until: number }[] = [];
  for (const one of steps) {
    if ('pass' in one) now += one.pass;
    else if ('isAway' in one) {
      if (isAway) awayUntil = now;
      isAway = one.isAway;
    } else if ('change' in one) {
      const after = next(state, one.change);
      const applied = await admin.apply(one.change).catch((error: unknown) => error);
      assert.equal(applied instanceof AccessChangeError, after === undefined, String(applied));
      assert.ok(applied instanceof AccessChangeError || !(applied instanceof Error), String(applied));
      if (after) past.push({ state, until: now });
      state = after ?? state;
    } else {
      const standing = await directory.standing(one.ask).catch(() => undefined);
      if (!standing) {
        assert.ok(isAway, 'it rejects only while the store is away');
        seen.rejected = (seen.rejected ?? 0) + 1;
        continue;
      }
      seen[standing.kind] = (seen[standing.kind] ?? 0) + 1;
      // A store that failed is asked again a second later.
      const bound = isAway || now - awayUntil < 1000 ? 60_000 : 30_000;
      const states = [state, ...past.filter(({ until }) => until > now - bound).map((old) => old.state)];
      const possible = new Set(
        states.flatMap((a) => states.flatMap((b) => states.map((c) => said([a, b, c], one.ask, now)))),
      );
      const words = await inModelWords(standing);
      assert.ok(possible.has(words), `${words} is none of ${[...possible].join(' | ')}`);
    }
  }
  return seen;
}

const total: Record<string, number> = {};

test('any sequence: the directory says what the model says, in time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
      for (const [kind, count] of Object.entries(await play(steps))) total[kind] = (total[kind] ?? 0) + count;
    }),
    { numRuns: 60 },
  );
  // The sequences reach everything that the directory can say.
  for (const kind of ['rejected', 'unknown', 'revoked', 'granted'])
    assert.ok((total[kind] ?? 0) > 30, `${kind}: ${total[kind]}`);
});

test('the same with a memory that holds three records', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
      await play(steps, 1500);
    }),
    { numRuns: 40 },
  );
});
