/**
 * `npm run study -- order-streams 300`: so many orders with their changes, listeners that are killed every half minute on
 * average, stores and streams that fail, and clients that come and go, on a virtual clock with fixed seeds.
 */

import { useSynchronousCrypto } from '../trade-events/world/synchronous-crypto.ts';
import { runOrderStreams } from './order-streams-chaos.ts';

const worlds = {
  'nothing goes wrong but hand-overs': {},
  'listeners killed': { kills: 0.4 },
  'killed, frozen, clocks 30 s apart, stores, bus and streams that fail': {
    clockOffMs: 30_000,
    kills: 0.3,
    freezes: 0.1,
    streamFaults: 0.2,
    storeFaults: 0.2,
    busRefusals: 0.2,
  },
} as const;

export async function studyOrderStreams([orders = '300']: readonly string[]): Promise<boolean> {
  useSynchronousCrypto();
  let isRight = true;
  console.log(
    '| World | Orders | Events | Kills | Connections | Told | Again | Missing | Invented | Foreign | Delay p50 / p99 / max, s |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|---|');
  for (const [name, options] of Object.entries(worlds)) {
    // One change in five is a new order, and some keep it waiting.
    const minutes = (Number(orders) * 5 * 2) / 60;
    const tally = await runOrderStreams({ ...options, minutes, changeEveryMs: 2000, seed: 11 });
    const { delaysMs, missing, invented, foreign } = tally;
    const at = (part: number) =>
      ((delaysMs[Math.floor((delaysMs.length - 1) * part)] ?? Number.NaN) / 1000).toFixed(2);
    console.log(
      `| ${[name, tally.orders, tally.events, tally.kills, tally.connections, tally.told, tally.repeated, missing, invented, foreign, `${at(0.5)} / ${at(0.99)} / ${at(1)}`].join(' | ')} |`,
    );
    isRight &&= missing + invented + foreign === 0;
  }
  return isRight;
}
