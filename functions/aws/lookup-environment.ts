/** The settings of the lookups' function, besides those of every function. */

import { exposedOperations } from '../../lib/catalogue/exposure.ts';
import { type Group, openable } from '../../lib/catalogue/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { type Environment, type FunctionSettings, readFunctionSettings } from './environment.ts';

export interface LookupSettings {
  readonly function: FunctionSettings;
  /** The reads of the open groups. */
  readonly operations: readonly Operation[];
  /** How many functions work on the queue at once. */
  readonly instances: number;
  readonly tableName: string;
  readonly queueUrl: string;
  readonly deadLetterUrl: string;
  readonly busName: string;
}

export type ReadLookupSettings =
  | { readonly ok: true; readonly settings: LookupSettings }
  /** One sentence for each variable that is wrong; values are not repeated. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** @param catalogue every operation that a deployer can open */
export function readLookupSettings(env: Environment, catalogue: readonly Operation[]): ReadLookupSettings {
  const faults: string[] = [];
  const required = (name: string) => {
    const value = env[name] ?? '';
    if (!value) faults.push(`${name}: not set`);
    return value;
  };
  const tableName = required('LOOKUP_TABLE');
  const queueUrl = required('LOOKUP_QUEUE');
  const deadLetterUrl = required('LOOKUP_DEAD_LETTERS');
  const busName = required('LOOKUP_BUS');
  const groups = required('LOOKUP_GROUPS').split(',').filter(Boolean);
  if (groups.some((group) => !openable.includes(group as Group)))
    faults.push(`LOOKUP_GROUPS: takes ${openable.join(', ')}`);
  const instances = Number(env.LOOKUP_INSTANCES || '2');
  if (!(Number.isInteger(instances) && instances >= 1 && instances <= 1000))
    faults.push('LOOKUP_INSTANCES: not a whole number from 1 to 1000');
  const operations = readsOf(catalogue, groups as Group[]);
  const read = readFunctionSettings(env, operations);
  if (!read.ok) return { ok: false, faults: [...read.faults, ...faults] };
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    settings: { function: read.settings, operations, instances, tableName, queueUrl, deadLetterUrl, busName },
  };
}

/**
 * What can be requested by event: nothing that has a side effect, nothing that the gateway answers by itself, and no
 * older form, because no client in the field sends events.
 */
export const readsOf = (catalogue: readonly Operation[], groups: readonly Group[]): readonly Operation[] =>
  exposedOperations(catalogue, groups).filter(
    ({ sideEffect, gatewayAnswer, legacyOf }) => !sideEffect && !gatewayAnswer && !legacyOf,
  );
