/** Port: reads the documents that an issuer publishes. */

/** Sends one GET for JSON. Rejects unless the answer is a 200 that is complete in time and within the size. No redirects. */
export type ReadText = (
  url: string,
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
) => Promise<string>;

/** Makes the error for keys that cannot be read. Its message and code hold nothing of the issuer's answer. */
export const issuerFailure = (
  code: 'not_200' | 'too_large' | 'not_read' | 'other_issuer' | 'keys_not_https' | 'no_keys',
): Error => Object.assign(new Error(`The keys of the issuer cannot be read: ${code}.`), { code });

/**
 * Makes a `ReadText` from the runtime's fetch or another one.
 *
 * @example
 * const verifier = createTokenVerifier({ ...settings, readText: createFetchText(env.ISSUER.fetch) });
 */
export function createFetchText(send?: typeof globalThis.fetch): ReadText {
  return async (url, { timeoutMs, maxBytes }) => {
    const response = await (send ?? fetch)(url, {
      headers: { accept: 'application/json' },
      // A redirect could lead to a place without TLS, or to another's keys.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw issuerFailure('not_200');
    }
    return textAtMost(response, maxBytes);
  };
}

async function textAtMost(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = response.body?.getReader();
  let text = '';
  let bytes = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      throw issuerFailure('too_large');
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}
