/**
 * An OpenID Connect issuer as a process of its own: it publishes its keys, and signs the access tokens that it is asked
 * for. It shares no code with the verifier.
 */

import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys = { published: pair(), stranger: pair() };
const keyId = randomUUID();
let issuer = '';

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

export interface TokenRequest {
  readonly claims: Readonly<Record<string, unknown>>;
  /** Signed by a key that the issuer does not publish, under the id of one that it does. */
  readonly forged?: boolean;
}

function tokenFor({ claims, forged }: TokenRequest): string {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iss: issuer, jti: randomUUID(), iat: now - 1, exp: now + 3600, ...claims };
  const input = `${encode({ alg: 'RS256', typ: 'at+jwt', kid: keyId })}.${encode(payload)}`;
  const { privateKey } = forged ? keys.stranger : keys.published;
  return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const json = (value: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (request.url === '/.well-known/openid-configuration') json({ issuer, jwks_uri: `${issuer}/keys` });
  else if (request.url === '/keys')
    json({
      keys: [{ ...keys.published.publicKey.export({ format: 'jwk' }), kid: keyId, use: 'sig', alg: 'RS256' }],
    });
  else if (request.url === '/tokens')
    json((JSON.parse(await bodyOf(request)) as TokenRequest[]).map(tokenFor));
  else response.writeHead(404).end();
}

const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
server.once('listening', () => {
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${issuer}\n`);
});
