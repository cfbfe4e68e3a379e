/**
 * OpenID Connect issuer of the run: keys for this run, and access tokens for its users. The users are invented, so it asks
 * for no password; only this run accepts the tokens.
 */

import { createHash, randomUUID } from 'node:crypto';
import { scopes } from '../../lib/catalogue/scopes.ts';
import type { FormPage, LocalPage } from './page-answer.ts';
import type { HttpResponse } from './proxy-result.ts';

interface IssuerOptions {
  /** Issuer's name in tokens; known when the run listens. */
  readonly issuer: () => string;
  /** Names of the users, which are also the subjects of their tokens. */
  readonly users: readonly string[];
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

interface Issuer {
  /** Pages by their paths below the issuer's own. */
  readonly pages: ReadonlyMap<string, LocalPage>;
  readonly forms: ReadonlyMap<string, FormPage>;
}

/** Audience of the tokens. */
export const audience = 'countersign-local';

const lifetimeSeconds = 3600;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/**
 * @example
 * const issuer = await createIssuer({ issuer: () => `${url}/issuer`, users: ['ada', 'ben'] });
 */
export async function createIssuer({ issuer, users, clock = Date.now }: IssuerOptions): Promise<Issuer> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  const kid = randomUUID();
  const jwk = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid, use: 'sig', alg: 'ES256' };

  /** Signs an access token (RFC 9068). */
  async function sign(claims: object): Promise<string> {
    const signed = [{ alg: 'ES256', typ: 'at+jwt', kid }, claims].map(base64Json).join('.');
    const signature = await crypto.subtle.sign(algorithm, privateKey, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString('base64url')}`;
  }

  const codes = createCodes(clock);

  async function grant(fields: URLSearchParams): Promise<TokenAnswer | OAuthError> {
    const isByCode = fields.get('grant_type') === 'authorization_code';
    const tokenGrant = isByCode ? codes.take(fields) : readTokenRequest(fields, users);
    if ('error' in tokenGrant) return tokenGrant;
    const now = Math.floor(clock() / 1000);
    const { user, clientId, scope, lifetime } = tokenGrant;
    const claims = {
      iss: issuer(),
      sub: user,
      aud: audience,
      client_id: clientId,
      scope,
      jti: randomUUID(),
      // An expired token was issued before its end.
      iat: Math.min(now, now + lifetime - 1),
      exp: now + lifetime,
    };
    return { access_token: await sign(claims), token_type: 'Bearer', expires_in: lifetime, scope };
  }

  return {
    pages: new Map<string, LocalPage>([
      ['/.well-known/openid-configuration', () => asJson(200, configurationOf(issuer()))],
      ['/jwks.json', () => asJson(200, { keys: [jwk] })],
      ['/authorize', ({ query }) => authorize(query, users, codes)],
    ]),
    forms: new Map([
      [
        '/token',
        async (fields, accept) => {
          const granted = await grant(fields);
          if ('error' in granted) return asJson(400, granted);
          // A shell gets the token alone, so that it need not parse JSON.
          return accept === 'text/plain' ? asText(granted.access_token) : asJson(200, granted);
        },
      ],
    ]),
  };
}

interface TokenGrant {
  readonly user: string;
  readonly scope: string;
  readonly clientId: string;
  readonly lifetime: number;
}

interface Code extends TokenGrant {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly until: number;
}

const codeLifetimeMs = 60_000;

/** Authorization codes (RFC 6749, 4.1), each for one use by the client that requested it (RFC 7636). */
function createCodes(clock: () => number) {
  const issued = new Map<string, Code>();
  return {
    issue(code: Omit<Code, 'until'>): string {
      const id = randomUUID();
      issued.set(id, { ...code, until: clock() + codeLifetimeMs });
      return id;
    },
    take(fields: URLSearchParams): TokenGrant | OAuthError {
      const id = fields.get('code') ?? '';
      const code = issued.get(id);
      issued.delete(id);
      const refused = (error_description: string) => ({ error: 'invalid_grant', error_description }) as const;
      if (!code || code.until < clock())
        return refused('The code is not known, was used, or is older than a minute.');
      if (fields.get('redirect_uri') !== code.redirectUri || fields.get('client_id') !== code.clientId)
        return refused('The code was issued to another client_id, or for another redirect_uri.');
      const digest = createHash('sha256')
        .update(fields.get('code_verifier') ?? '')
        .digest('base64url');
      return digest === code.challenge
        ? code
        : refused('The code_verifier is not that of the code_challenge.');
    },
  };
}

/** Schemes of browsers and systems, which would run or open something other than an app. */
const foreignSchemes =
  'https?|javascript|data|vbscript|intent|ftps?|file|blob|about|view-source|wss?|mailto|tel|sms|ms-[a-z-]+';
/** Redirects to this machine or to an app's own scheme; the run sends a browser to no other place. */
const ownRedirect = new RegExp(
  `^(https?://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?(/|$)|(?!(${foreignSchemes}):)[a-z][a-z0-9+.-]*:)`,
  'i',
);

/** Asks who signs in, and leads back with a code; `login_hint` names a user and skips the question. */
function authorize(
  query: URLSearchParams,
  users: readonly string[],
  codes: ReturnType<typeof createCodes>,
): HttpResponse {
  const parameter = (name: string) => query.get(name) ?? '';
  const redirectUri = parameter('redirect_uri');
  if (!ownRedirect.test(redirectUri))
    return asText('redirect_uri must be an app’s own scheme, or an address of this machine.', 400);
  const back = (answer: Readonly<Record<string, string>>) => {
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries({ ...answer, state: parameter('state') }))
      if (value) url.searchParams.set(name, value);
    return seeOther(url.href);
  };
  const scope =
    parameter('scope')
      .split(' ')
      .filter((one) => !openIdScopes.includes(one))
      .join(' ') || scopes.join(' ');
  const fault = authorizeFault(parameter, scope);
  if (fault) return back({ ...fault });
  const user = users.find((name) => name === parameter('login_hint'));
  if (user === undefined) return asText(choicePage(query, users), 200, 'text/html; charset=utf-8');
  const challenge = parameter('code_challenge');
  const clientId = parameter('client_id');
  return back({
    code: codes.issue({ user, scope, clientId, lifetime: lifetimeSeconds, redirectUri, challenge }),
  });
}

/** Scopes that OpenID Connect libraries request besides; no token contains them. */
const openIdScopes = ['openid', 'profile', 'email', 'offline_access'];

function authorizeFault(given: (name: string) => string, scope: string): OAuthError | undefined {
  const invalid = (error_description: string) => ({ error: 'invalid_request', error_description }) as const;
  if (given('response_type') !== 'code') return invalid('response_type must be code.');
  if (!/^[!-~]{1,64}$/.test(given('client_id'))) return invalid('client_id is a name without spaces.');
  if (given('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(given('code_challenge')))
    return invalid('code_challenge must be that of a verifier, with code_challenge_method=S256.');
  return unknownScope(scope);
}

/** Offers links only, because there is no password to ask for. */
const choicePage = (query: URLSearchParams, users: readonly string[]): string => {
  const links = users.map((name) => {
    const signInQuery = new URLSearchParams(query);
    signInQuery.set('login_hint', name);
    return `<li><a href="authorize?${signInQuery.toString().replaceAll('&', '&amp;')}">Sign in as ${name}</a></li>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Sign in</title></head><body><main><h1>Who signs in?</h1><p>The users of this run are invented, so that no password is asked for.</p><ul>${links.join('')}</ul></main></body></html>`;
};

interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
}

/** Error response of RFC 6749, 5.2. */
interface OAuthError {
  readonly error: 'invalid_request' | 'invalid_grant' | 'invalid_scope' | 'unsupported_grant_type';
  readonly error_description: string;
}

/** Reads a password grant (RFC 6749, 4.3.2). `expires_in` is this issuer's own, for trying out an expired token. */
function readTokenRequest(fields: URLSearchParams, users: readonly string[]): TokenGrant | OAuthError {
  const refused = (error: OAuthError['error'], error_description: string): OAuthError => ({
    error,
    error_description,
  });
  if (fields.get('grant_type') !== 'password')
    return refused(
      'unsupported_grant_type',
      'Send the form grant_type=password&username=NAME, or sign in at /issuer/authorize for a code.',
    );
  const user = users.find((name) => name === fields.get('username'));
  if (user === undefined)
    return refused('invalid_grant', `No user has this name; this run has ${users.join(', ')}.`);
  const scope = fields.get('scope') || scopes.join(' ');
  const fault = unknownScope(scope);
  if (fault) return fault;
  const seconds = fields.get('expires_in') ?? String(lifetimeSeconds);
  const clientId = fields.get('client_id') || 'local';
  if (!/^-?\d{1,6}$/.test(seconds) || !/^[!-~]{1,64}$/.test(clientId))
    return refused('invalid_request', 'expires_in is a number of seconds, client_id a name without spaces.');
  return { user, scope, clientId, lifetime: Number(seconds) };
}

const unknownScope = (scope: string): OAuthError | undefined =>
  scope.split(' ').some((one) => !(scopes as readonly string[]).includes(one))
    ? {
        error: 'invalid_scope',
        error_description: `The scopes are ${scopes.join(', ')}, with spaces between them.`,
      }
    : undefined;

/** Metadata that OpenID Connect libraries read first. */
const configurationOf = (issuer: string) => ({
  issuer,
  jwks_uri: `${issuer}/jwks.json`,
  token_endpoint: `${issuer}/token`,
  authorization_endpoint: `${issuer}/authorize`,
  grant_types_supported: ['authorization_code', 'password'],
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  subject_types_supported: ['public'],
  scopes_supported: scopes,
  token_endpoint_auth_methods_supported: ['none'],
  id_token_signing_alg_values_supported: ['ES256'],
});

const base64Json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const asJson = (status: number, body: object) => responseOf(status, 'application/json', JSON.stringify(body));
const asText = (text: string, status = 200, type = 'text/plain') => responseOf(status, type, text);

const seeOther = (location: string): HttpResponse => ({
  status: 303,
  headers: new Map([
    ['location', [location]],
    ['cache-control', ['no-store']],
  ]),
  body: Buffer.from(''),
});

const responseOf = (status: number, contentType: string, body: string): HttpResponse => ({
  status,
  headers: new Map([
    ['content-type', [contentType]],
    ['content-security-policy', ["default-src 'none'; frame-ancestors 'none'"]],
    ['cache-control', ['no-store']],
  ]),
  body: Buffer.from(body),
});
