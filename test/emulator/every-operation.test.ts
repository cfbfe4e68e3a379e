/** Every group opened in one deployment: each path of each operation reaches the upstream and comes back. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { exposedOperations, groups, openable, operations, routesOf } from '../../lib/catalogue/index.ts';
import { callOf, type Prepare } from '../support/calls.ts';
import { catalogueSize } from '../support/catalogue-size.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { ask, deployedStage } from './deployed-stage.ts';

const routes = routesOf(exposedOperations(operations, openable));

describe('a deployment that opens every group', needsEmulator(), () => {
  const stage = deployedStage({
    granted: true,
    props: {
      groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' },
      plans: { default: { ratePerSecond: 5000, burst: 5000 } },
      cache: 'off',
    },
    upstreamLimit: 100_000,
    unrouted: [],
  });

  async function call(path: string, body?: string): Promise<Response> {
    const { group } = routes.find((route) => route.path === path.split('?')[0])?.operation ?? {};
    if (group && groups[group].exposure === 'public') return fetch(`${stage.url}${path}`);
    if (!group || groups[group].exposure !== 'open') return ask(stage, path, body);
    const headers = { 'content-type': 'application/json' };
    return stage.call(path, body === undefined ? {} : { method: 'POST', headers, body });
  }
  const prepare: Prepare = async (path, body) => (await call(path, JSON.stringify(body))).json();

  test('routes every exposed operation at all of its paths', () => {
    assert.equal(new Set(routes.map(({ operation }) => operation.id)).size, catalogueSize.exposed.operations);
    assert.equal(routes.length, catalogueSize.exposed.paths);
  });

  for (const { method, path, operation } of routes)
    test(`${method} ${path}`, async () => {
      const { search, body } = await callOf(operation.id, prepare);
      const before = stage.simulator.received.length;
      const response = await call(path + search, body);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.ok(v.is(operation.response, JSON.parse(text)), 'the answer fits its schema');
      if (operation.gatewayAnswer) {
        assert.equal(text, operation.gatewayAnswer.body);
        assert.equal(stage.simulator.received.length, before);
        return;
      }
      if (operation.answeredBy) {
        assert.equal(stage.simulator.received.length, before);
        return;
      }
      const received = stage.simulator.received.at(-1);
      assert.equal(received?.target, path + search);
      assert.equal(received?.outcome, 'ok');
    });
});
