/**
 * `npm run study -- way`: the calls and files that a hit, a miss and a lookup pass, from the handler to memory or to the
 * wire and back. A call is on the way when one of its goals is reached through it, also where it only returns the promise
 * of another. What a call does besides, such as its checks, counts among the functions that were entered.
 */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createNodeSend } from '../functions/aws/node-send.ts';
import { createProxyHandler } from '../functions/aws/proxy-handler.ts';
import { createDirectHandler } from '../functions/events/lookup-handler.ts';
import type { ProxyEvent } from '../functions/events/rest-proxy.ts';
import { startSimulator } from '../infra/simulator/index.ts';
import { getStockSnapshots, operations } from '../lib/catalogue/index.ts';
import {
  createGateway,
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  type Gateway,
  limiterLimits,
} from '../lib/gateway/index.ts';
import type { ObserverStep, SeenCall } from './support/call-observer.ts';
import { credentials, secretText } from './support/core.ts';

const wire = 'functions/aws/node-send.ts';
/** Goals of a way, each a function's name or file: the request is read, checked, found or sent, and told. */
const goals = {
  hit: ['toGatewayRequest', 'validate', 'readMemory', 'joinRecords', 'toProxyResult'],
  miss: ['toGatewayRequest', 'validate', 'acquire', 'sign', wire, 'joinRecords', 'toProxyResult'],
  lookup: ['parseRequest', 'validate', 'acquire', 'sign', wire, 'settle'],
} as const;

interface Way {
  readonly calls: readonly string[];
  readonly files: number;
  readonly entered: number;
  readonly enteredFiles: number;
}

const context = { getRemainingTimeInMillis: () => 20_000 };

const eventOf = (symbol: string): ProxyEvent => ({
  resource: getStockSnapshots.path,
  httpMethod: 'GET',
  headers: { accept: 'application/json' },
  multiValueHeaders: { accept: ['application/json'] },
  queryStringParameters: null,
  multiValueQueryStringParameters: { symbols: [symbol], category: ['US_STOCK'] },
  body: null,
  isBase64Encoded: false,
  requestContext: { requestId: 'way', identity: { apiKeyId: 'a-key', sourceIp: '192.0.2.1' } as never },
});

/** @param run called twice: first to learn which functions there are, then to see them called */
async function observed(run: () => Promise<unknown>): Promise<readonly SeenCall[]> {
  const load = `import('tsx/esm/api').then(({ tsImport }) => tsImport('./support/call-observer.ts', '${import.meta.url}'))`;
  const worker = new Worker(load, { eval: true });
  const step = async (name: ObserverStep) => {
    worker.postMessage(name);
    return (await once(worker, 'message')) as [readonly SeenCall[]];
  };
  const ended = once(worker, 'exit');
  await step('cover');
  await run();
  await step('pause');
  await run();
  const [seen] = await step('tell');
  await ended;
  // The loader's own.
  return seen.filter(({ callee }) => !callee.includes(' __name '));
}

function wayOf(seen: readonly SeenCall[], ends: readonly string[]): Way {
  const callers = new Map<string, string | undefined>();
  for (const { callee, caller } of seen) if (!callers.has(callee)) callers.set(callee, caller);
  const passed = new Set<string>();
  for (const end of ends)
    for (
      let call = [...callers.keys()].find((one) => one.split(/ #?/).includes(end));
      call !== undefined && !passed.has(call);
      call = callers.get(call)
    )
      passed.add(call);
  const filesOf = (calls: Iterable<string>) => new Set([...calls].map((one) => one.split(' ')[0])).size;
  const calls = [...callers.keys()].filter((one) => passed.has(one));
  return { calls, files: filesOf(calls), entered: callers.size, enteredFiles: filesOf(callers.keys()) };
}

/** Symbols that no request has asked for. */
const fresh = ['MSFT', 'NVDA', 'AMZN', 'GOOGL'];

/** Time stands still within a request, so that nothing falls due while the observer pauses it. */
let now = Date.now();
const clock = () => now;

async function waysOf(gateway: Gateway): Promise<Readonly<Record<keyof typeof goals, Way>>> {
  const handler = createProxyHandler(gateway, { clock });
  const lookUp = createDirectHandler({ gateway, operations, clock, ages: undefined, report: () => {} });
  const ask = async (symbol: string, after = 0) => {
    now += after;
    const { statusCode, body } = await handler(eventOf(symbol), context);
    if (statusCode !== 200) throw new Error(body);
  };
  const hit = () => ask('AAPL');
  const miss = () => ask(fresh.shift()!, 1000);
  const lookup = () => {
    now += 1000;
    return lookUp(
      { request_id: crypto.randomUUID(), symbols: [fresh.shift()!], category: 'US_STOCK' },
      context,
    );
  };
  await hit();
  return {
    hit: wayOf(await observed(hit), goals.hit),
    miss: wayOf(await observed(miss), goals.miss),
    lookup: wayOf(await observed(lookup), goals.lookup),
  };
}

export async function studyWay(args: readonly string[]): Promise<boolean> {
  const simulator = await startSimulator(credentials);
  const gateway = createGateway({
    operations,
    access: 'single-user',
    upstreamBaseUrl: simulator.url,
    secrets: { read: async () => secretText() },
    send: createNodeSend(),
    clock,
    limiter: createLimiter({
      store: createMemoryLimiterStore(),
      limits: limiterLimits(),
      bucket: 'way',
      clock,
    }),
    cache: createMemoryCacheStores(),
  });
  const ways = await waysOf(gateway);
  await simulator.close();
  for (const [name, { calls, files, entered, enteredFiles }] of Object.entries(ways)) {
    console.log(
      `${name}: ${calls.length} calls of ${files} files on the way; ${entered} functions of ${enteredFiles} files entered`,
    );
    if (args.includes('--calls')) for (const call of calls) console.log(`  ${call.replace(/ \S+$/, '')}`);
  }
  // A process that was observed waits for its observer, even one that is gone.
  process.exit();
}
