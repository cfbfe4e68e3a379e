/**
 * The directory, the keyed names and the sealer of a deployed function: records in DynamoDB, the identity key in Secrets
 * Manager.
 */

import { createDirectory } from '../../lib/access/create-directory.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import type { AccessOptions } from '../../lib/gateway/access-options.ts';
import type { Sealer } from '../../lib/sealer.ts';
import { createDynamoAccessReader } from './dynamo-access-store.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createIdentityKeyReader } from './identity-key.ts';
import { describe, type Log } from './log.ts';

export interface AccessSettings {
  readonly tableName: string;
  /** The ARN or name of the secret that holds the identity key. */
  readonly identityKeySecretId: string;
}

export interface DeployedAccess extends Pick<AccessOptions, 'directory' | 'names'> {
  /** For account data at rest; its key is made of the identity key, too. */
  readonly sealer: Sealer;
}

/**
 * Reads the identity key now, beside the app secret, so that the first request finds it; a failure is left to that
 * request, which reads it again.
 *
 * @example
 * const access = { ...createDeployedAccess({ tableName, identityKeySecretId }, client, log), verifier };
 */
export function createDeployedAccess(
  { tableName, identityKeySecretId }: AccessSettings,
  client: DynamoSender,
  log: Log,
): DeployedAccess {
  const readKey = createIdentityKeyReader(identityKeySecretId, log);
  readKey().catch(() => {});
  const identity = createIdentity(readKey);
  const store = createDynamoAccessReader({ client, tableName });
  return {
    names: identity.names,
    sealer: identity.sealer,
    directory: createDirectory({
      store: {
        read: (keys) =>
          store.read(keys).catch((error: unknown) => {
            log({ level: 'error', event: 'access_not_read', ...describe(error) });
            throw error;
          }),
      },
      identity,
    }),
  };
}
