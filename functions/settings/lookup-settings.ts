/** The settings of the lookups' functions, and the operations that can be requested by event. */

import { exposedOperations } from '../../lib/catalogue/exposure.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import type { Group } from '../../lib/catalogue/index.ts';
import { isSentOn, type Operation } from '../../lib/catalogue/operation.ts';
import { type FunctionSettings, readFunctionSettings } from './function-settings.ts';
import { type Environment, type LookupQueueSettings, type Read, readParts } from './parts.ts';

export interface LookupSettings extends Omit<LookupQueueSettings, 'groups'> {
  readonly function: FunctionSettings;
  /** The reads of the groups that are readable by event. */
  readonly operations: readonly Operation[];
}

/** @param catalogue every operation that a deployer can open */
export function readLookupSettings(env: Environment, catalogue: readonly Operation[]): Read<LookupSettings> {
  const lookups = readParts(env, (parts) => {
    const { groups = [], ...rest } = parts.required('LOOKUPS');
    // Every sender to the other queue could name a source that has been granted accounts.
    if (rest.queues && !rest.queues.busQueueUrl && groups.some(isAccountData))
      parts.faults.add('LOOKUPS: account data is read by event, and the bus has no queue of its own');
    return { operations: readsOf(catalogue, groups), ...rest };
  });
  const own = readFunctionSettings(env, lookups.ok ? lookups.settings.operations : []);
  if (!lookups.ok || !own.ok)
    return { ok: false, faults: [own, lookups].flatMap((one) => (one.ok ? [] : one.faults)) };
  const { access } = own.settings;
  // No token comes with an event, and the bus knows who asks.
  const known = access && { ...access, auth: undefined, userGroups: [] };
  return { ok: true, settings: { ...lookups.settings, function: { ...own.settings, access: known } } };
}

/**
 * Operations that can be requested by event: nothing that has a side effect, nothing that the gateway answers by itself, and no
 * older form, because no client in the field sends events.
 */
export const readsOf = (catalogue: readonly Operation[], groups: readonly Group[]): readonly Operation[] =>
  exposedOperations(catalogue, groups).filter(
    (operation) => !operation.sideEffect && isSentOn(operation) && !operation.legacyOf,
  );
