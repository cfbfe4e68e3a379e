/** docs/configuration.md has every property and every variable, and no other. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { functionsOf } from '../../functions/rows.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { config } from '../../infra/stack/config-schema.ts';
import { type Place, placesIn } from '../../infra/stack/places.ts';
import { type Group, groups } from '../../lib/catalogue/index.ts';
import { firstColumn, rowsOf } from './pages.ts';
import { wholeStage } from './whole-stage.ts';

const page = 'docs/configuration.md';

const functions: readonly string[] = (Object.keys(groups) as Group[]).flatMap(functionsOf);

/** What has a name of its own, a plan or a group, is NAME. */
const rowOf = ({ path }: Place) =>
  path
    .map((name, at) => (name === '*' || (at > 0 && functions.includes(name)) ? 'NAME' : name))
    .join('.')
    // A map from name to path is one property to the deployer who sets it.
    .replace('upstream.paths.NAME', 'upstream.paths');

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
  const rows = new Set(placesIn(config).map(rowOf));
  assert.ok(rows.has('cache') && rows.has('cache.networkPrefix.ipv6') && rows.has('plans.NAME.quota.per'));
  // A whole object of reservations is told of beside its members.
  rows.delete('functions.reservedConcurrency');
  assert.deepEqual([...firstColumn(page, 'Properties')].sort(), [...rows].sort());
});

describe('it has every variable', () => {
  test('of the local run', () => {
    assert.deepEqual([...firstColumn(page, 'The local run')].sort(), namesRead(readSettings));
  });

  test('of the functions', () => {
    const parts = new Set([...wholeStage().functions.values()].flat());
    parts.delete('AWS_LAMBDA_NODEJS_WORKER_COUNT');
    assert.deepEqual([...firstColumn(page, 'The functions')].sort(), [...parts].sort());
  });
});

test('it has every group with its exposure', () => {
  for (const [group, { exposure }] of Object.entries(groups))
    assert.ok(
      rowsOf(page).some((row) => row.includes(`\`${group}\``) && row.includes(`| ${exposure}`)),
      `${group} is ${exposure}`,
    );
});
