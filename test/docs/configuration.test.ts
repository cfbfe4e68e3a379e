/** docs/configuration.md has every property and every variable, and no other. */

import assert from 'node:assert/strict';
import type { GenericSchema } from 'valibot';
import { describe, test } from 'vitest';
import { quoteStreams } from '../../functions/compose/quote-streams.ts';
import { readFunctionSettings } from '../../functions/settings/environment.ts';
import { orderChecks } from '../../functions/settings/order-checks.ts';
import { readOrderStreamSettings } from '../../functions/settings/order-streams.ts';
import { workerNames, workers } from '../../functions/workers.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { config } from '../../infra/stack/resolve-config.ts';
import { functionsOf } from '../../lib/catalogue/functions.ts';
import { type Group, groups, operations } from '../../lib/catalogue/index.ts';
import { firstColumn, rowsOf } from './pages.ts';

const page = 'docs/configuration.md';

/** The parts of a valibot schema that lead to others. */
type Walkable = GenericSchema & {
  readonly entries?: Readonly<Record<string, Walkable>>;
  readonly wrapped?: Walkable;
  readonly value?: Walkable;
  /** Of a schema that is chosen by what is given. */
  readonly getter?: (given: unknown) => Walkable;
};

const functions: readonly string[] = (Object.keys(groups) as Group[]).flatMap(functionsOf);
/** Also of their functions, which are called as they are. */
const isGroups = (entries: object) => Object.keys(entries).every((name) => functions.includes(name));

/** Paths of all values; what has a name of its own, a plan or a group, is NAME. */
function pathsOf(schema: Walkable, path: string): readonly string[] {
  const { entries, wrapped, value, getter } = schema;
  if (wrapped) return pathsOf(wrapped, path);
  if (schema.type === 'lazy' && getter) return pathsOf(getter({}), path);
  if (schema.type === 'record' && value) return pathsOf(value, `${path}.NAME`);
  if (!entries) return [path];
  if (isGroups(entries)) return [`${path}.NAME`];
  return Object.entries(entries).flatMap(([name, entry]) => pathsOf(entry, path ? `${path}.${name}` : name));
}

/** The names that a function reads of an environment. */
function namesRead(read: (env: Readonly<Record<string, string | undefined>>) => unknown): readonly string[] {
  const names = new Set<string>();
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get(_, name) {
        names.add(String(name));
        return undefined;
      },
    },
  );
  read(env);
  return [...names].sort();
}

test('it has every property of the configuration', () => {
  const paths = pathsOf(config as unknown as Walkable, '');
  // A map from name to path is one property to the deployer who sets it, and `off` stands for all of the cache.
  const expected = [...paths.map((path) => path.replace('upstream.paths.NAME', 'upstream.paths')), 'cache'];
  assert.ok(expected.includes('cache.networkPrefix.ipv6') && expected.includes('plans.NAME.quota.per'));
  assert.deepEqual([...firstColumn(page, 'Properties')].sort(), expected.sort());
});

describe('it has every variable', () => {
  test('of the local run', () => {
    assert.deepEqual([...firstColumn(page, 'The local run')].sort(), namesRead(readSettings));
  });

  test('of the functions', () => {
    const read = new Set([
      ...namesRead((env) => readFunctionSettings(env, operations, orderChecks)),
      ...workerNames.flatMap((name) => namesRead(workers[name].read)),
      ...namesRead(readOrderStreamSettings),
      ...namesRead(quoteStreams.read),
      // No setting: `throttles-told.ts` names a metric with it.
      'SECRET_OF_METRICS',
    ]);
    assert.deepEqual([...firstColumn(page, 'The functions')].sort(), [...read].sort());
  });
});

test('it has every group with its exposure', () => {
  for (const [group, { exposure }] of Object.entries(groups))
    assert.ok(
      rowsOf(page).some((row) => row.includes(`\`${group}\``) && row.includes(`| ${exposure}`)),
      `${group} is ${exposure}`,
    );
});
