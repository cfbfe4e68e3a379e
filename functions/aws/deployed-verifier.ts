/** The verifier of access tokens as it is deployed: it reads the issuer's keys over Node's sockets. */

import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import { createTokenVerifier } from '../../lib/access/create-token-verifier.ts';
import { issuerFailure, type ReadText } from '../../lib/access/read-text.ts';
import type { TokenVerifier } from '../../lib/access/verifier.ts';
import type { Send } from '../../lib/gateway/index.ts';
import { describe, type Log } from './log.ts';
import { createNodeSend } from './node-send.ts';

/** Begins to read the keys while the function starts. */
export const createDeployedVerifier = (
  auth: AuthSettings,
  log: Log,
  clock: () => number = Date.now,
): TokenVerifier =>
  createTokenVerifier({
    ...auth,
    clock,
    readText: createNodeText(),
    readAhead: true,
    onFailure: (error) => log({ level: 'error', event: 'issuer_not_read', ...describe(error) }),
  });

/** fetch would take longer to load than the rest of the function. */
export function createNodeText(send: Send = createNodeSend()): ReadText {
  return async (url, limits) => {
    const request = { method: 'GET', url, headers: { accept: 'application/json' } } as const;
    // Minutes lie between two readings: a connection that was kept would be dead.
    const result = await send(request, { ...limits, freshConnection: true });
    if (result.kind === 'too_large') throw issuerFailure('too_large');
    if (result.kind !== 'answer') throw issuerFailure('not_read');
    if (result.status !== 200) throw issuerFailure('not_200');
    return new TextDecoder('utf-8', { fatal: true }).decode(result.body);
  };
}
