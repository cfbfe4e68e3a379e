/** People, keys and tokens of a test: a directory in memory, names, and a verifier of tokens that the test made up. */

import type { Grants, Standing, StandingQuestion } from '../../lib/access/directory.ts';
import type { Principal, TokenClaims } from '../../lib/access/evidence.ts';
import type { TokenFault } from '../../lib/access/verifier.ts';
import type { Scope } from '../../lib/catalogue/scopes.ts';
import type { AccessOptions } from '../../lib/gateway/index.ts';
import { sha256Hex } from '../../lib/kernel/key-text.ts';

export const issuer = 'https://issuer.example';

export const user = (subject: string): Principal => ({ kind: 'user', issuer, subject });
export const key = (id: string): Principal => ({ kind: 'key', id });
export const iam = (arn: string): Principal => ({ kind: 'iam', arn });
export const source = (name: string): Principal => ({ kind: 'source', name });

export const grantsOf = (
  accounts: Readonly<Record<string, readonly Scope[]>>,
  userData: readonly Scope[] = [],
): Grants => ({
  accounts: new Map(Object.entries(accounts).map(([account, scopes]) => [account, new Set(scopes)])),
  userData: new Set(userData),
});

export const claimsOf = (subject: string, change: Partial<TokenClaims> = {}): TokenClaims => ({
  issuer,
  subject,
  clientId: 'the-app',
  scopes: ['read', 'trade', 'write'],
  issuedAt: 1_760_000_000,
  // The year 2200: tests run on several clocks.
  expiresAt: 7_258_118_400,
  ...change,
});

/** One world of users for one test. */
export function createTestAccess(options: Partial<AccessOptions> = {}) {
  const standings = new Map<string, Standing>();
  const tokens = new Map<string, TokenClaims | TokenFault>();
  const questions: StandingQuestion[] = [];
  const state = { isAway: false };
  const nameOf = async (...texts: readonly string[]) => (await sha256Hex(texts.join('\n'))).slice(0, 22);
  const nameOfPrincipal = (principal: Principal) => nameOf('user', JSON.stringify(principal));
  const access: AccessOptions = {
    directory: {
      async standing(question) {
        questions.push(question);
        if (state.isAway) throw new Error('the directory is away');
        const name = await nameOfPrincipal(question.principal);
        const { besideKey } = question;
        const ofKey = besideKey && standings.get(await nameOfPrincipal(key(besideKey)));
        if (ofKey && ofKey.kind === 'revoked') return { kind: 'revoked', user: name, isKey: true };
        return standings.get(name) ?? { kind: 'unknown', user: name };
      },
    },
    names: { nameOf },
    verifier: {
      async verify(token) {
        const known = tokens.get(token) ?? 'malformed';
        return typeof known === 'string' ? { ok: false, fault: known } : { ok: true, claims: known };
      },
    },
    ...options,
  };
  return {
    access,
    state,
    questions,
    nameOf,
    /** @param standsFor whose the principal is, where it is another's */
    async grant(principal: Principal, grants: Grants, standsFor = principal) {
      const name = await nameOfPrincipal(standsFor);
      standings.set(await nameOfPrincipal(principal), { kind: 'granted', user: name, grants });
    },
    async revoke(principal: Principal) {
      const name = await nameOfPrincipal(principal);
      standings.set(name, { kind: 'revoked', user: name });
    },
    /** A bearer token that stands for these claims, or is wrong in this way. */
    token(known: TokenClaims | TokenFault): string {
      const token = `token-${tokens.size + 1}`;
      tokens.set(token, known);
      return token;
    },
  };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
