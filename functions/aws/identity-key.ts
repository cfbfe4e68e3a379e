/** The identity key of a deployed function, out of Secrets Manager. */

import { untilResolved } from '../../lib/until-resolved.ts';
import { describe, type Log } from './log.ts';
import { createSecretsManagerSource } from './secrets-manager.ts';

/**
 * Reads the key when it is called first, and again after a failure. The key is kept for the instance's life: it is never
 * replaced, because names and records under another one would be others.
 *
 * @param secretId the ARN or name of the secret that holds it
 *
 * @example
 * const { names, sealer } = createIdentity(createIdentityKeyReader(secretId, log));
 */
export function createIdentityKeyReader(secretId: string, log: Log): () => Promise<string> {
  const source = createSecretsManagerSource({
    secretId,
    onFailure: (error) => log({ level: 'error', event: 'identity_key_not_read', ...describe(error) }),
  });
  return untilResolved(async () => {
    const key = await source.read();
    if (key === undefined) {
      log({ level: 'error', event: 'identity_key_not_set' });
      throw new Error('the identity key is not set');
    }
    return key;
  });
}
