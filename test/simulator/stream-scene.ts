/** A simulator with the market-data stream, at a clock that the test moves; nothing is pushed but when the test says so. */

import { type SimulatorOptions, startSimulator } from '../../infra/simulator/index.ts';
import type {
  MarketStreamOptions,
  SimulatedMarketStream,
} from '../../infra/simulator/market-stream/index.ts';
import { connectPlain, type Introduction, type StreamClient, speak } from './stream-client.ts';
import { credentials, type Draft, type Reply, send, testTime } from './support.ts';

export const subscribePath = '/market-data/streaming/subscribe';
export const unsubscribePath = '/market-data/streaming/unsubscribe';

/** What most tests subscribe to. */
export const subscription = {
  session_id: 'session-1',
  symbols: ['AAPL'],
  category: 'US_STOCK',
  sub_types: ['SNAPSHOT'],
};

export interface StreamScene {
  readonly simulator: Awaited<ReturnType<typeof startSimulator>>;
  readonly stream: SimulatedMarketStream;
  /** The simulator's clock. */
  now: number;
  /** A client that has introduced itself and was answered. */
  connect(introduction?: Introduction): Promise<StreamClient>;
  /** Asks for a change of the usual subscription. */
  subscribe(change?: object, draft?: Partial<Draft>): Promise<Reply>;
  unsubscribe(body: object): Promise<Reply>;
  /** Moves the clock on, by a time in which every instrument trades, and pushes. */
  trade(ms?: number): void;
}

export async function playStream(
  use: (scene: StreamScene) => Promise<void>,
  options: Partial<SimulatorOptions> = {},
  streamOptions: MarketStreamOptions = {},
): Promise<void> {
  let now = testTime;
  const clock = () => now;
  const marketStream = { pushMs: 0, ...streamOptions };
  const simulator = await startSimulator({ ...credentials, clock, ...options, marketStream });
  const stream = simulator.marketStream!;
  const clients: StreamClient[] = [];
  const post = (target: string, body: object, draft: Partial<Draft> = {}) =>
    send(simulator, { method: 'POST', target, body: JSON.stringify(body), now, ...draft });
  try {
    await use({
      simulator,
      stream,
      get now() {
        return now;
      },
      set now(time) {
        now = time;
      },
      async connect(introduction = {}) {
        const client = speak(connectPlain(simulator), introduction);
        clients.push(client);
        await client.answered();
        return client;
      },
      subscribe: (change = {}, draft = {}) => post(subscribePath, { ...subscription, ...change }, draft),
      unsubscribe: (body) => post(unsubscribePath, body),
      trade(ms = 3100) {
        now += ms;
        stream.push();
      },
    });
  } finally {
    for (const client of clients) client.close();
    await simulator.close();
  }
}
