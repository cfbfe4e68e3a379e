/** Who calls, and what that one may do: the directory over its table, and the verifier of tokens that come here. */

import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import { createDirectory, type DirectoryWiring } from '../../lib/access/create-directory.ts';
import { createTokenVerifier } from '../../lib/access/create-token-verifier.ts';
import type { TokenVerifier } from '../../lib/access/verifier.ts';
import type { AccessWiring } from '../../lib/gateway/who.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import { describe } from '../log/log.ts';
import type { AccessSettings } from '../settings/function-settings.ts';
import type { ComposedIdentity } from './credential.ts';
import type { AuthorizerPorts, GatewayPorts } from './ports.ts';

/**
 * @param identity of the same settings; its key is read now
 * @param verifierOf for a function that tokens may reach past the authorizer
 */
export function composeAccess(
  { tableName, auth, userGroups }: AccessSettings,
  identity: ComposedIdentity,
  ports: GatewayPorts,
  verifierOf: typeof composeVerifier | undefined,
): AccessWiring {
  const { log, clock } = ports;
  identity.readAhead();
  const store = ports.accessStore(tableName);
  const read: DirectoryWiring['store']['read'] = (keys) =>
    store.read(keys).catch((error: unknown) => {
      log({ level: 'error', event: 'access_not_read', ...describe(error) });
      throw error;
    });
  // Made for the first token that comes here: behind an authorizer none does, and its keys are not read.
  const verifier = auth && verifierOf && onDemand(() => verifierOf(auth, ports));
  return {
    names: identity.names,
    directory: createDirectory({ store: { read }, identity, clock } satisfies DirectoryWiring),
    verifier: verifier && { verify: (token) => verifier().verify(token) },
    tokenScopes: auth?.scopes,
    userGroups,
  };
}

/** Begins to read the issuer's keys now. */
export const composeVerifier = (
  auth: AuthSettings,
  { readText, clock, log }: AuthorizerPorts,
): TokenVerifier =>
  createTokenVerifier({
    ...auth,
    clock,
    readText,
    readAhead: true,
    onFailure: (error) => log({ level: 'error', event: 'issuer_not_read', ...describe(error) }),
  });
