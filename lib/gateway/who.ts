/**
 * The step `who`: identifies the sender of a request, and decides whether the sender may use its operation at all. It runs
 * before the request's body is read; `reach.ts` compares the accounts that the request names.
 */

import type { Directory, Grants, KeyedNames, Standing } from '../access/directory.ts';
import type { Principal, SenderEvidence, TokenClaims } from '../access/evidence.ts';
import { bearerToken, type TokenFault, type TokenVerifier, tokenFaults } from '../access/verifier.ts';
import { type Group, isAccountData } from '../catalogue/groups.ts';
import type { Operation } from '../catalogue/operation.ts';
import { type Scope, scopeOf, scopes } from '../catalogue/scopes.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import { isRefusal, notSent, type Refusal } from '../problem.ts';
import type { Parties } from './context.ts';
import type { GatewayRequest } from './http.ts';
import { everything, type Reach } from './reach.ts';

/** Dependencies for telling users apart. */
export interface AccessWiring {
  readonly directory: Directory;
  readonly names: KeyedNames;
  /** Verifies bearer tokens that no authorizer in front has verified. Default: such tokens count as missing. */
  readonly verifier: TokenVerifier | undefined;
  /** For each of the gateway's scopes, the token scopes of which one is enough. Default the scope's own name. */
  readonly tokenScopes: Readonly<Partial<Record<Scope, readonly string[]>>> | undefined;
  /** Groups of market data that need a user, too. Groups of account data always do. */
  readonly userGroups: readonly Group[];
}

export type AccessOptions = OptionsOf<AccessWiring, 'directory' | 'names'>;

export interface Who {
  /**
   * Identifies the sender, and returns the accounts that the sender may use with the operation.
   *
   * @param parties receives the sender's names, also when the request is refused
   */
  identify(operation: Operation, request: GatewayRequest, parties: Parties): Promise<Reach | Refusal>;
  /** Keyed names of the accounts for the report, separated by commas; undefined for no accounts. */
  nameOf(accounts: readonly string[]): Promise<string | undefined>;
}

/** Difference between two clocks for which a token is accepted after its expiry. */
const clockSkewMs = 60_000;

const maxAppNames = 1000;

/** Creates the step `who` for the gateway's clock. */
export type AccessStep = (clock: () => number) => Who;

export const accessStep =
  (access: AccessOptions): AccessStep =>
  (clock) =>
    createWho(access, clock);

function createWho(access: AccessOptions, clock: () => number): Who {
  const { directory, names, verifier } = access;
  const needsUser = ({ group }: Operation) =>
    isAccountData(group) || (access.userGroups?.includes(group) ?? false);

  async function claimsOf({ evidence, headers }: GatewayRequest): Promise<TokenClaims | Refusal | undefined> {
    if (evidence?.claims) {
      const isOver = evidence.claims.expiresAt * 1000 + clockSkewMs <= clock();
      return isOver ? tokenRefusal('expired') : evidence.claims;
    }
    if (!verifier || !headers.authorization) return undefined;
    const bearer = bearerToken([headers.authorization]);
    // The header may be an AWS signature's. But an unreadable token must not be replaced by an API key alone.
    if (!bearer.ok) return evidence?.iamArn ? undefined : tokenRefusal(bearer.fault);
    const verified = await verifier.verify(bearer.token);
    return verified.ok ? verified.claims : tokenRefusal(verified.fault);
  }

  /** Names by app id, remembered because most requests come from a few apps. */
  const appNames = new Map<string, string>();
  /** Adds the app's name to the report. A failure only leaves it out: the request is more important. */
  async function nameApp(id: string, parties: Parties): Promise<void> {
    const name = appNames.get(id) ?? (await names.nameOf('app', id).catch(() => undefined));
    if (name === undefined) return;
    parties.app = name;
    if (appNames.size < maxAppNames) appNames.set(id, name);
  }

  return {
    async nameOf(accounts) {
      const named = await Promise.all(accounts.map((account) => names.nameOf('account', account)));
      return named.join() || undefined;
    },
    async identify(operation, request, parties) {
      const { evidence = {} } = request;
      if (evidence.apiKeyId) await nameApp(evidence.apiKeyId, parties);
      if (!needsUser(operation)) return everything;
      const claims = await claimsOf(request);
      if (claims && isRefusal(claims)) return claims;
      if (claims?.clientId && !evidence.apiKeyId) await nameApp(claims.clientId, parties);
      const principal = claims ? userOf(claims) : principalOf(evidence);
      if (!principal) return noPrincipal(verifier !== undefined);
      let standing: Standing;
      try {
        standing = await directory.standing({
          principal,
          ...(claims && { token: tokenOf(claims) }),
          ...(claims && evidence.apiKeyId && { besideKey: evidence.apiKeyId }),
        });
      } catch {
        return { code: 'access_unavailable' };
      }
      parties.user = standing.user;
      if (standing.kind === 'revoked')
        return claims && !standing.isKey
          ? tokenRefusal('revoked')
          : forbidden(standing.isKey ? blockedKey : blocked);
      if (standing.kind === 'unknown' && !claims) return forbidden(unboundDetails[principal.kind]);
      const grants = standing.kind === 'granted' ? standing.grants : noGrants;
      return reachOf(operation, claims ? withClaims(grants, claims) : grants, access, claims);
    },
  };
}

const userOf = ({ issuer, subject }: TokenClaims): Principal => ({ kind: 'user', issuer, subject });

/** The principal of the strongest evidence: a signature was made for this request, an API key is shared by an app. */
function principalOf({ iamArn, apiKeyId, eventSource }: SenderEvidence): Principal | undefined {
  if (iamArn) return { kind: 'iam', arn: iamArn };
  if (eventSource) return { kind: 'source', name: eventSource };
  return apiKeyId ? { kind: 'key', id: apiKeyId } : undefined;
}

const tokenOf = ({ tokenId, clientId, issuedAt }: TokenClaims) => ({
  issuedAt,
  ...(tokenId !== undefined && { id: tokenId }),
  ...(clientId !== undefined && { clientId }),
});

const noGrants: Grants = { accounts: new Map(), userData: new Set() };

/** Replaces the granted accounts by the token's, if it names any. Its `*` is ignored, because it would mean all accounts. */
function withClaims(grants: Grants, { accounts }: TokenClaims): Grants {
  if (!accounts) return grants;
  const every = new Set(scopes);
  return { ...grants, accounts: new Map(accounts.filter((one) => one !== '*').map((one) => [one, every])) };
}

function reachOf(
  operation: Operation,
  { accounts, userData }: Grants,
  { tokenScopes }: AccessOptions,
  claims: TokenClaims | undefined,
): Reach | Refusal {
  const scope = scopeOf(operation);
  const accepted = tokenScopes?.[scope] ?? [scope];
  if (claims && !accepted.some((one) => claims.scopes.includes(one)))
    return insufficientScope(`The access token lacks the scope ${scope} of this operation.`);
  if (!isAccountData(operation.group)) return everything;
  const what = operation.accounts ? 'this operation' : 'what belongs to no account';
  const lacking = insufficientScope(`The caller has not been granted the scope ${scope} for ${what}.`);
  if (!operation.accounts) return userData.has(scope) ? everything : lacking;
  if (accounts.get('*')?.has(scope)) return everything;
  if ([...accounts.values()].some((granted) => granted.has(scope))) return { scope, accounts };
  return accounts.size > 0
    ? lacking
    : {
        code: 'account_not_granted',
        detail: `The caller has been granted no account; the gateway’s operator grants them. ${notSent}`,
      };
}

/** The refusal of a token that is not accepted. */
function tokenRefusal(fault: TokenFault): Refusal {
  if (fault === 'issuer_unavailable')
    return { code: 'access_unavailable', detail: `${tokenFaults[fault]} ${notSent}` };
  return fault === 'missing'
    ? { code: 'missing_token' }
    : { code: 'invalid_token', detail: tokenFaults[fault] };
}

/** Whether the refusal is that of an expired token. */
export const isExpiry = ({ code, detail }: Refusal): boolean =>
  code === 'invalid_token' && detail === tokenFaults.expired;

const forbidden = (why: string): Refusal => ({ code: 'forbidden', detail: `${why} ${notSent}` });

const insufficientScope = (why: string): Refusal => ({
  code: 'insufficient_scope',
  detail: `${why} ${notSent}`,
});

const noPrincipal = (takesTokens: boolean): Refusal =>
  takesTokens ? { code: 'missing_token' } : forbidden('The request does not show whom it comes from.');

const blocked = 'The caller was blocked.';
const blockedKey = 'The API key was blocked; another token does not help.';

/** Explains that nothing has been granted to the principal, nor to a user bound to it. */
const unboundDetails: Readonly<Record<Principal['kind'], string>> = {
  key: 'No user is bound to this API key, or one who has been granted nothing; and the request has no access token.',
  iam: 'Nothing has been granted to this AWS identity.',
  source: 'Nothing has been granted to this source of events.',
  user: 'Nothing has been granted to this user.',
};

/** Why `access` is not enough for the operations; undefined when it is. */
export function accessFault(
  access: AccessStep | 'single-user' | undefined,
  operations: readonly Operation[],
): string | undefined {
  const ofAccount = operations.find(({ group }) => isAccountData(group));
  if (access !== undefined || !ofAccount) return undefined;
  return `${ofAccount.id} belongs to an account: say who may use it, or single-user where every caller is the holder of the app key`;
}
