/** The issuer of the tests as a server on loopback, for functions that read its keys over a network. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthSettings } from '../../lib/access/index.ts';
import { audience, jwks, type Members, tokenOf } from './issuer.ts';

/** Good at any time of the machine's clock. */
export const lasting = { iat: 1_700_000_000, exp: 4_000_000_000 };

export interface IssuerServer {
  /** With which its tokens are accepted. */
  readonly auth: AuthSettings;
  token(claims?: Members): string;
  /** Answers with 503 from now on. */
  fail(): void;
  close(): void;
}

export async function startIssuer(): Promise<IssuerServer> {
  let failing = false;
  const server = createServer(({ url }, response) => {
    if (failing) response.writeHead(503).end();
    else response.end(JSON.stringify(url === '/keys' ? jwks() : { issuer, jwks_uri: `${issuer}/keys` }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    auth: { issuer, audience, clientIds: ['app-1'] },
    token: (claims = {}) => tokenOf({ claims: { iss: issuer, ...lasting, ...claims } }),
    fail() {
      failing = true;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
