/** The table of access modes holds for every group, also with a mode that is added to it. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  accessModes,
  asksWho,
  frontSecurityOf,
  modesFor,
  securityOf,
  usualMode,
} from '../../infra/access-modes.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { groups, openable } from '../../lib/catalogue/index.ts';
import { baseUrl } from './synthesise.ts';

const modes = Object.keys(accessModes) as (keyof typeof accessModes)[];
const upstream = { baseUrl, limits: 'interface' } as const;

test('every group takes exactly its modes: one that belongs to accounts only those that tell who calls', () => {
  for (const group of openable) {
    const taken = modes.filter((mode) => {
      const auth = mode === 'jwt' && { issuer: 'https://issuer.example', clientIds: ['app'] };
      try {
        const config = { upstream, groups: { [group]: mode }, ...(auth && { auth }) };
        return resolveConfig(config).access[group] === mode;
      } catch {
        return false;
      }
    });
    assert.deepEqual(taken, modesFor(group), group);
    const isClosed = groups[group].exposure === 'closed';
    assert.deepEqual(taken, isClosed ? ['jwt', 'bound-key', 'iam'] : ['api-key', 'jwt', 'iam'], group);
    assert.ok(taken.includes(usualMode(group)), group);
  }
});

test('no two modes ask for the same', () => {
  const asked = modes.map((mode) => JSON.stringify(securityOf(mode)));
  assert.equal(new Set(asked).size, modes.length);
});

test('what API Gateway checks is one of the ways in which callers show who they are', () => {
  for (const mode of modes) {
    const ways = securityOf(mode).map((way) => JSON.stringify(way));
    assert.ok(ways.includes(JSON.stringify(frontSecurityOf(mode)[0])), mode);
  }
});

test('who calls is asked of every group of accounts, and of market facts only with a token', () => {
  for (const group of openable)
    for (const mode of modesFor(group))
      assert.equal(asksWho(group, mode), groups[group].exposure === 'closed' || mode === 'jwt');
});
