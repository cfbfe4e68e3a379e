/**
 * `npm run study`: what takes minutes and prints figures. Without a name it is the limiter over a million
 * permits; what follows a name is the study's own:
 *
 *     npm run study -- limiter 100000 4
 *     npm run study -- snapshots plain storm
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
 *     npm run study -- order-latency 300
 *     npm run study -- page-memory 600
 *     npm run study -- traces --save FILE
 *     npm run study -- way --calls
 */

type Study = (args: readonly string[]) => Promise<boolean>;

/** Each is loaded alone: some load what reads its environment. */
const studies: Readonly<Record<string, () => Promise<Study>>> = {
  limiter: async () => (await import('./limiter/study.ts')).studyLimiter,
  snapshots: async () => (await import('./snapshots/study.ts')).studyQuotes,
  streams: async () => (await import('./live/study.ts')).studyLive,
  'streams-http': async () => (await import('./live/sockets-study.ts')).studySockets,
  'order-streams': async () => (await import('./live/order-streams-study.ts')).studyOrderStreams,
  'stream-cuts': async () => (await import('./clients/streams/cuts.ts')).studyCuts,
  'store-loss': async () => (await import('./limiter/store-loss-study.ts')).studyStoreLoss,
  'limiter-storm': async () => (await import('./limiter/storm-study.ts')).studyStorm,
  fairness: async () => (await import('./cache/fairness-study.ts')).studyFairness,
  'wrong-preset': async () => (await import('./gateway/wrong-preset.ts')).studyWrongPreset,
  'trade-events': async () => (await import('./emulator/trade-events-study.ts')).studyTradeEvents,
  'market-stream': async () => (await import('./emulator/market-stream-study.ts')).studyMarketStream,
  'orders-under-fire': async () => (await import('./emulator/orders-study.ts')).studyOrdersUnderFire,
  'orders-over-http': async () => (await import('./orders/under-fire.ts')).studyOrdersOverHttp,
  orders: async () => (await import('./orders/model/study.ts')).studyOrders,
  'order-latency': async () => (await import('./emulator/order-latency.ts')).studyOrderLatency,
  way: async () => (await import('./way.ts')).studyWay,
  traces: async () => (await import('./traces.ts')).studyTraces,
  'page-memory': async () => (await import('./page/memory-study.ts')).studyPageMemory,
};

const [name = 'limiter', ...args] = process.argv.slice(2);
const study = studies[name];
if (!study) {
  console.error(`There is no study ${name}, but ${Object.keys(studies).join(', ')}.`);
  process.exitCode = 1;
} else if (!(await (await study())(args))) process.exitCode = 1;

export {};
