/** Requests as a verifier gets them, signed by lib and then changed at will. */

import { createSigner, type SignInput } from '../../lib/signer/index.ts';
import type { ReceivedRequest } from '../../lib/verifier/index.ts';
import { appKey, appSecret, base, now } from './signing.ts';

const signer = createSigner({ appKey, appSecret, clock: () => now });

export interface Received extends ReceivedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A new nonce each time. */
export async function received(input: Partial<SignInput> = {}): Promise<Received> {
  const { url, headers, body } = await signer.sign({ url: `${base}/a`, ...input });
  return { url, headers, ...(body !== undefined && { body }) };
}

export const withHeaders = (
  request: Received,
  headers: Readonly<Record<string, string | undefined>>,
): ReceivedRequest => ({ ...request, headers: { ...request.headers, ...headers } });
