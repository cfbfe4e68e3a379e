/** The parts of an HTTP request that API Gateway reads for itself. */

import type { IncomingMessage } from 'node:http';

/** Path and undecoded query of a request target; a client may send the whole URL there (RFC 9112, 3.2.2). */
export function targetOf(target: string): { readonly path: string; readonly query: string | undefined } {
  const [, path = '', query] = /^(?:https?:\/\/[^/?]*)?([^?]*)(?:\?(.*))?$/i.exec(target) ?? [];
  return { path, query };
}

type ReceivedBody = Uint8Array | 'too large' | 'incomplete';

/**
 * The whole body. What goes beyond the limit is read and thrown away, never kept: with the connection cut
 * while it still writes, a client would see a reset instead of the refusal.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<ReceivedBody> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    request.on('data', (chunk: Uint8Array) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      resolve('too large');
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    // A client that leaves midway: Node reports it only to a listener, and without one this would never settle.
    request.on('error', () => resolve('incomplete'));
  });
}
