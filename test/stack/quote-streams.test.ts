/** Streams of quotes deployed: what a stage has with `live`, and what one without it has not. */

import assert from 'node:assert/strict';
import type { Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { test } from 'vitest';
import { readFunctionSettings } from '../../functions/settings/function-settings.ts';
import { reservationFault } from '../../infra/commands/preflight-bounds.ts';
import { streams } from '../../infra/cost/cost-figures.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import { streamStockSnapshots } from '../../lib/catalogue/live.ts';
import {
  base,
  environmentOf,
  idOf,
  policiesOf,
  type Synthesised,
  settingsOf,
  synthesise,
  variablesOf,
} from './synthesise.ts';

const live = { maxStreams: 7 };
const { path } = streamStockSnapshots;
const auth = { issuer: 'https://issuer.example', clientIds: ['app'] };

interface Method {
  readonly security: readonly object[];
  readonly 'x-amazon-apigateway-integration': { readonly uri: object } & Readonly<Record<string, unknown>>;
}

const methodsOf = ({ one }: Synthesised, at: string = path) =>
  (one('AWS::ApiGateway::RestApi')[1].Properties.Body as { paths: Record<string, Record<string, Method>> })
    .paths[at];

test('without it there is neither path nor function', () => {
  const plain = synthesise();
  assert.equal(methodsOf(plain), undefined);
  assert.throws(() => plain.functionOf('quote-streams'));
});

test('a stream has an instance of its own, for as long as Lambda and API Gateway allow', () => {
  const synthesised = synthesise({ live });
  const [id, { Properties }] = synthesised.functionOf('quote-streams');
  assert.equal(Properties.ReservedConcurrentExecutions, 7);
  assert.equal(Properties.Timeout, 900);
  assert.equal(Properties.MemorySize, streams.memoryMiB);
  const { uri, ...integration } = methodsOf(synthesised)?.get?.['x-amazon-apigateway-integration'] ?? {};
  assert.deepEqual(integration, {
    type: 'aws_proxy',
    httpMethod: 'POST',
    passthroughBehavior: 'when_no_match',
    timeoutInMillis: 900_000,
    responseTransferMode: 'STREAM',
  });
  const pieces = (uri as unknown as { 'Fn::Join': [string, readonly unknown[]] })['Fn::Join'][1];
  assert.match(
    pieces.map((piece) => (typeof piece === 'string' ? piece : JSON.stringify(piece))).join(''),
    new RegExp(
      `:lambda:path/2021-11-15/functions/\\{"Fn::GetAtt":\\["${id}","Arn"\\]\\}/response-streaming-invocations$`,
    ),
  );
  const invoking = synthesised
    .all('AWS::Lambda::Permission')
    .filter(([, one]) => JSON.stringify(one.Properties.FunctionName).includes(`"${id}"`));
  assert.deepEqual(
    invoking.map(([, one]) => [one.Properties.Action, one.Properties.Principal]),
    [['lambda:InvokeFunction', 'apigateway.amazonaws.com']],
  );
});

test('a deployer may have streams end earlier', () => {
  const [, { Properties }] = synthesise({ live: { ...live, streamSeconds: 120 } }).functionOf(
    'quote-streams',
  );
  assert.equal(Properties.Timeout, 120);
});

test('synth says what streams take', () => {
  const { app } = synthesise({ live });
  const said = Annotations.fromStack(app.node.findChild('Countersign-test') as Stack);
  said.hasInfo('*', Match.stringLikeRegexp('reserves 7 Lambda instances.*three to five times.*docs/live.md'));
});

test('nothing else of the stage changes with it', () => {
  const [plain, streaming] = [synthesise(), synthesise({ live })];
  const streams = streaming.functionOf('quote-streams')[0].replace(/Function[0-9A-F]{8}$/, '');
  const others = Object.entries(streaming.template.Resources).filter(
    // The path is part of the API, a deployment's name is made of what is deployed, and two alarms and the dashboard have
    // all functions.
    ([id, { Type }]) =>
      !id.startsWith(streams) &&
      !/^(Alarmsfunctions|Dashboard)/.test(id) &&
      !/ApiGateway::(RestApi|Deployment|Stage)$/.test(Type),
  );
  for (const [id, resource] of others) assert.deepEqual(resource, plain.template.Resources[id], id);
  assert.deepEqual(methodsOf(streaming, getStockSnapshots.path), methodsOf(plain, getStockSnapshots.path));
});

test('it may do what following takes, and its variables are settings of the function', () => {
  const paths = { getStockSnapshots: '/p/quotes' };
  const synthesised = synthesise({
    live,
    upstream: { baseUrl: 'https://upstream.example', limits: 'published', paths },
    limiter: { operationLimits: { quotes: { requests: 200, perSeconds: 60, for: ['market-data'] } } },
    cors: { origins: ['https://app.example'] },
  });
  const [, { Properties }] = synthesised.functionOf('quote-streams');
  const role = synthesised.template.Resources[idOf(Properties.Role)];
  assert.deepEqual(
    policiesOf(role).map(({ PolicyName }) => PolicyName),
    ['ReadSecret', 'CountRequests', 'ShareAnswers', 'WriteLog'],
  );
  assert.deepEqual(settingsOf(Properties, 'UPSTREAM')?.paths, paths);
  const read = readFunctionSettings(environmentOf(Properties), [streamStockSnapshots, getStockSnapshots]);
  assert.ok(read.ok, JSON.stringify(read));
  assert.ok(read.settings.cache && read.settings.limiter);
  assert.deepEqual(read.settings.corsOrigins, ['https://app.example']);
});

test('callers show who they are as for other quotes, and browsers ask first', () => {
  for (const opened of [
    {},
    { groups: { 'market-data': 'jwt' }, auth },
    { groups: { 'market-data': 'iam' } },
  ] as const) {
    const synthesised = synthesise({ live, ...opened, cors: { origins: ['https://app.example'] } });
    const [own, quotes] = [path, getStockSnapshots.path].map((at) => methodsOf(synthesised, at));
    assert.deepEqual(own?.get?.security, quotes?.get?.security);
    assert.deepEqual(own?.options, quotes?.options);
    const variables = (name: 'market-data' | 'quote-streams') =>
      variablesOf(synthesised.functionOf(name)[1].Properties);
    for (const name of ['ACCESS', 'AUTH'])
      assert.deepEqual(variables('quote-streams')[name], variables('market-data')[name], name);
  }
});

test('its instances have their part of the reserve', () => {
  const reserve = (props: object) =>
    settingsOf(
      synthesise({
        limiter: { reserve: 0.5 },
        functions: {
          reservedConcurrency: { 'market-data': 5, instruments: 5, screeners: 5, fundamentals: 5 },
        },
        ...props,
      }).functionOf('market-data')[1].Properties,
      'LIMITER',
    )?.reserve?.instances;
  assert.equal(reserve({}), 20);
  assert.equal(reserve({ live }), 27);
});

test('the preflight says what of it an account cannot carry, also where nothing else is reserved', () => {
  const config = resolveConfig({ ...base, live, functions: { reservedConcurrency: 'none' } });
  const fault = reservationFault(config, 10) ?? '';
  assert.match(
    fault,
    /^The stage reserves 7 instances \(quote-streams 7\).* and take live out of it, or ask/,
  );
  assert.equal(reservationFault(config, 1000), undefined);
});
