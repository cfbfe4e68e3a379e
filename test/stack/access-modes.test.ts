/** The table of access modes holds for every group, also with a mode that is added to it. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { accessModes, modesFor, usualMode } from '../../infra/access-modes.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { groups, openable } from '../../lib/catalogue/index.ts';
import { baseUrl } from './synthesise.ts';

const modes = Object.keys(accessModes) as (keyof typeof accessModes)[];
const upstream = { baseUrl, limits: 'interface' } as const;

test('every group takes exactly its modes: one that belongs to an account only those that authenticate', () => {
  for (const group of openable) {
    const taken = modes.filter((mode) => {
      try {
        return resolveConfig({ upstream, groups: { [group]: mode } }).access[group] === mode;
      } catch {
        return false;
      }
    });
    assert.deepEqual(taken, modesFor(group), group);
    const belongsToOne = groups[group].exposure === 'closed';
    assert.ok(!belongsToOne || taken.every((mode) => accessModes[mode].authenticates), group);
    assert.ok(taken.includes(usualMode(group)), group);
  }
});

test('no two modes share a security scheme', () => {
  assert.equal(new Set(modes.map((mode) => accessModes[mode].scheme)).size, modes.length);
});
