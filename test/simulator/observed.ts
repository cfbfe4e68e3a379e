/** A client of the simulator for the tests of what was seen live: over HTTP, at a clock that the test moves. */

import assert from 'node:assert/strict';
import type { Simulator, SimulatorOptions } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { newOrder } from '../support/orders.ts';
import type { Json } from './player.ts';
import { type Draft, type Reply, send, testTime, withSimulator } from './support.ts';

export const account_id = 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S';

export interface Live {
  readonly simulator: Simulator;
  now: number;
  /** Calls an operation by its id; a GET with a query, a POST with a body. */
  call(id: string, given?: object, change?: Partial<Draft>): Promise<Reply>;
  /** The answer of a call that must succeed. */
  ask(id: string, given?: object): Promise<Json>;
  /** Status and error code of a call that must be refused. */
  refused(id: string, given?: object): Promise<readonly [status: number, code: string]>;
  place(change?: Readonly<Record<string, unknown>>): Promise<Reply>;
}

/** Runs `use` with a simulator of its own, from Tuesday 2026-11-17, 04:30 in New York. */
export function withLive(use: (live: Live) => Promise<void>, options: Partial<SimulatorOptions> = {}) {
  let live: Live;
  return withSimulator({ clock: () => live?.now ?? testTime, ...options }, async (simulator) => {
    live = liveOf(simulator);
    await use(live);
  });
}

function liveOf(simulator: Simulator): Live {
  const live: Live = {
    simulator,
    now: testTime,
    call(id, given, change) {
      const operation = operations.find((one) => one.id === id);
      assert.ok(operation, id);
      const { method, path } = operation;
      const draft =
        method === 'POST'
          ? { method, target: path, body: JSON.stringify(given) }
          : { target: given ? `${path}?${new URLSearchParams(given as Record<string, string>)}` : path };
      return send(simulator, { ...draft, now: live.now, ...change });
    },
    async ask(id, given) {
      const reply = await live.call(id, given);
      assert.equal(reply.status, 200, `${id}: ${reply.text}`);
      return reply.json;
    },
    async refused(id, given) {
      const { status, json } = await live.call(id, given);
      return [status, (json as Json).error_code];
    },
    place: (change = {}) => live.call('placeOrder', { account_id, new_orders: [newOrder(change)] }),
  };
  return live;
}
