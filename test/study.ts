/**
 * `npm run study`: what takes minutes and prints figures. Without a name it is the limiter over a million
 * permits; what follows a name is the study's own:
 *
 *     npm run study -- limiter 100000 4
 *     npm run study -- snapshots plain storm
 *     npm run study -- http junk greedy
 *     npm run study -- streams day
 *     npm run study -- streams-http 2000 60 0.1
 *     npm run study -- order-streams 300
 *     npm run study -- stream-cuts 15 20
 *     npm run study -- store-loss
 *     npm run study -- fairness
 *     npm run study -- wrong-preset
 *     npm run study -- trade-events 500
 *     npm run study -- market-stream 600 10 400
 *     npm run study -- orders-under-fire 500
 *     npm run study -- orders-over-http 300
 *     npm run study -- orders 1000000 200000
 *     npm run study -- open-notional 2000
 *     npm run study -- order-latency 300
 *     npm run study -- control-delay 5
 *     npm run study -- side-by-side 60
 *     npm run study -- page-memory 600
 */

import { studyFairness } from './cache/fairness-study.ts';
import { studyCuts } from './clients/streams/cuts.ts';
import { studyMarketStream } from './emulator/market-stream-study.ts';
import { studyOrderLatency } from './emulator/order-latency.ts';
import { studyOrdersUnderFire } from './emulator/orders-study.ts';
import { studyTradeEvents } from './emulator/trade-events-study.ts';
import { studyWrongPreset } from './gateway/wrong-preset.ts';
import { studyControlDelay } from './guard-rails/control-delay-study.ts';
import { studyOpenNotional } from './guard-rails/open-notional-study.ts';
import { studyStoreLoss } from './limiter/store-loss-study.ts';
import { studyStorm } from './limiter/storm-study.ts';
import { studyLimiter } from './limiter/study.ts';
import { studyOrderStreams } from './live/order-streams-study.ts';
import { studySockets } from './live/sockets-study.ts';
import { studyLive } from './live/study.ts';
import { studyOrders } from './orders/model/study.ts';
import { studyOrdersOverHttp } from './orders/under-fire.ts';
import { studyPageMemory } from './page/memory-study.ts';
import { studySideBySide } from './side-by-side/hour.ts';
import { studyHttp } from './snapshots/http/study.ts';
import { studyQuotes } from './snapshots/study.ts';

const studies: Readonly<Record<string, (args: readonly string[]) => Promise<boolean>>> = {
  limiter: studyLimiter,
  snapshots: studyQuotes,
  streams: studyLive,
  'streams-http': studySockets,
  'order-streams': studyOrderStreams,
  'stream-cuts': studyCuts,
  http: studyHttp,
  'store-loss': studyStoreLoss,
  'limiter-storm': studyStorm,
  fairness: studyFairness,
  'wrong-preset': studyWrongPreset,
  'trade-events': studyTradeEvents,
  'market-stream': studyMarketStream,
  'orders-under-fire': studyOrdersUnderFire,
  'orders-over-http': studyOrdersOverHttp,
  orders: studyOrders,
  'open-notional': studyOpenNotional,
  'order-latency': studyOrderLatency,
  'control-delay': studyControlDelay,
  'side-by-side': studySideBySide,
  'page-memory': studyPageMemory,
};

const [name = 'limiter', ...args] = process.argv.slice(2);
const study = studies[name];
if (!study) {
  console.error(`There is no study ${name}, but ${Object.keys(studies).join(', ')}.`);
  process.exitCode = 1;
} else if (!(await study(args))) process.exitCode = 1;
