/** An issuer for tests: keys and tokens made with Node's own crypto, which shares no code with the verifier. */

import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import type { ReadText } from '../../lib/access/index.ts';

export const issuer = 'https://issuer.example.com/pool';
export const audience = 'https://api.example.com';
export const jwksUri = `${issuer}/keys`;
/** In milliseconds; the tests' clock stands here. */
export const now = Date.UTC(2026, 10, 22);
export const seconds = now / 1000;

export type Members = Readonly<Record<string, unknown>>;
export type SigningKey = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

/**
 * Through text: Node 20 waits for itself when it exports a key as JWK and collects the garbage of that key's generation.
 */
const publicKeyEncoding = { type: 'spki', format: 'pem' } as const;
const privateKeyEncoding = { type: 'pkcs8', format: 'pem' } as const;

const fromPem = (pem: { readonly publicKey: string; readonly privateKey: string }): SigningKey => ({
  publicKey: createPublicKey(pem.publicKey),
  privateKey: createPrivateKey(pem.privateKey),
});

const rsa = (modulusLength = 2048) =>
  fromPem(generateKeyPairSync('rsa', { modulusLength, publicKeyEncoding, privateKeyEncoding }));
const ec = (namedCurve = 'P-256') =>
  fromPem(generateKeyPairSync('ec', { namedCurve, publicKeyEncoding, privateKeyEncoding }));

/** By key id: one for each algorithm, and one that the issuer does not publish. */
export const keys = {
  RS256: rsa(),
  PS256: rsa(),
  ES256: ec(),
  EdDSA: fromPem(generateKeyPairSync('ed25519', { publicKeyEncoding, privateKeyEncoding })),
  stranger: rsa(),
};

export const weakKey = rsa(1024);
export const otherCurve = ec('P-384');

export const jwkOf = (kid: string, key: SigningKey = keys[kid as keyof typeof keys], more: Members = {}) => ({
  ...key.publicKey.export({ format: 'jwk' }),
  kid,
  use: 'sig',
  ...more,
});

export const jwks = () => ({
  keys: [jwkOf('RS256'), jwkOf('PS256', keys.PS256, { alg: 'PS256' }), jwkOf('ES256'), jwkOf('EdDSA')],
});

export const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** The bytes of a signature; `alg` as the header has it. */
export function signatureOf(input: string, alg: string, { privateKey }: SigningKey): Buffer {
  const bytes = Buffer.from(input);
  if (alg === 'PS256')
    return sign('sha256', bytes, {
      key: privateKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: 32,
    });
  if (alg.startsWith('ES')) return sign('sha256', bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  if (alg.startsWith('Ed')) return sign(null, bytes, privateKey);
  return sign('sha256', bytes, privateKey);
}

export const hmacOf = (input: string, secret: string | Buffer): Buffer =>
  createHmac('sha256', secret).update(input).digest();

export const goodClaims: Members = {
  iss: issuer,
  aud: audience,
  sub: 'user-1',
  client_id: 'app-1',
  jti: 'token-1',
  scope: 'read trade',
  iat: seconds - 10,
  exp: seconds + 600,
};

export interface Token {
  readonly alg?: string;
  readonly header?: Members;
  /** Undefined removes a claim. */
  readonly claims?: Members;
  /** In place of the claims, as text. */
  readonly payload?: string;
  readonly key?: SigningKey;
}

/** A good token, unless told otherwise. */
export function tokenOf({ alg = 'RS256', header = {}, claims = {}, payload, key }: Token = {}): string {
  const head = { alg, kid: alg, typ: 'at+jwt', ...header };
  const input = `${encode(head)}.${encode(payload ?? { ...goodClaims, ...claims })}`;
  const signingKey = key ?? keys[alg as keyof typeof keys] ?? keys.RS256;
  return `${input}.${signatureOf(input, alg, signingKey).toString('base64url')}`;
}

export interface Publisher {
  readonly readText: ReadText;
  /** What was asked for, in order. */
  readonly read: string[];
  /** Text, or an error to fail with; by URL. */
  readonly published: Map<string, string | Error>;
}

/** What the issuer publishes, without a network. */
export function publisher(): Publisher {
  const read: string[] = [];
  const published = new Map<string, string | Error>([
    [`${issuer}/.well-known/openid-configuration`, JSON.stringify({ issuer, jwks_uri: jwksUri })],
    [jwksUri, JSON.stringify(jwks())],
  ]);
  return {
    read,
    published,
    readText: async (url) => {
      read.push(url);
      const answer = published.get(url) ?? new Error('not found');
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}
