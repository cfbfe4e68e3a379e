/** The settings of the lookups' functions, besides those of every function. */

import { exposedOperations } from '../../lib/catalogue/exposure.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { type Group, openable } from '../../lib/catalogue/index.ts';
import { isSentOn, type Operation } from '../../lib/catalogue/operation.ts';
import { type Environment, type Read, readGatewaySettings, readWhole, requiredOf } from './environment.ts';
import { lookupInstances, minQueueConcurrency } from './ranges.ts';
import type { LookupQueueSettings, LookupSettings } from './settings.ts';

/** @param catalogue every operation that a deployer can open */
export function readLookupSettings(env: Environment, catalogue: readonly Operation[]): Read<LookupSettings> {
  const faults: string[] = [];
  const required = requiredOf(env, faults);
  // Where the variable was lost, the function takes messages of its queues alone, and answers no direct call.
  const takes = env.LOOKUP_TAKES || 'messages';
  if (takes !== 'messages' && takes !== 'calls') faults.push('LOOKUP_TAKES: takes messages or calls');
  const queues: LookupQueueSettings | undefined =
    takes === 'calls'
      ? undefined
      : {
          tableName: required('LOOKUP_TABLE'),
          queueUrl: required('LOOKUP_QUEUE'),
          busQueueUrl: env.LOOKUP_BUS_QUEUE || undefined,
          deadLetterUrl: required('LOOKUP_DEAD_LETTERS'),
          busName: required('LOOKUP_BUS'),
        };
  const groups = required('LOOKUP_GROUPS').split(',').filter(Boolean);
  if (groups.some((group) => !openable.includes(group as Group)))
    faults.push(`LOOKUP_GROUPS: takes ${openable.join(', ')}`);
  const instances = readWhole(env, 'LOOKUP_INSTANCES', lookupInstances, faults) ?? minQueueConcurrency;
  const operations = readsOf(catalogue, groups as Group[]);
  // Every sender to the other queue could name a source that has been granted accounts.
  if (queues && !queues.busQueueUrl && operations.some(({ group }) => isAccountData(group)))
    faults.push('LOOKUP_BUS_QUEUE: not set, but LOOKUP_GROUPS has account data');
  // No token comes with an event, and the bus knows who asks.
  const read = readGatewaySettings({ ...env, AUTH: undefined, USER_GROUPS: undefined }, operations);
  if (!read.ok) return { ok: false, faults: [...read.faults, ...faults] };
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    settings: { function: read.settings, operations, instances, queues },
  };
}

/**
 * What can be requested by event: nothing that has a side effect, nothing that the gateway answers by itself, and no
 * older form, because no client in the field sends events.
 */
export const readsOf = (catalogue: readonly Operation[], groups: readonly Group[]): readonly Operation[] =>
  exposedOperations(catalogue, groups).filter(
    (operation) => !operation.sideEffect && isSentOn(operation) && !operation.legacyOf,
  );
