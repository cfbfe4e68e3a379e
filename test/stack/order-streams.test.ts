/** Streams of order events deployed: a table that the listener writes, and a function that may read it and nothing of the upstream. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { orderStreams, tradeEvents } from '../../functions/compose/functions.ts';
import { orderStreamPartition } from '../../functions/settings/parts.ts';
import {
  historyKeepActions,
  historyReadActions,
  streamCountActions,
} from '../../infra/stack/event-history.ts';
import { streamOrderEvents } from '../../lib/catalogue/live.ts';
import { actionsIn, calledBy, codeOf } from './called-by.ts';
import {
  environmentOf,
  idOf,
  policiesOf,
  type Synthesised,
  settingsOf,
  synthesise,
  variablesOf,
} from './synthesise.ts';

const auth = { issuer: 'https://issuer.example', clientIds: ['app'] };
const without = { groups: { orders: 'jwt' }, auth, trading: { limits: 'none' }, tradeEvents: {} } as const;
const live = { maxOrderStreams: 7 };
const streaming = synthesise({ ...without, live });

const roleOf = ({ template, functionOf }: Synthesised, name: Parameters<typeof functionOf>[0]) =>
  template.Resources[idOf(functionOf(name)[1].Properties.Role)];
const listenerOf = ({ all }: Synthesised) =>
  all('AWS::Lambda::Function').find(([id]) => id.startsWith('TradeEventsListener'))?.[1].Properties ?? {};
const historyOf = ({ all }: Synthesised) =>
  all('AWS::DynamoDB::Table').find(([id]) => id.startsWith('TradeEventHistory'));

test('without it there is neither path nor table nor function, and the listener keeps nothing', () => {
  const plain = synthesise(without);
  assert.throws(() => plain.functionOf('order-streams'));
  assert.equal(historyOf(plain), undefined);
  assert.doesNotMatch(JSON.stringify(plain.template), /events\/stream|EVENT_HISTORY/);
  // A deployment's name is made of what is deployed.
  for (const id of Object.keys(plain.template.Resources))
    assert.ok(id.startsWith('ApiDeployment') || streaming.template.Resources[id], id);
});

test('what streams tell expires by itself, and goes with the stack', () => {
  const [, { Properties, ...rest }] = historyOf(streaming) ?? assert.fail('no table');
  assert.deepEqual(Properties.TimeToLiveSpecification, { AttributeName: 'expires_at', Enabled: true });
  assert.deepEqual(
    (Properties.KeySchema as readonly { AttributeName: string }[]).map((key) => key.AttributeName),
    ['pk', 'sk'],
  );
  assert.equal((rest as { DeletionPolicy?: string }).DeletionPolicy, 'Delete');
});

test('the listener puts events there and reads the last place; the streams’ function reads, and writes what counts streams alone', () => {
  assert.deepEqual([...historyKeepActions].sort(), calledBy('dynamo-event-history'));
  assert.deepEqual([...streamCountActions].sort(), calledBy('dynamo-stream-store'));
  // Of the history it has the reads alone: what appends is the listener's.
  const reads =
    codeOf('dynamo-event-history').split('async append').at(-1)?.split('async after').at(-1) ?? '';
  assert.deepEqual(historyReadActions, actionsIn(reads));
  const [table] = historyOf(streaming) ?? [];
  const Resource = { 'Fn::GetAtt': [table, 'Arn'] };
  const statement = (actions: readonly string[], more = {}) => ({
    Effect: 'Allow',
    Action: actions.length === 1 ? `dynamodb:${actions[0]}` : actions.map((one) => `dynamodb:${one}`),
    Resource,
    ...more,
  });
  const leading = { 'dynamodb:LeadingKeys': [`streams#${orderStreamPartition}#*`] };
  const policies = policiesOf(roleOf(streaming, 'order-streams'));
  assert.deepEqual(policies.map(({ PolicyName }) => PolicyName).sort(), [
    'CountStreams',
    'ReadHistory',
    'ReadIdentityKey',
    'ReadUsers',
    'WriteLog',
  ]);
  const of = (name: string) =>
    policies.find(({ PolicyName }) => PolicyName === name)?.PolicyDocument.Statement;
  assert.deepEqual(of('ReadHistory'), [statement(historyReadActions)]);
  assert.deepEqual(of('CountStreams'), [
    statement(streamCountActions, { Condition: { 'ForAllValues:StringLike': leading } }),
  ]);
  const keeping = policiesOf(streaming.template.Resources[idOf(listenerOf(streaming).Role)]);
  assert.deepEqual(keeping.find(({ PolicyName }) => PolicyName === 'KeepHistory')?.PolicyDocument.Statement, [
    statement(historyKeepActions),
  ]);
});

test('its variables are settings of both functions, and name one table', () => {
  const own = synthesise({ ...without, live, cors: { origins: ['https://app.example'] } });
  const [, { Properties }] = own.functionOf('order-streams');
  const read = orderStreams.read(environmentOf(Properties));
  assert.ok(read.ok, JSON.stringify(read));
  assert.deepEqual([read.settings.maxStreams, read.settings.corsOrigins], [7, ['https://app.example']]);
  assert.ok(read.settings.access.auth);
  assert.deepEqual(
    ['UPSTREAM', 'LIMITER', 'CACHE'].filter((name) => variablesOf(Properties)[name]),
    [],
  );
  assert.equal(
    settingsOf(Properties, 'METRICS')?.secretId,
    settingsOf(listenerOf(own), 'UPSTREAM')?.secretId,
  );
  const listening = tradeEvents.read(environmentOf(listenerOf(own)));
  assert.ok(listening.ok && listening.settings.historyTable);
  assert.deepEqual(variablesOf(listenerOf(own)).EVENT_HISTORY, variablesOf(Properties).EVENT_HISTORY);
});

test('a stream has an instance of its own, and its callers show who they are as for other orders', () => {
  const [, { Properties }] = streaming.functionOf('order-streams');
  assert.deepEqual(
    [Properties.ReservedConcurrentExecutions, Properties.Timeout, Properties.MemorySize],
    [7, 900, 256],
  );
  const { paths } = streaming.one('AWS::ApiGateway::RestApi')[1].Properties.Body as {
    paths: Record<string, { get?: Readonly<Record<string, unknown>> }>;
  };
  const { get = {} } = paths[streamOrderEvents.path] ?? {};
  assert.deepEqual(get.security, paths['/trading/orders/open/list']?.get?.security ?? get.security);
  assert.match(JSON.stringify(get), /response-streaming-invocations/);
  assert.match(JSON.stringify(get), /"responseTransferMode":"STREAM"/);
});

test('what a stage lacks for it is said', () => {
  const of = (props: object) => () => synthesise({ ...props, live });
  assert.throws(of({}), /live\.maxOrderStreams needs tradeEvents and groups\.orders/);
  assert.throws(of({ tradeEvents: {} }), /live\.maxOrderStreams needs tradeEvents and groups\.orders/);
  assert.throws(() => synthesise({ ...without, live: {} }), /live needs maxStreams, maxOrderStreams or both/);
});
