/** A client in another language, from the facts alone, finds the simulator's event stream as it expects it. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type EventFault, type Simulator, startSimulator } from '../../../infra/simulator/index.ts';
import { each } from '../../support/each.ts';
import { eventVectors } from '../../support/event-vectors.ts';
import { orSkip } from '../../support/missing.ts';
import { newOrder } from '../../support/orders.ts';
import { until } from '../../support/until.ts';

const here = join(import.meta.dirname, '..');
const python = join(here, '.venv/bin/python');
const missing = existsSync(python)
  ? undefined
  : 'The Python client of the event stream is missing: python3 -m venv test/trade-events/.venv && test/trade-events/.venv/bin/pip install -r test/trade-events/requirements.txt';

const account_id = 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S';
const credentials = { appKey: 'app-key', appSecret: 'app-secret' };

interface Line {
  readonly stream?: string;
  readonly event?: { readonly eventType: number; readonly payload: string; readonly requestId: string };
  readonly status?: number;
  readonly answer?: number;
  readonly body?: unknown;
  readonly hex?: string;
  readonly signature?: string;
}

function startClient() {
  const child = spawn(python, [join(here, 'client.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  let read = 0;
  return {
    lines,
    tell: (command: object) => void child.stdin.write(`${JSON.stringify(command)}\n`),
    /** Waits for the next line that is about no stream. */
    async answer(): Promise<Line> {
      const answers = () => lines.filter(({ stream }) => stream === undefined);
      await until(() => answers().length > read);
      return answers()[read++]!;
    },
    end: () => child.kill('SIGKILL'),
  };
}

describe('an independent client', orSkip(missing), () => {
  let simulator: Simulator;
  let client: ReturnType<typeof startClient>;
  beforeAll(async () => {
    simulator = await startSimulator({ ...credentials, events: { pingMs: 0 } });
    client = startClient();
  });
  afterAll(async () => {
    client?.end();
    await simulator?.close();
  });

  let streams = 0;
  const subscribe = (more: object = {}) => {
    const name = `stream-${++streams}`;
    const request = { subscribeType: 7, timestamp: Date.now(), accounts: [account_id] };
    client.tell({ do: 'subscribe', name, port: simulator.events.port, ...credentials, request, ...more });
    const own = () => client.lines.filter(({ stream }) => stream === name);
    return {
      events: () => own().flatMap(({ event }) => event ?? []),
      came: (count: number) => until(() => own().flatMap(({ event }) => event ?? []).length >= count),
      async ended(): Promise<number | undefined> {
        await until(() => own().some(({ status }) => status !== undefined));
        return own().find(({ status }) => status !== undefined)?.status;
      },
    };
  };
  const ended = async (stream: ReturnType<typeof subscribe>, fault: EventFault) => {
    simulator.events.bring(fault);
    return [await stream.ended(), stream.events().at(-1)?.eventType];
  };
  const post = async (path: string, body: object) => {
    client.tell({ do: 'post', port: simulator.port, path, body, ...credentials });
    const { answer, body: answered } = await client.answer();
    assert.equal(answer, 200, JSON.stringify(answered));
  };

  for (const { name, request, signature } of eventVectors)
    test(`signs the vector as the file says: ${name}`, async () => {
      const { message, serializedHex, ...rest } = request;
      client.tell({ do: 'sign', request: message, ...rest });
      assert.deepEqual(await client.answer(), { hex: serializedHex, signature });
    });

  test('is subscribed; an order placed over HTTP, and what becomes of it, comes', async () => {
    const stream = subscribe();
    await stream.came(1);
    assert.equal(stream.events()[0]?.eventType, 0);
    const order = newOrder({ order_type: 'LIMIT', limit_price: '1.00', quantity: '10' });
    const { client_order_id } = order;
    await post('/trade/place_order', { account_id, new_orders: [order] });
    await post('/trading/orders/replace', {
      account_id,
      modify_orders: [{ client_order_id, quantity: '8' }],
    });
    simulator.trading.fill(account_id, client_order_id, '3');
    simulator.trading.failNextChange(account_id, client_order_id);
    await post('/trading/orders/replace', {
      account_id,
      modify_orders: [{ client_order_id, quantity: '5' }],
    });
    simulator.trading.failNextChange(account_id, client_order_id);
    await post('/trading/orders/cancel', { account_id, client_order_id });
    simulator.trading.fill(account_id, client_order_id);
    const others = ['cancelled', 'failed'].map((id) => ({ ...order, client_order_id: `python-${id}` }));
    for (const other of others) await post('/trade/place_order', { account_id, new_orders: [other] });
    await post('/trading/orders/cancel', { account_id, client_order_id: 'python-cancelled' });
    simulator.trading.failPlacing(account_id, 'python-failed');
    simulator.events.settlePosition(account_id);
    simulator.events.changeOption(account_id, { any: ['thing'] });
    simulator.events.ping();
    await stream.came(11);
    const told = stream.events().map(({ eventType, payload }) => {
      const { scene_type, order_status, filled_qty } = payload.startsWith('{') ? JSON.parse(payload) : {};
      return [eventType, scene_type, order_status, filled_qty].join(' ').trimEnd();
    });
    assert.deepEqual(told, [
      '0',
      '1024 MODIFY_SUCCESS SUBMITTED 0',
      '1024 FILLED SUBMITTED 3',
      '1024 MODIFY_FAILED SUBMITTED 3',
      '1024 CANCEL_FAILED SUBMITTED 3',
      '1024 FINAL_FILLED FILLED 8',
      '1024 CANCEL_SUCCESS CANCELLED 0',
      '1024 PLACE_FAILED FAILED 0',
      '1028',
      '1032',
      '1',
    ]);
    assert.deepEqual(
      stream
        .events()
        .slice(1, 8)
        .map(({ requestId }) => requestId),
      simulator.trading.changes().map(({ requestId }) => requestId),
    );
    assert.deepEqual(await ended(stream, { kind: 'expire' }), [0, 4]);
  });

  const spoiled = {
    'another secret': { appSecret: 'other' },
    'another key': { appKey: 'other' },
    'another signature': { change: { 'x-signature': 'AAAA' } },
    'no signature': { change: { 'x-signature': null } },
    'no nonce': { change: { 'x-signature-nonce': null } },
    'another nonce than was signed': { change: { 'x-signature-nonce': 'another' } },
    'another algorithm': { change: { 'x-signature-algorithm': 'HMAC-SHA1' } },
    'another version': { change: { 'x-signature-version': '2.0' } },
    'a version of the interface': { change: { 'x-version': 'v3' } },
    'an old timestamp': { timestamp: '2026-01-01T00:00:00Z' },
  };
  for (const [name, more] of Object.entries(spoiled))
    test(`is refused with ${name}`, async () => {
      const stream = subscribe(more);
      assert.equal(await stream.ended(), 16);
      assert.deepEqual(each(stream.events(), 'eventType'), [2]);
    });

  const ends: readonly (readonly [fault: EventFault, status: number, eventType: number])[] = [
    [{ kind: 'authentication-error' }, 16, 2],
    [{ kind: 'too-many-connections' }, 8, 3],
    [{ kind: 'expire' }, 0, 4],
    [{ kind: 'drop' }, 14, 0],
    [{ kind: 'goaway' }, 14, 0],
  ];
  for (const [fault, status, eventType] of ends)
    test(`sees how a stream ends: ${fault.kind}`, async () => {
      const stream = subscribe();
      await stream.came(1);
      assert.deepEqual(await ended(stream, fault), [status, eventType]);
    });

  test('finds the second stream of its key refused, and reads what it does not know', async () => {
    const stream = subscribe();
    await stream.came(1);
    const second = subscribe();
    assert.deepEqual([await second.ended(), second.events()[0]?.eventType], [8, 3]);
    simulator.events.bring({ kind: 'send', what: 'unknown-members' });
    simulator.events.bring({ kind: 'send', what: 'unknown-type' });
    await stream.came(3);
    assert.deepEqual(each(stream.events(), 'eventType'), [0, 1024, 4096]);
  });
});
