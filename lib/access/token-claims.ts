/** Checks the claims of a token with a valid signature: it must be an access token for this API, and valid now. */

import { type AuthSettings, listOf } from './auth-settings.ts';
import type { TokenClaims } from './evidence.ts';
import type { TokenFault } from './verifier.ts';

type Payload = Readonly<Record<string, unknown>>;
type ClaimRules = Pick<AuthSettings, 'issuer' | 'audience' | 'clientIds' | 'accountsClaim'>;

/** Tolerated difference between the clocks of issuer and gateway. */
export const skewSeconds = 60;

/** End of the year 9999: a larger number is no date. */
const lastSecond = 253_402_300_799;

const maxValues = 200;

/**
 * @param type `typ` of the token's header, as `readToken` returns it
 * @param now in milliseconds
 */
export function readClaims(
  payload: Payload,
  type: string | undefined,
  rules: ClaimRules,
  now: number,
): TokenClaims | { readonly fault: TokenFault } {
  const { sub, jti, exp, iat, nbf, cnf } = payload;
  const client = clientIn(payload);
  const audiences = textsIn(payload.aud);
  const scopes = [payload.scope, payload.scp, payload.permissions].map(wordsIn);
  const accounts = rules.accountsClaim === undefined ? undefined : accountsIn(payload[rules.accountsClaim]);
  const [subject, tokenId] = [textIn(sub), textIn(jti)];
  const [expiresAt, issuedAt, notBefore] = [exp, iat, nbf].map(secondsIn);
  if (payload.iss !== rules.issuer) return { fault: 'wrong_issuer' };
  if (!isAccessToken(payload, type, client, audiences)) return { fault: 'not_an_access_token' };
  if (
    [subject, tokenId, client, audiences, accounts, expiresAt, issuedAt, notBefore, ...scopes].includes(wrong)
  )
    return { fault: 'wrong_claim' };
  if (!isFor(audiences as readonly string[] | undefined, rules)) return { fault: 'wrong_audience' };
  if (rules.clientIds && !rules.clientIds.some((id) => id === client)) return { fault: 'wrong_client' };
  // Such a token is bound to a key so that a thief cannot use it. The gateway does not check the key, so a thief could.
  if (cnf !== undefined) return { fault: 'sender_constrained' };
  if (typeof subject !== 'string' || typeof expiresAt !== 'number' || typeof issuedAt !== 'number')
    return { fault: 'incomplete' };
  const seconds = now / 1000;
  if (expiresAt + skewSeconds <= seconds) return { fault: 'expired' };
  if (Math.max(issuedAt, typeof notBefore === 'number' ? notBefore : 0) - skewSeconds > seconds)
    return { fault: 'not_yet_valid' };
  return {
    issuer: rules.issuer,
    subject,
    scopes: [...new Set(scopes.flatMap((some) => (Array.isArray(some) ? (some as string[]) : [])))],
    issuedAt,
    expiresAt,
    ...(typeof client === 'string' && { clientId: client }),
    ...(typeof tokenId === 'string' && { tokenId }),
    ...(rules.accountsClaim !== undefined && { accounts: Array.isArray(accounts) ? accounts : [] }),
  };
}

/** Stands for a claim that is present and malformed. */
const wrong = Symbol('wrong');
type Wrong = typeof wrong;

/**
 * Whether a token is an access token, as far as its contents show. `at+jwt`, `token_use` and a payload's `typ` state it.
 * A token without them counts as an ID token if it has an ID token's claims, or if its audience is its own app and it has
 * no scope.
 */
function isAccessToken(
  payload: Payload,
  type: string | undefined,
  client: unknown,
  audiences: readonly string[] | Wrong | undefined,
): boolean {
  const { token_use: use, typ } = payload;
  if (type !== undefined && type !== 'jwt' && type !== 'at+jwt') return false;
  if (use !== undefined && use !== 'access') return false;
  if (typ !== undefined && typ !== 'Bearer') return false;
  if (type === 'at+jwt' || use === 'access' || typ === 'Bearer') return true;
  if (['nonce', 'at_hash', 'c_hash', 's_hash'].some((claim) => claim in payload)) return false;
  const isScoped = ['scope', 'scp', 'permissions'].some((claim) => claim in payload);
  return (
    isScoped || !(Array.isArray(audiences) && audiences.some((one) => one === client || client === undefined))
  );
}

/** Requires one of the configured audiences: otherwise another API could use the tokens here that it receives. */
function isFor(audiences: readonly string[] | undefined, { audience }: ClaimRules): boolean {
  if (audience === undefined) return audiences === undefined;
  const ours = listOf(audience);
  return audiences?.some((one) => ours.includes(one)) ?? false;
}

/** Reads the id of the token's app, for which issuers use several claims. */
function clientIn({ client_id, azp, cid, appid }: Payload): string | Wrong | undefined {
  return textIn(client_id ?? azp ?? cid ?? appid);
}

function textIn(value: unknown): string | Wrong | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' && isNameText(value) ? value : wrong;
}

function secondsIn(value: unknown): number | Wrong | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'number' && value > 0 && value <= lastSecond ? value : wrong;
}

/** Reads a claim that is one text or a list of texts. */
function textsIn(value: unknown): readonly string[] | Wrong | undefined {
  if (value === undefined) return undefined;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.length <= maxValues && list.every((one) => typeof textIn(one) === 'string')
    ? (list as readonly string[])
    : wrong;
}

/** Reads a claim that is a list or words with spaces between them. */
const wordsIn = (value: unknown): readonly string[] | Wrong | undefined =>
  textsIn(typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : value);

/** Reads the ids of accounts. `*` is refused: only the operator may grant every account. */
function accountsIn(value: unknown): readonly string[] | Wrong | undefined {
  const ids = textsIn(value);
  return Array.isArray(ids) && ids.some((id) => !/^[\w.-]{1,64}$/.test(id)) ? wrong : ids;
}

const maxNameLength = 512;

/**
 * Whether a token may name a user, an app or itself by this text. Commands of operators accept the same texts, so that
 * they can block each name that is accepted.
 *
 * Characters that make two names look alike are refused: those of no width, a space at an end or beside another. So are
 * control characters, which could end a line of a log.
 *
 * @example
 * isNameText('CN=Ada Lovelace'); // true
 * isNameText('ada '); // false
 */
export const isNameText = (text: string): boolean =>
  text.length <= maxNameLength &&
  /^[^\p{Cc}\p{Cf}\p{Cs}\p{Z}]+(?: [^\p{Cc}\p{Cf}\p{Cs}\p{Z}]+)*$/u.test(text);
