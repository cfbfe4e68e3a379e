/** The signer's digests with Node's synchronous functions; WebCrypto would hand each call to another thread. */

import { createHash, createHmac, createSecretKey } from 'node:crypto';
import type { Digests } from '../../lib/signer/index.ts';

export const nodeDigests: Digests = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  hmacSha256: (text) => {
    const key = createSecretKey(text, 'utf8');
    return (message) => createHmac('sha256', key).update(message).digest('base64');
  },
};
