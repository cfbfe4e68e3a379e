/** A simulator with open event streams, at a clock that the test moves. */

import assert from 'node:assert/strict';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';
import { newOrder } from '../support/orders.ts';
import { until } from '../support/until.ts';
import { type Draft, type OpenStream, subscribe } from './event-client.ts';
import { credentials, send, testTime } from './support.ts';
import { account_id } from './trader.ts';

export interface Scene {
  readonly simulator: Simulator;
  /** The simulator's clock. */
  now: number;
  /** Subscribes to orders of the margin account, unless told otherwise, and waits until it has. */
  listen(draft?: Draft): Promise<OpenStream>;
  /** Waits until a stream has all that was sent on it by now, and gives its payloads. */
  // biome-ignore lint/suspicious/noExplicitAny: payloads are read in many shapes.
  told(stream: OpenStream): Promise<readonly any[]>;
  /** Sends a signed request, which must be answered with 200. */
  post(target: string, body: object): Promise<void>;
  /** Places an order and gives its client order id. */
  place(change?: Readonly<Record<string, unknown>>, account?: string): Promise<string>;
}

export async function play(use: (scene: Scene) => Promise<void>, options: Partial<SimulatorOptions> = {}) {
  const events = { pingMs: 0, ...options.events };
  let now = testTime;
  const clock = () => now;
  const simulator = await startSimulator({ ...credentials, clock, ...options, events });
  const opened: OpenStream[] = [];
  const scene: Scene = {
    simulator,
    get now() {
      return now;
    },
    set now(time) {
      now = time;
    },
    async listen(draft = {}) {
      const stream = subscribe(simulator, { accounts: [account_id], now, ...draft });
      opened.push(stream);
      await stream.came(1);
      return stream;
    },
    async told(stream) {
      const pings = () => stream.events.filter(({ eventType }) => eventType === 1).length;
      const before = pings();
      simulator.events.ping();
      await until(() => pings() > before || stream.status !== undefined);
      return stream.payloads;
    },
    async post(target, body) {
      const draft = { method: 'POST', target, body: JSON.stringify(body), now };
      const reply = await send(simulator, draft);
      assert.equal(reply.status, 200, reply.text);
    },
    async place(change = {}, account = account_id) {
      const order = newOrder(change);
      await scene.post('/trade/place_order', { account_id: account, new_orders: [order] });
      return order.client_order_id;
    },
  };
  try {
    await use(scene);
  } finally {
    for (const stream of opened) stream.close();
    await simulator.close();
  }
}
