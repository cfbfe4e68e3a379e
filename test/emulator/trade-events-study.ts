/**
 * `npm run study -- trade-events 500`: orders with changes at the simulator, the deployed listener in the emulator;
 * first with nothing but hand-overs, then with listeners that are killed every 20 seconds on average and a stream that
 * is dropped, expires, falls mute, repeats and loses. It takes minutes of real time.
 */

import type { EventFault } from '../../infra/simulator/index.ts';
import { createRandom } from '../world/random.ts';
import { startTradeScene, streamsOf, type TradeScene, tallyOf } from './trade-events-scene.ts';

const meanLifeMs = 20_000;
const faultEveryMs = 12_000;
const orderEveryMs = 700;
/** The schedule's minute and the function's fifteen, both by the same factor shorter. */
const startEveryMs = 8_000;
const remainingMs = 40_000;

const faults: readonly EventFault[] = [
  { kind: 'drop' },
  { kind: 'goaway' },
  { kind: 'expire' },
  { kind: 'mute' },
  { kind: 'repeat', events: 20 },
  { kind: 'lose', events: 3 },
];

export async function studyTradeEvents([orders = '500']: readonly string[]): Promise<boolean> {
  const calm = await phase('without faults', Math.round(Number(orders) * 0.3), false);
  const faulty = await phase(
    'killed, dropped, sent away, expired, mute, repeated, lost',
    Math.round(Number(orders) * 0.7),
    true,
  );
  return calm && faulty;
}

async function phase(title: string, orders: number, isFaulty: boolean): Promise<boolean> {
  const scene = await startTradeScene();
  const random = createRandom(orders);
  let kills = 0;
  const done: Record<string, number> = {};
  try {
    scene.schedule(startEveryMs, () => ({
      remainingMs,
      ...(isFaulty && { killAfterMs: -meanLifeMs * Math.log(1 - random()) }),
    }));
    await scene.until(() => scene.stage.simulator.events.open === 1);
    const faulting = setInterval(() => {
      const fault = faults[Math.floor(random() * faults.length)]!;
      done[fault.kind] = (done[fault.kind] ?? 0) + 1;
      scene.stage.simulator.events.bring(fault);
    }, faultEveryMs);
    if (!isFaulty) clearInterval(faulting);
    await Promise.all([
      trading(scene, orders, random).finally(() => clearInterval(faulting)),
      // Keeps reading, so that the queue's time is that of the event.
      readingFor(scene, orders * orderEveryMs),
    ]);
    const endAt = Date.now() + 150_000;
    await scene.until(() => tally(scene).missing.length === 0 || Date.now() > endAt);
    kills = scene.stage.emulator.output().split('{"event":"killed"}').length - 1;
  } finally {
    await scene.stop();
  }
  return print(title, scene, { orders, kills, faults: done });
}

const tally = ({ stage, arrived }: TradeScene) => tallyOf(stage.simulator.trading.changes(), arrived);

async function trading(scene: TradeScene, orders: number, random: () => number): Promise<void> {
  await Promise.all(
    Array.from({ length: orders }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * orderEveryMs));
      await scene.trade(random);
    }),
  );
}

async function readingFor(scene: TradeScene, ms: number): Promise<void> {
  const endAt = Date.now() + ms;
  await scene.until(() => Date.now() > endAt);
}

function print(
  title: string,
  scene: TradeScene,
  caused: { readonly orders: number; readonly kills: number; readonly faults: object },
): boolean {
  const { delays, missing, invented, ...counts } = tally(scene);
  const { gapsMs, most } = streamsOf(scene);
  const at = (part: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * part))];
  console.log(`\nTrade events, ${title}`);
  console.log(
    JSON.stringify(
      {
        ...caused,
        ...counts,
        missing: missing.length,
        invented: invented.length,
        delayMs: { p50: at(0.5), p99: at(0.99), most: delays.at(-1) },
        streams: { opened: gapsMs.length + 1, mostAtOnce: most, longestGapMs: gapsMs.at(-1) },
      },
      undefined,
      2,
    ),
  );
  for (const { scene: name, status, clientOrderId } of missing.slice(0, 10))
    console.log(`  missing: ${name} ${status} of ${clientOrderId}`);
  for (const { client_order_id, status, filled_quantity, scene: name } of invented.slice(0, 10))
    console.log(`  invented: ${name} ${status} ${filled_quantity} of ${client_order_id}`);
  return missing.length === 0 && invented.length === 0 && most === 1;
}
