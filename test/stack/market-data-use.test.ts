/** Quotes are shared between callers on a basis that the deployer names: refused at synth otherwise. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { ConfigError, type CountersignConfig } from '../../infra/stack/config.ts';
import { marketDataUsePage } from '../../infra/stack/market-data-use.ts';
import { configOf, stageOf } from '../../infra/stack/stages.ts';
import { openByDefault } from '../../lib/catalogue/index.ts';
import { testRefusals } from './refusals.ts';
import { base, synthesise } from './synthesise.ts';

const { upstream } = base;

/** Without a basis, unless it is among the properties. */
const synth = (config: Partial<CountersignConfig>) => {
  const { marketDataUse } = config;
  return synthesise({ ...config, marketDataUse: marketDataUse as 'own-use' }).template;
};

const closed = Object.fromEntries(openByDefault.map((group) => [group, 'closed']));

describe('without a basis', () => {
  for (const [what, config, sharing] of [
    ['an upstream alone', {}, 'cache'],
    ['a cache with other figures', { cache: { instances: 10 } }, 'cache'],
    ['events, which merge requests', { cache: 'off', events: {} }, 'events'],
    ['both', { events: {} }, 'cache and events'],
    ['market data beside accounts', { groups: { accounts: 'iam' } }, 'cache'],
    ['instruments alone', { groups: { ...closed, instruments: 'api-key' } }, 'cache'],
  ] as const)
    test(`refused in one sentence: ${what}`, () => {
      assert.throws(
        () => synth(config),
        (error) => {
          assert.ok(error instanceof ConfigError);
          assert.match(error.message, /^marketDataUse is required, [^\n]+\.$/);
          assert.ok(error.message.includes(`because with ${sharing} one fetch`), error.message);
          assert.ok(error.message.includes(marketDataUsePage), error.message);
          return true;
        },
      );
    });

  for (const [what, config] of [
    ['nothing is shared', { cache: 'off' }],
    ['only accounts and orders are open', { groups: { ...closed, accounts: 'iam', orders: 'iam' } }],
  ] as const)
    test(`synthesised: ${what}`, () => assert.ok(synth(config)));
});

test('either basis makes the same template, so that naming it changes nothing that is deployed', () => {
  const own = synth({ marketDataUse: 'own-use', events: {} });
  assert.deepEqual(synth({ marketDataUse: 'licensed', events: {} }), own);
  assert.deepEqual(synth({ marketDataUse: 'licensed', cache: 'off' }), synth({ cache: 'off' }));
});

test('the example stages share nothing, and name no basis in the deployer’s place', () => {
  for (const stage of ['dev', 'prod', 'prove']) {
    const { cache, marketDataUse } = configOf(stageOf(stage));
    assert.deepEqual([cache, marketDataUse], ['off', undefined]);
  }
});

testRefusals([
  [
    'another basis',
    { upstream, marketDataUse: 'everybody' },
    /^marketDataUse takes one of own-use, licensed\.$/,
  ],
  ['a basis: true', { upstream, marketDataUse: true }, /^marketDataUse takes one of own-use, licensed\.$/],
]);
