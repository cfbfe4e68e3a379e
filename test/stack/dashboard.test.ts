/** The dashboard and the saved queries: of what is there, and of what functions log. Drawn they are by AWS alone. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { graphs, queries } from '../../infra/stack/dashboard.ts';
import { root } from '../support/bundle.ts';
import { type Synthesised, synthesise } from './synthesise.ts';

const bodyOf = (from: Synthesised) => JSON.stringify(from.one('AWS::CloudWatch::Dashboard')[1].Properties);

test('each graph is there with all parts, and none of a part that is not', () => {
  const full = bodyOf(
    synthesise({
      groups: { orders: 'iam' },
      live: { maxStreams: 5 },
      tradeEvents: {},
      marketStream: { url: 'mqtts://quotes.example:1883' },
      marketDataUse: 'own-use',
    }),
  );
  for (const title of Object.keys(graphs)) assert.ok(full.includes(title), title);
  assert.match(full, /Orders by outcome/);
  const plain = bodyOf(synthesise());
  assert.doesNotMatch(plain, /Orders|Trade events|Streams of quotes/);
  assert.match(plain, /Age of the oldest quote/);
});

test('it has the name of the deployment and all of its alarms', () => {
  const from = synthesise();
  const { DashboardName } = from.one('AWS::CloudWatch::Dashboard')[1].Properties;
  assert.equal(DashboardName, 'Countersign-test');
  const body = bodyOf(from);
  for (const [id] of from.all('AWS::CloudWatch::Alarm')) assert.ok(body.includes(id), id);
});

test('five queries over the log of each function, and of fields that functions log', () => {
  const from = synthesise();
  const saved = from.all('AWS::Logs::QueryDefinition').map(([, { Properties }]) => Properties);
  assert.deepEqual(
    saved.map(({ Name }) => Name),
    Object.keys(queries).map((name) => `Countersign-test/${name}`),
  );
  for (const { LogGroupNames } of saved)
    assert.equal((LogGroupNames as readonly unknown[]).length, from.all('AWS::Lambda::Function').length);
  const logged = ['lib/gateway/options.ts', 'lib/problem.ts', 'lib/upstream/cause.ts']
    .concat(readdirSync(join(root, 'functions/compose')).map((name) => `functions/compose/${name}`))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  for (const [first = ''] of Object.values(queries))
    for (const field of first.startsWith('fields') ? first.slice(7).split(', ') : [])
      if (field !== '@timestamp') assert.match(logged, new RegExp(`\\b${field}\\b`), field);
});

test('off, there is neither dashboard nor query', () => {
  const from = synthesise({ dashboard: 'off' });
  assert.deepEqual(
    ['AWS::CloudWatch::Dashboard', 'AWS::Logs::QueryDefinition'].map((type) => from.all(type).length),
    [0, 0],
  );
});
