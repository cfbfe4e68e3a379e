/** The API keys of a usage plan. */

import { createHash, timingSafeEqual } from 'node:crypto';

export interface ApiKey {
  /** Names the key in logs; not secret. */
  readonly id: string;
  readonly value: string;
}

/** Gives a function that finds the key a client sent, in a time that reveals nothing about the keys. */
export function apiKeyFinder(apiKeys: readonly ApiKey[]): (sent: string) => ApiKey | undefined {
  if (apiKeys.some((key) => key.value === '')) throw new RangeError('An API key must not be empty.');
  const known = apiKeys.map((key) => ({ key, digest: digestOf(key.value) }));
  return (sent) => {
    const digest = digestOf(sent);
    // Digests have one length, and every key is compared, so neither length nor position shows.
    return known.filter((candidate) => timingSafeEqual(candidate.digest, digest))[0]?.key;
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
