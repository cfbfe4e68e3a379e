/** The typed client on a stream of order events: what comes again, what was missed, and ends that say why. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { RefusedError, viaGateway } from '../../../lib/client/index.ts';
import { followOrderEvents, type OrderEventUpdate } from '../../../lib/trade-events/index.ts';

const detail = (id: string) =>
  JSON.stringify({
    event_id: id,
    account: 'hash',
    account_id: '1',
    client_order_id: id,
    status: 'FILLED',
    filled_quantity: '1',
    reconciled: false,
    received_at: '2026-10-21T14:30:00.164Z',
    order: {},
  });
const said = (event: string, data: object, id?: string) =>
  `${id ? `id: ${id}\n` : ''}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const change = (id: string, place: string) =>
  `id: ${place}\nevent: change\ndata: {"source":"countersign","detail-type":"OrderChanged","detail":${detail(id)}}\n\n`;
const start = (resumed: boolean, place: string) => said('start', { now: 1, resumed }, place);
const end = said('end', { reason: 'time', retry_after_ms: 1 });

/** Connections, each answered by the next of them. */
function world(answers: readonly (string | number)[]) {
  const lastIds: (string | null)[] = [];
  const connection = viaGateway({
    baseUrl: 'https://gateway.example',
    fetch: async (_, init) => {
      const answer = answers[lastIds.length] ?? 401;
      lastIds.push(new Headers(init?.headers).get('last-event-id'));
      if (typeof answer === 'string')
        return new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
      const problem = { code: 'invalid_token', detail: 'The token was revoked.', status: answer };
      return Response.json(problem, {
        status: answer,
        headers: { 'content-type': 'application/problem+json' },
      });
    },
  });
  return { lastIds, connection };
}

async function updatesOf(answers: readonly (string | number)[], lastId?: string) {
  const { lastIds, connection } = world(answers);
  const updates: OrderEventUpdate[] = [];
  const following = async () => {
    for await (const update of followOrderEvents(connection, lastId === undefined ? {} : { lastId }))
      updates.push(update);
  };
  // It ends with what another connection would meet again.
  await assert.rejects(following, (error) => error instanceof RefusedError && error.code === 'invalid_token');
  const of = <K extends OrderEventUpdate['kind']>(kind: K) =>
    updates.filter((one): one is Extract<OrderEventUpdate, { kind: K }> => one.kind === kind);
  return { lastIds, of, ids: of('event').map(({ event }) => event.detail.event_id) };
}

test('a connection goes on where the last one stopped, and what comes again is yielded once', async () => {
  const { lastIds, ids, of } = await updatesOf([
    start(false, 'p0') + change('one', 'p0') + change('two', 'p1'),
    start(true, 'p1') + change('two', 'p1') + change('three', 'p2') + end,
    start(true, 'p2') + said('beat', { now: 2, cause: 'journal_unavailable' }, 'p3'),
  ]);
  assert.deepEqual(lastIds, [null, 'p1', 'p2', 'p3']);
  assert.deepEqual(ids, ['one', 'two', 'three']);
  assert.deepEqual(
    of('connected').map(({ missed }) => missed),
    [false, false, false],
  );
  assert.deepEqual([of('end')[0]?.reason, of('end')[0]?.lastId], ['time', 'p2']);
  assert.deepEqual(
    of('beat').map(({ cause, lastId }) => [cause, lastId]),
    [['journal_unavailable', 'p3']],
  );
  assert.equal(of('disconnected').length, 3);
});

test('a caller is told that something was missed, if it had a place and the gateway does not know it', async () => {
  const { lastIds, of } = await updatesOf([start(false, 'p0'), start(false, 'p1')], 'of another gateway');
  assert.deepEqual(lastIds, ['of another gateway', 'p0', 'p1']);
  assert.deepEqual(
    of('connected').map(({ missed }) => missed),
    [true, true],
  );
});

test('what a later gateway may tell besides is left out, and what is no JSON is a connection that is lost', async () => {
  const { ids, of } = await updatesOf([
    [start(false, 'p0'), said('news', {}), 'event: change\ndata: {\n\n', change('never', 'p1')].join(''),
    start(true, 'p0') + change('one', 'p1'),
  ]);
  assert.deepEqual(ids, ['one']);
  assert.equal(of('disconnected').length, 2);
});
