/** The upstream's operations on access tokens, for the operator's command and for the scheduled check. */

import { listAccounts } from '../catalogue/accounts.ts';
import { checkToken, createToken } from '../catalogue/auth.ts';
import { getConfig } from '../catalogue/config.ts';
import { createClient } from '../client/client.ts';
import { direct } from '../client/direct.ts';
import { isClientError } from '../client/errors.ts';
import type { Credential } from '../gateway/credential.ts';
import { createRedactor } from '../gateway/redact.ts';
import { isTokenRefusal, stemOf } from '../upstream/upstream-code.ts';

const statuses = ['PENDING', 'NORMAL', 'INVALID', 'EXPIRED'] as const;

type TokenStatus = (typeof statuses)[number];

export interface TokenState {
  readonly token: string;
  readonly status: TokenStatus;
  /** Unix time in milliseconds; absent where the upstream names none. */
  readonly expiresAt?: number | undefined;
}

export interface TokenCalls {
  /** Whether the upstream requires an access token besides the signature. */
  isNeeded(): Promise<boolean>;
  check(token: string): Promise<TokenState>;
  /** Creates a token, or renews the earlier one. */
  create(earlier?: string): Promise<TokenState>;
  /** Uses the token for one read, because use prolongs a token's life: false when the token was refused. */
  use(token: string): Promise<boolean>;
}

/** A failed call. Its message holds status and error code, and nothing else of the upstream's answer. */
export class TokenCallError extends Error {
  override readonly name = 'TokenCallError';
  /** The upstream refused, so that the call had no effect. */
  readonly isRefusal: boolean;
  constructor(message: string, isRefusal: boolean) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

interface TokenCallsOptions {
  readonly baseUrl: string;
  readonly credential: Credential;
  /** Other paths at the upstream, by operation id. */
  readonly paths?: Readonly<Record<string, string>>;
  /** Time limit of one call. Default 10 seconds. */
  readonly timeoutMs?: number;
}

const tokenOperations = { getConfig, checkToken, createToken, listAccounts };

/**
 * Each method sends one request, outside the limiter. The upstream counts the token operations by themselves, 10 in 10 s,
 * and callers send one every 5 s at most; `use` is called once in hours, and only while no gateway uses the token.
 *
 * @throws TypeError for a base URL that is neither https nor loopback; methods reject with a TokenCallError
 */
export function createTokenCalls({
  baseUrl,
  credential,
  paths = {},
  ...options
}: TokenCallsOptions): TokenCalls {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const own = Object.fromEntries(Object.entries(paths).filter(([id]) => Object.hasOwn(tokenOperations, id)));
  const clientWith = (accessToken?: string) =>
    createClient(
      tokenOperations,
      direct({ baseUrl, signer: credential.signer, ...(accessToken && { accessToken }) }),
      {
        timeoutMs,
        paths: own,
      },
    );
  const client = clientWith();
  return {
    async isNeeded() {
      const config = await withSafeErrors('getConfig', credential, [], () => client.getConfig());
      if (typeof config?.token_check_enabled === 'boolean') return config.token_check_enabled;
      throw new TokenCallError('getConfig does not say whether a token is needed', false);
    },
    async check(token) {
      try {
        return stateIn(
          'checkToken',
          await withSafeErrors('checkToken', credential, [token], () => client.checkToken({ token })),
          token,
        );
      } catch (error) {
        // The upstream refuses a text that does not have a token's form.
        if (error instanceof RefusedCall && (error.status === 400 || error.status === 417))
          return { token, status: 'INVALID' };
        throw error;
      }
    },
    create: async (earlier) =>
      stateIn(
        'createToken',
        await withSafeErrors('createToken', credential, earlier === undefined ? [] : [earlier], () =>
          client.createToken(earlier === undefined ? {} : { token: earlier }),
        ),
      ),
    async use(token) {
      try {
        await withSafeErrors('listAccounts', credential, [token], () => clientWith(token).listAccounts());
        return true;
      } catch (error) {
        if (error instanceof RefusedCall && isTokenRefusal(error.status, stemOf(error.errorCode)))
          return false;
        throw error;
      }
    },
  };
}

class RefusedCall extends TokenCallError {
  readonly status: number;
  readonly errorCode: string | undefined;
  constructor(operation: string, status: number, errorCode: string | undefined) {
    super(`${operation} was refused: ${[status, errorCode].filter(Boolean).join(' ')}`, true);
    this.status = status;
    this.errorCode = errorCode;
  }
}

/** Copies only certainly harmless text into an error: an upstream may quote the secrets that it was sent. */
async function withSafeErrors<T>(
  operation: string,
  credential: Credential,
  tokens: readonly string[],
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isClientError(error)) throw error;
    if (error.kind !== 'refused') throw new TokenCallError(`${operation} failed: ${error.kind}`, false);
    const { status, errorCode } = error;
    const said = errorCode && createRedactor(tokens)(credential.redact(errorCode));
    throw new RefusedCall(operation, status, said?.replace(/[^\w.-]/g, '?').slice(0, 64));
  }
}

/** Reads each member by itself: the documents give the time of expiry two names and no format. */
function stateIn(operation: string, answer: unknown, asked?: string): TokenState {
  const { token = asked, status, expires_at, expires } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  const known = statuses.find((one) => one === status);
  if (typeof token !== 'string' || !/^[!-~]+$/.test(token) || !known)
    throw new TokenCallError(`${operation} names no token or no status that is known`, false);
  const expiresAt = momentOf(expires_at) ?? momentOf(expires);
  return { token, status: known, expiresAt };
}

function momentOf(value: unknown): number | undefined {
  const moment =
    typeof value === 'string' && !/^\d+$/.test(value) ? Date.parse(value) : Number(value ?? Number.NaN);
  // A present-day time in seconds has ten digits, so a small number is not in milliseconds.
  return Number.isFinite(moment) && moment > 1e11 ? moment : undefined;
}
