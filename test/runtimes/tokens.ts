/** Access tokens for the table: signed by each runtime's own WebCrypto, and verified there. */

import { bearerToken, createTokenVerifier } from '../../lib/access/index.ts';

const issuer = 'https://issuer.example.com';
const audience = 'https://api.example.com';
const now = Date.UTC(2026, 10, 22);
const claims = {
  iss: issuer,
  aud: audience,
  sub: 'user-1',
  iat: now / 1000,
  exp: now / 1000 + 600,
  scope: 'read',
};

const rsa = { modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' };

/** How each algorithm makes a key, and how it signs. */
const algorithms = {
  RS256: [{ name: 'RSASSA-PKCS1-v1_5', ...rsa }, { name: 'RSASSA-PKCS1-v1_5' }],
  PS256: [
    { name: 'RSA-PSS', ...rsa },
    { name: 'RSA-PSS', saltLength: 32 },
  ],
  ES256: [
    { name: 'ECDSA', namedCurve: 'P-256' },
    { name: 'ECDSA', hash: 'SHA-256' },
  ],
  EdDSA: [{ name: 'Ed25519' }, { name: 'Ed25519' }],
} as const;

type Name = keyof typeof algorithms;

const base64Url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const part = (value: unknown) => base64Url(new TextEncoder().encode(JSON.stringify(value)));

async function issue(alg: Name) {
  const [made, signed] = algorithms[alg];
  const pair = (await crypto.subtle.generateKey(made, true, ['sign', 'verify'])) as CryptoKeyPair;
  // Of a copy: Node 20 can wait for itself when it exports the very key that it generated as JWK.
  const spki = await crypto.subtle.exportKey('spki', pair.publicKey);
  const copy = await crypto.subtle.importKey('spki', spki, made, true, ['verify']);
  const { kty, n, e, crv, x, y } = await crypto.subtle.exportKey('jwk', copy);
  const input = `${part({ alg, kid: alg, typ: 'at+jwt' })}.${part(claims)}`;
  const signature = await crypto.subtle.sign(signed, pair.privateKey, new TextEncoder().encode(input));
  const jwk = JSON.parse(JSON.stringify({ kty, n, e, crv, x, y, kid: alg }));
  return { jwk, input, token: `${input}.${base64Url(new Uint8Array(signature))}` };
}

/** What becomes of a good token, and of forged ones, of each algorithm. */
export async function tokenVerdicts(alg: Name): Promise<readonly unknown[]> {
  const { jwk, input, token } = await issue(alg);
  const other = await issue(alg);
  const jwksUri = `${issuer}/keys`;
  const readText = async (url: string) =>
    JSON.stringify(url === jwksUri ? { keys: [jwk] } : { issuer, jwks_uri: jwksUri });
  const verifier = createTokenVerifier({ issuer, audience, readText, clock: () => now });
  const verdictOf = async (text: string) => {
    const verification = await verifier.verify(text);
    return verification.ok ? verification.claims.subject : verification.fault;
  };
  const [, payload] = input.split('.');
  return [
    await verdictOf(token),
    await verdictOf(other.token),
    await verdictOf(`${part({ alg: 'none', kid: alg })}.${payload}.`),
    await verdictOf(`${part({ alg, kid: 'unknown' })}.${payload}.AAAA`),
    await verdictOf(`${token}=`),
    bearerToken([`Bearer ${token}`]).ok,
  ];
}

export const tokenAlgorithms = Object.keys(algorithms) as readonly Name[];

export const expectedVerdicts = [
  'user-1',
  'wrong_signature',
  'wrong_algorithm',
  'unknown_key',
  'malformed',
  true,
];
