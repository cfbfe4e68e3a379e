/** The credential's name in stores, for a function that reads what its own credential wrote. */

import { accountOf, toCredential } from '../../lib/gateway/credential.ts';
import type { SecretSource } from '../../lib/gateway/index.ts';

/**
 * Reads the secret each time: what another secret signed is another credential's.
 *
 * @returns a reader, which rejects with the gateway's `code` for a secret that is none
 * @example const credential = createCredentialName(createSecretsManagerSource({ secretId }));
 */
export const createCredentialName = (secrets: SecretSource) => async (): Promise<string> => {
  const found = toCredential(await secrets.read(), { clock: Date.now });
  if (!found.ok) throw Object.assign(new Error(found.code), { code: found.code });
  return accountOf(found.credential);
};
