/**
 * The run's own issuer of OpenID Connect: keys for this run, and access tokens for its users. Its users are invented,
 * so that it asks for no password; the tokens are worth something to this run alone.
 */

import { randomUUID } from 'node:crypto';
import { scopes } from '../../lib/catalogue/scopes.ts';
import type { FormPage, Page } from './pages.ts';
import type { HttpResponse } from './proxy-result.ts';

export interface IssuerOptions {
  /** As it stands in tokens; known when the run listens. */
  readonly issuer: () => string;
  /** The names, which are the subjects of the tokens, too. */
  readonly users: readonly string[];
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface Issuer {
  /** By their paths below the issuer's own. */
  readonly pages: ReadonlyMap<string, Page>;
  readonly forms: ReadonlyMap<string, FormPage>;
}

/** Whom the tokens are for. */
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

  /** RFC 9068. */
  async function sign(claims: object): Promise<string> {
    const signed = [{ alg: 'ES256', typ: 'at+jwt', kid }, claims].map(base64Json).join('.');
    const signature = await crypto.subtle.sign(algorithm, privateKey, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString('base64url')}`;
  }

  async function grant(fields: URLSearchParams): Promise<TokenAnswer | OAuthError> {
    const asked = readTokenRequest(fields, users);
    if ('error' in asked) return asked;
    const now = Math.floor(clock() / 1000);
    const { user, clientId, scope, lifetime } = asked;
    const claims = {
      iss: issuer(),
      sub: user,
      aud: audience,
      client_id: clientId,
      scope,
      jti: randomUUID(),
      // One that has expired was issued before.
      iat: Math.min(now, now + lifetime - 1),
      exp: now + lifetime,
    };
    return { access_token: await sign(claims), token_type: 'Bearer', expires_in: lifetime, scope };
  }

  return {
    pages: new Map([
      ['/.well-known/openid-configuration', () => answer(200, configurationOf(issuer()))],
      ['/jwks.json', () => answer(200, { keys: [jwk] })],
    ]),
    forms: new Map([
      [
        '/token',
        async (fields, accept) => {
          const granted = await grant(fields);
          if ('error' in granted) return answer(400, granted);
          // For a shell, which would have to take the token out of the JSON.
          return accept === 'text/plain' ? plain(granted.access_token) : answer(200, granted);
        },
      ],
    ]),
  };
}

interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
}

/** RFC 6749, 5.2. */
interface OAuthError {
  readonly error: 'invalid_request' | 'invalid_grant' | 'invalid_scope' | 'unsupported_grant_type';
  readonly error_description: string;
}

/** RFC 6749, 4.3.2; `expires_in` is this issuer's own, for a look at what an expired token is answered with. */
function readTokenRequest(fields: URLSearchParams, users: readonly string[]) {
  const refused = (error: OAuthError['error'], error_description: string): OAuthError => ({
    error,
    error_description,
  });
  if (fields.get('grant_type') !== 'password')
    return refused('unsupported_grant_type', 'Send the form grant_type=password&username=NAME.');
  const user = users.find((name) => name === fields.get('username'));
  if (user === undefined)
    return refused('invalid_grant', `No user has this name; this run has ${users.join(', ')}.`);
  const scope = fields.get('scope') || scopes.join(' ');
  if (scope.split(' ').some((one) => !(scopes as readonly string[]).includes(one)))
    return refused('invalid_scope', `The scopes are ${scopes.join(', ')}, with spaces between them.`);
  const seconds = fields.get('expires_in') ?? String(lifetimeSeconds);
  const clientId = fields.get('client_id') || 'local';
  if (!/^-?\d{1,6}$/.test(seconds) || !/^[!-~]{1,64}$/.test(clientId))
    return refused('invalid_request', 'expires_in is a number of seconds, client_id a name without spaces.');
  return { user, scope, clientId, lifetime: Number(seconds) };
}

/** What libraries for OpenID Connect read before anything else. No user signs in in a browser here. */
const configurationOf = (issuer: string) => ({
  issuer,
  jwks_uri: `${issuer}/jwks.json`,
  token_endpoint: `${issuer}/token`,
  grant_types_supported: ['password'],
  response_types_supported: [],
  subject_types_supported: ['public'],
  scopes_supported: scopes,
  token_endpoint_auth_methods_supported: ['none'],
  id_token_signing_alg_values_supported: ['ES256'],
});

const base64Json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const answer = (status: number, body: object) => responseOf(status, 'application/json', JSON.stringify(body));
const plain = (text: string) => responseOf(200, 'text/plain', text);

const responseOf = (status: number, contentType: string, body: string): HttpResponse => ({
  status,
  headers: new Map([
    ['content-type', [contentType]],
    ['cache-control', ['no-store']],
  ]),
  body: Buffer.from(body),
});
