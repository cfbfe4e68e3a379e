/** Reads texts of an issuer of tokens over Node's sockets. */

import { issuerFailure, type ReadText } from '../../lib/access/read-text.ts';
import type { Send } from '../../lib/gateway/index.ts';
import { createNodeSend } from './node-send.ts';

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
