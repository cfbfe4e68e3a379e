/** A signed request as it goes over the wire, put before the simulator's verification and lib's. */

import type { Field } from '../../infra/simulator/canonical.ts';
import { verifyRequest, type WireRequest } from '../../infra/simulator/verify.ts';
import type { SignedRequest } from '../../lib/signer/index.ts';
import { createVerifier, type Verification } from '../../lib/verifier/index.ts';
import { appKey, appSecret, now } from './signing.ts';

/** Known to both with the same secret: in its place only the signature can tell. */
export const otherAppKey = 'other-app-key';
const secretOf = (key: string) => (key === appKey || key === otherAppKey ? appSecret : undefined);
const toleranceSeconds = 300;

/** Host is the one header that the sender's HTTP client adds. */
export function toWire({ method, url, headers, body }: SignedRequest): WireRequest {
  const { host, origin } = new URL(url);
  return {
    method,
    rawTarget: url.slice(origin.length),
    rawHeaders: [...Object.entries(headers), ['host', host]].flat(),
    body: new TextEncoder().encode(body ?? ''),
    now,
  };
}

export const simulatorVerdict = (wire: WireRequest) => verifyRequest(wire, { secretOf, toleranceSeconds });

/** Nonces repeat in these tests and are not their subject. */
const verifier = createVerifier({
  secretOf,
  toleranceSeconds,
  clock: () => now,
  nonces: { add: () => true },
});

export function libVerdict({ rawTarget, rawHeaders, body }: WireRequest): Promise<Verification> {
  return verifier.verify({
    url: rawTarget,
    headers: Object.fromEntries(headerPairs(rawHeaders)),
    body: new Uint8Array(body),
  });
}

export const headerPairs = (rawHeaders: readonly string[]): Field[] =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : []));
