/** The app secret and the identity key of a function, read through the platform's source of secrets. */

import { createIdentity, type Identity } from '../../lib/access/identity.ts';
import type { SecretSource } from '../../lib/gateway/index.ts';
import { untilResolved } from '../../lib/kernel/once.ts';
import { describe } from '../log/log.ts';
import type { SecretPorts } from './ports.ts';

/** The upstream's app key and secret; each read that fails is a line in the log. */
export const composeAppSecret = (secretId: string, { secret, log }: SecretPorts): SecretSource =>
  secret(secretId, (error, version) =>
    log({ level: 'error', event: 'secret_not_read', version, ...describe(error) }),
  );

export interface ComposedIdentity extends Identity {
  /** Reads the key beside the app secret, so that the first request finds it; a failure is left to that request. */
  readAhead(): void;
}

/**
 * Reads the key when it is needed first, and again after a failure. The key is kept for the instance's life: it is never
 * replaced, because names and records under another one would be others.
 *
 * @param secretId the ARN or name of the secret that holds the key
 */
export function composeIdentity(secretId: string, { secret, log }: SecretPorts): ComposedIdentity {
  const source = secret(secretId, (error) =>
    log({ level: 'error', event: 'identity_key_not_read', ...describe(error) }),
  );
  const readKey = untilResolved(async () => {
    const key = await source.read();
    if (key !== undefined) return key;
    log({ level: 'error', event: 'identity_key_not_set' });
    throw new Error('the identity key is not set');
  });
  return { ...createIdentity(readKey), readAhead: () => void readKey().catch(() => {}) };
}
