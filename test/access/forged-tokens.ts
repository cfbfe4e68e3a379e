/** Every way to forge, borrow or bend a token that is known of, each with the fault that it must be refused with. */

import type { TokenFault } from '../../lib/access/index.ts';
import {
  audience,
  encode,
  goodClaims,
  hmacOf,
  issuer,
  jwkOf,
  keys,
  type Members,
  otherCurve,
  seconds,
  signatureOf,
  tokenOf,
  weakKey,
} from './issuer.ts';

export interface Forged {
  readonly name: string;
  readonly token: string;
  readonly fault: TokenFault;
}

const forged = (fault: TokenFault, tokens: Readonly<Record<string, string>>): readonly Forged[] =>
  Object.entries(tokens).map(([name, token]) => ({ name, token, fault }));

/** Signed by the issuer, with these claims instead of the good ones. */
const claimed = (claims: Members, header: Members = {}) => tokenOf({ claims, header });
const written = (payload: string) => tokenOf({ payload });
const good = tokenOf();
const [head = '', body = '', signature = ''] = good.split('.');
const plain = { typ: 'JWT' };

/** The issuer's signature over any header text. */
function withHeader(text: string): string {
  const input = `${encode(text)}.${body}`;
  return `${input}.${signatureOf(input, 'RS256', keys.RS256).toString('base64url')}`;
}

function withSecret(alg: string, secret: string | Buffer): string {
  const input = `${encode({ alg, kid: 'RS256' })}.${body}`;
  return `${input}.${hmacOf(input, secret).toString('base64url')}`;
}

const publicPem = keys.RS256.publicKey.export({ type: 'spki', format: 'pem' });
const publicDer = keys.RS256.publicKey.export({ type: 'spki', format: 'der' });
const unsigned = (alg: string) => `${encode({ alg, kid: 'RS256' })}.${body}.`;
const ecHead = `${encode({ alg: 'ES256', kid: 'ES256' })}.${body}`;
const ecSignature = signatureOf(ecHead, 'ES256', keys.ES256);
const text = JSON.stringify(goodClaims);
const andMember = (member: string) => `${text.slice(0, -1)},${member}}`;
const without = (...names: readonly string[]) =>
  claimed(Object.fromEntries(names.map((name) => [name, undefined])));

export const forgedTokens: readonly Forged[] = [
  ...forged('wrong_algorithm', {
    'alg none': unsigned('none'),
    'alg None': unsigned('None'),
    'alg nOnE with a signature': `${unsigned('nOnE')}${signature}`,
    'HS256 with the public key as PEM': withSecret('HS256', publicPem as string),
    'HS256 with the public key as DER': withSecret('HS256', publicDer),
    'HS256 with the modulus': withSecret('HS256', jwkOf('RS256').n ?? ''),
    'HS256 with an empty secret': withSecret('HS256', ''),
    'alg rs256': withHeader('{"alg":"rs256","kid":"RS256"}'),
    'alg with a space': withHeader('{"alg":"RS256 ","kid":"RS256"}'),
    'alg with a look-alike letter': withHeader('{"alg":"RЅ256","kid":"RS256"}'),
    'alg as a list': withHeader('{"alg":["RS256"],"kid":"RS256"}'),
    'alg missing': withHeader('{"kid":"RS256"}'),
    'alg null': withHeader('{"alg":null,"kid":"RS256"}'),
    'alg __proto__': withHeader('{"alg":"__proto__","kid":"RS256"}'),
    'RS1, which is SHA-1': withHeader('{"alg":"RS1","kid":"RS256"}'),
    'a JWE header in three parts': withHeader('{"alg":"RSA-OAEP","enc":"A256GCM","kid":"RS256"}'),
  }),
  ...forged('malformed', {
    empty: '',
    'one part': 'abc',
    'two dots': '..',
    'no signature': `${head}.${body}.`,
    'no payload': `${head}..${signature}`,
    'no header': `.${body}.${signature}`,
    'two parts': `${head}.${body}`,
    'four parts': `${good}.${signature}`,
    'a JWE of five parts': `${encode({ alg: 'dir', enc: 'A256GCM' })}..AAAA.AAAA.AAAA`,
    'JWS as JSON': JSON.stringify({ payload: body, protected: head, signature }),
    'padding after the signature': `${good}==`,
    'padding after the header': `${head}=.${body}.${signature}`,
    'base64 instead of base64url': `${head}.${body}.${signature.replace(/.$/, '+')}`,
    'bits left over in the signature': `${head}.${body}.${bent(signature)}`,
    'bits left over in the payload, signed so': signedWith(bent(encode(paddedTo(2)))),
    'more bits left over in the payload, signed so': signedWith(bent(encode(paddedTo(1)))),
    'a space before': ` ${good}`,
    'a space after': `${good} `,
    'a line break after': `${good}\n`,
    'a line break inside': `${head}.\n${body}.${signature}`,
    'a zero byte': `${good}\0`,
    'a full-width letter': `${head}.${body}.${signature.replace(/^./, 'Ａ')}`,
    'a header that is a list': withHeader('["RS256"]'),
    'a header that is no JSON': withHeader('{alg:"RS256"}'),
    'alg twice in the header': withHeader('{"alg":"none","alg":"RS256","kid":"RS256"}'),
    'alg twice, once escaped': withHeader('{"\\u0061lg":"none","alg":"RS256","kid":"RS256"}'),
    'kid a list': withHeader('{"alg":"RS256","kid":["RS256"]}'),
    'kid an object': withHeader('{"alg":"RS256","kid":{"toString":"RS256"}}'),
    'kid a number': withHeader('{"alg":"RS256","kid":1}'),
    'kid empty': withHeader('{"alg":"RS256","kid":""}'),
    'kid very long': withHeader(`{"alg":"RS256","kid":"${'k'.repeat(257)}"}`),
    'typ a list': withHeader('{"alg":"RS256","kid":"RS256","typ":["at+jwt"]}'),
    'a payload that is a list': written(`[${text}]`),
    'a payload that is text': written('"user-1"'),
    'a payload that is null': written('null'),
    'a payload with a byte order mark': written(`\ufeff${text}`),
    'a payload with more behind it': written(`${text}{}`),
    'sub twice': written(andMember('"sub":"user-2"')),
    'sub twice, once escaped': written(andMember('"\\u0073ub":"user-2"')),
    'exp twice': written(andMember(`"exp":${seconds + 9999}`)),
    'exp NaN': written(text.replace(/"exp":\d+/, '"exp":NaN')),
    'a nested token as payload': written(good),
    'a payload that is not UTF-8': notUtf8(),
  }),
  ...forged('too_large', {
    'a token of 9 kB': claimed({ note: 'x'.repeat(9000) }),
    'a megabyte': 'a'.repeat(1_000_000),
    'a megabyte of dots': '.'.repeat(1_000_000),
  }),
  ...forged('unknown_extension', {
    'crit names exp': claimed({}, { crit: ['exp'], exp: seconds }),
    'crit empty': claimed({}, { crit: [] }),
    'b64 false, critical': claimed({}, { crit: ['b64'], b64: false }),
    'b64 false': claimed({}, { b64: false }),
    'b64 true': claimed({}, { b64: true }),
    'enc beside a signature': claimed({}, { enc: 'A256GCM' }),
    'zip beside a signature': claimed({}, { zip: 'DEF' }),
  }),
  ...forged('unknown_key', {
    'kid unknown': claimed({}, { kid: 'other' }),
    'kid a path': claimed({}, { kid: '../../dev/null' }),
    'kid a URL': claimed({}, { kid: 'https://attacker.example.com/keys' }),
    'kid an SQL statement': claimed({}, { kid: "' UNION SELECT 'secret" }),
    'kid __proto__': claimed({}, { kid: '__proto__' }),
    'kid in other case': claimed({}, { kid: 'rs256' }),
    'kid with a space': claimed({}, { kid: 'RS256 ' }),
    'kid missing, several keys': tokenOf({ alg: 'PS256', header: { kid: undefined } }),
    'kid of an RSA key for ES256': `${encode({ alg: 'ES256', kid: 'RS256' })}.${body}.${ecSignature.toString('base64url')}`,
    'kid of a key for PS256 alone': claimed({}, { kid: 'PS256' }),
    'kid of an RSA key for EdDSA': tokenOf({ alg: 'EdDSA', header: { kid: 'RS256' } }),
    'kid of a key of 1,024 bits': tokenOf({ key: weakKey, header: { kid: 'weak' } }),
    'kid of a key of another curve': tokenOf({ alg: 'ES256', key: otherCurve, header: { kid: 'p384' } }),
    'kid of a key for encryption': tokenOf({ key: keys.stranger, header: { kid: 'encryption' } }),
    'kid of a shared secret': withSharedSecret(),
    'an own key in jwk': tokenOf({
      key: keys.stranger,
      header: { kid: 'mine', jwk: jwkOf('mine', keys.stranger) },
    }),
  }),
  ...forged('wrong_signature', {
    'key of a stranger': tokenOf({ key: keys.stranger }),
    'own key in jwk, kid of the issuer': tokenOf({
      key: keys.stranger,
      header: { jwk: jwkOf('RS256', keys.stranger) },
    }),
    'own keys by jku': tokenOf({
      key: keys.stranger,
      header: { jku: 'https://attacker.example.com/keys' },
    }),
    'own certificate by x5u': tokenOf({
      key: keys.stranger,
      header: { x5u: 'https://attacker.example.com/certificate' },
    }),
    'own certificate in x5c': tokenOf({ key: keys.stranger, header: { x5c: ['MIIB'] } }),
    'another of the issuer’s keys': tokenOf({ key: keys.PS256 }),
    'signature of another token': `${head}.${encode({ ...goodClaims, sub: 'user-2' })}.${signature}`,
    'header changed': `${encode({ alg: 'RS256', kid: 'RS256', typ: 'JWT' })}.${body}.${signature}`,
    'RS256 changed to PS256': withAlgorithm('PS256'),
    'signature cut off': `${head}.${body}.${signature.slice(0, 340)}`,
    'signature prolonged': `${good}AAAA`,
    'signature of zeros': `${head}.${body}.${Buffer.alloc(256).toString('base64url')}`,
    'ECDSA of zeros': `${ecHead}.${Buffer.alloc(64).toString('base64url')}`,
    'ECDSA of the order of the curve': `${ecHead}.${orderTwice().toString('base64url')}`,
    'ECDSA as DER': `${ecHead}.${asDer(ecSignature).toString('base64url')}`,
    'ECDSA with a zero before each half': `${ecHead}.${paddedHalves(ecSignature).toString('base64url')}`,
    'ECDSA of a P-384 key': `${ecHead}.${signatureOf(ecHead, 'ES256', otherCurve).toString('base64url')}`,
    'EdDSA of zeros': `${encode({ alg: 'EdDSA', kid: 'EdDSA' })}.${body}.${Buffer.alloc(64).toString('base64url')}`,
    'EdDSA of the identity point': `${encode({ alg: 'EdDSA', kid: 'EdDSA' })}.${body}.${identityPoint().toString('base64url')}`,
    'PS256 with PKCS #1 padding': pkcs1UnderPss(),
  }),
  ...forged('wrong_issuer', {
    'another issuer': claimed({ iss: 'https://other.example.com' }),
    'a slash more': claimed({ iss: `${issuer}/` }),
    'other case': claimed({ iss: issuer.toUpperCase() }),
    'a list with the issuer': claimed({ iss: [issuer] }),
    'no issuer': without('iss'),
    'an unknown key of another issuer': claimed({ iss: 'https://other.example.com' }, { kid: 'theirs' }),
  }),
  ...forged('wrong_audience', {
    'another audience': claimed({ aud: 'https://other.example.com' }),
    'audience in other case': claimed({ aud: audience.toUpperCase() }),
    'audience and more text': claimed({ aud: `${audience}.attacker.example.com` }),
    'audiences without ours': claimed({ aud: ['a', 'b'] }),
    'no audience': without('aud'),
    'no audience in the list': claimed({ aud: [] }),
  }),
  ...forged('wrong_client', {
    'another app': claimed({ client_id: 'app-2' }),
    'no app': without('client_id'),
    'app in azp, another in client_id': claimed({ client_id: 'app-2', azp: 'app-1' }),
    'app in other case': claimed({ client_id: 'APP-1' }),
  }),
  ...forged('not_an_access_token', {
    'token_use id': claimed({ token_use: 'id' }, plain),
    'token_use a list': claimed({ token_use: ['access'] }, plain),
    'an ID token with nonce': claimed({ nonce: 'n' }, plain),
    'an ID token with at_hash': claimed({ at_hash: 'h' }, plain),
    'an ID token of the app': claimed({ aud: 'app-1', scope: undefined }, plain),
    'an ID token that names no app': claimed({ scope: undefined, client_id: undefined }, plain),
    'a refresh token': claimed({ typ: 'Refresh' }, plain),
    'an ID token by its claim typ': claimed({ typ: 'ID' }, plain),
    'a logout token': claimed({}, { typ: 'logout+jwt' }),
    'a proof of possession': claimed({}, { typ: 'dpop+jwt' }),
    'a security event': claimed({}, { typ: 'application/secevent+jwt' }),
  }),
  ...forged('sender_constrained', {
    'bound to a key': claimed({ cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } }),
    'bound to a certificate': claimed({ cnf: { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2' } }),
  }),
  ...forged('expired', {
    'expired 60 s ago': claimed({ exp: seconds - 60 }),
    'expired a year ago': claimed({ iat: seconds - 4e7, exp: seconds - 3e7 }),
    'expired in 1970': claimed({ exp: 1 }),
  }),
  ...forged('not_yet_valid', {
    'nbf in 61 s': claimed({ nbf: seconds + 61 }),
    'nbf in a year': claimed({ nbf: seconds + 3e7, exp: seconds + 4e7 }),
    'iat in 61 s': claimed({ iat: seconds + 61 }),
  }),
  ...forged('incomplete', {
    'no sub': without('sub'),
    'no exp': without('exp'),
    'no iat': without('iat'),
  }),
  ...forged('wrong_claim', {
    'exp as text': claimed({ exp: `${seconds + 600}` }),
    'exp null': claimed({ exp: null }),
    'exp a list': claimed({ exp: [seconds + 600] }),
    'exp negative': claimed({ exp: -1 }),
    'exp zero': claimed({ exp: 0 }),
    'exp infinite': written(text.replace(/"exp":\d+/, '"exp":1e999')),
    'exp huge': claimed({ exp: 1e300 }),
    'exp in milliseconds': claimed({ exp: (seconds + 600) * 1000 }),
    'iat as text': claimed({ iat: `${seconds}` }),
    'nbf as text': claimed({ nbf: '0' }),
    'nbf true': claimed({ nbf: true }),
    'aud an object': claimed({ aud: { 0: audience } }),
    'aud with an object': claimed({ aud: [audience, {}] }),
    'aud a number': claimed({ aud: 1 }),
    'sub a number': claimed({ sub: 1 }),
    'sub a list': claimed({ sub: ['user-1'] }),
    'sub empty': claimed({ sub: '' }),
    'sub with a line break': claimed({ sub: 'user-1\nadmin' }),
    'sub with a lone surrogate': written(text.replace('user-1', '\\ud800')),
    'sub with a character of no width': claimed({ sub: 'user-1\u200b' }),
    'scope an object': claimed({ scope: { read: true } }),
    'scp with a number': claimed({ scp: [1] }),
    'jti an object': claimed({ jti: {} }),
    'client_id a list': claimed({ client_id: ['app-1'] }),
    'accounts with a star': claimed({ accounts: ['*'] }),
    'accounts as numbers': claimed({ accounts: [1] }),
    'accounts an object': claimed({ accounts: { A1: true } }),
  }),
];

/** The good claims in a number of bytes that leaves so many over when three make four letters. */
function paddedTo(left: number): string {
  const space = (left - (text.length % 3) + 3) % 3;
  return `${text}${' '.repeat(space)}`;
}

function signedWith(payload: string): string {
  const input = `${head}.${payload}`;
  return `${input}.${signatureOf(input, 'RS256', keys.RS256).toString('base64url')}`;
}

/** The last letter holds bits that stand for nothing, two or four of them. */
function bent(part: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = letters.indexOf(part.at(-1) ?? '');
  return `${part.slice(0, -1)}${letters[last ^ 1]}`;
}

function notUtf8(): string {
  const bytes = Buffer.from(text.replace('user-1', 'user-\u0001'));
  const raw = Buffer.from(bytes.map((byte) => (byte === 1 ? 0xff : byte)));
  const input = `${head}.${raw.toString('base64url')}`;
  return `${input}.${signatureOf(input, 'RS256', keys.RS256).toString('base64url')}`;
}

/** The published set has a shared secret, by mistake. */
function withSharedSecret(): string {
  const input = `${encode({ alg: 'RS256', kid: 'shared' })}.${body}`;
  return `${input}.${hmacOf(input, 'shared').toString('base64url')}`;
}

function withAlgorithm(alg: string): string {
  const input = `${encode({ alg, kid: 'RS256' })}.${body}`;
  return `${input}.${signatureOf(input, 'RS256', keys.RS256).toString('base64url')}`;
}

function pkcs1UnderPss(): string {
  const input = `${encode({ alg: 'PS256', kid: 'PS256' })}.${body}`;
  return `${input}.${signatureOf(input, 'RS256', keys.PS256).toString('base64url')}`;
}

/** Both halves are the order of P-256, which is zero modulo itself. */
function orderTwice(): Buffer {
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
  return Buffer.concat([order, order]);
}

function asDer(plainSignature: Buffer): Buffer {
  const integer = (half: Buffer) => {
    const bytes = (half[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), half]) : half;
    return Buffer.concat([Buffer.of(2, bytes.length), bytes]);
  };
  const both = Buffer.concat([integer(plainSignature.subarray(0, 32)), integer(plainSignature.subarray(32))]);
  return Buffer.concat([Buffer.of(0x30, both.length), both]);
}

function paddedHalves(plainSignature: Buffer): Buffer {
  const zero = Buffer.of(0);
  return Buffer.concat([zero, plainSignature.subarray(0, 32), zero, plainSignature.subarray(32)]);
}

/** R is the neutral point and S is zero, which a careless verifier takes from a weak key. */
function identityPoint(): Buffer {
  const bytes = Buffer.alloc(64);
  bytes[0] = 1;
  return bytes;
}
