/**
 * Routes that only this machine can offer: the simulator's window of requests, faults on demand, the last requests, and a
 * thousand phones. Only the operator's key may call them; a deployment has none of them.
 */

import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { toGatewayRequest, toProxyResult } from '../../functions/events/rest-proxy.ts';
import { viewOf } from '../../lib/cache/snapshots/index.ts';
import { limits } from '../../lib/catalogue/index.ts';
import { refusalResponse } from '../../lib/gateway/index.ts';
import { type ChooseFault, loseFirstAnswers, type Simulator } from '../simulator/index.ts';
import { demoLimits } from './environment.ts';
import type { ProxyHandler } from './invocation.ts';
import type { LocalRoute } from './options.ts';
import { type PhonesReport, runPhones } from './phones.ts';
import type { QuoteOrigins } from './quote-origins.ts';
import type { RequestLog } from './request-log.ts';
import type { LocalSettings } from './settings.ts';
import { jsonIn } from './trading.ts';
import type { LocalUser } from './users.ts';

/** Begins with an underscore, unlike the paths of operations. */
const runPath = '/_run';

/** Faults by the names that the page shows. */
const faults = {
  none: () => undefined,
  /** Places the order and loses its answer; the gateway's look-up then finds the order. */
  lose_answer: () => loseFirstAnswers(),
  /** Loses the look-ups as well, so that the outcome stays unknown for a while. */
  lose_answer_and_look_ups: () => loseAnswersAndLookUps(15_000),
  hang: () => () => ({ kind: 'hang' }) as const,
  down: () => () => ({ kind: 'drop' }) as const,
} satisfies Readonly<Record<string, () => ChooseFault | undefined>>;

type FaultName = keyof typeof faults;

/** Faults of the real-time channel, which fails with the upstream. A session that reconnects gets nothing: it subscribes over HTTP. */
const channelFaults: Readonly<Partial<Record<FaultName, 'freeze' | 'drop'>>> = {
  hang: 'freeze',
  down: 'drop',
};

function loseAnswersAndLookUps(ms: number): ChooseFault {
  const lose = loseFirstAnswers();
  let until = 0;
  return (request) => {
    const lost = lose(request);
    if (lost) until = Date.now() + ms;
    const isLookUp = request.method === 'GET' && request.path.includes('/order');
    return lost ?? (isLookUp && Date.now() < until ? { kind: 'drop' } : undefined);
  };
}

const bodies = {
  faults: v.strictObject({ kind: v.picklist(Object.keys(faults) as FaultName[]) }),
  phones: v.strictObject({
    way: v.picklist(['gateway', 'straight']),
    phones: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2000)), 1000),
    seconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20)), 10),
  }),
};

interface RunRoutesOptions {
  readonly settings: LocalSettings;
  readonly simulator: Simulator | undefined;
  readonly users: readonly LocalUser[];
  readonly log: RequestLog;
  /** Times at which clients asked for quotes, in the last minute. */
  readonly asked: RecentRequests;
  /** Handler of the function that answers snapshots; undefined if market data is closed. */
  readonly snapshots: ProxyHandler | undefined;
  /** Origins of the quotes that streams sent. */
  readonly origins: QuoteOrigins;
}

/** Times of requests in the last minute. */
interface RecentRequests {
  add(): void;
  list(): readonly number[];
}

export function createAsked(clock: () => number = Date.now): RecentRequests {
  let times: number[] = [];
  const list = () => {
    const start = clock() - 60_000;
    times = times.filter((time) => time > start);
    return times;
  };
  return { add: () => void times.push(clock()), list };
}

/** @example const routes = createRunRoutes({ settings, simulator, users, log, asked: createAsked(), snapshots, origins }); */
export function createRunRoutes(options: RunRoutesOptions): readonly LocalRoute[] {
  const { settings, simulator, log, asked, snapshots, origins } = options;
  let fault: FaultName = 'none';
  let isRunning = false;

  async function phones(given: v.InferOutput<(typeof bodies)['phones']>): Promise<PhonesReport | string> {
    if (!simulator || !snapshots) return 'Phones read quotes from the simulator: this run has none of it.';
    if (isRunning) return 'Phones are already reading: wait until they end.';
    isRunning = true;
    try {
      return await runPhones(given, { simulator, settings, handler: snapshots, onAsked: asked.add });
    } finally {
      isRunning = false;
    }
  }

  const state = () => ({
    ...runFacts(options),
    fault,
    window: simulator && {
      ...(settings.marketDataLimit ?? limits['market-data']),
      counted: perSecond(simulator.counted('market-data')),
    },
    asked: perSecond(asked.list()),
  });

  return [
    route('GET', '', async () => state()),
    route('GET', '/requests', async () => ({ requests: await log.list() })),
    route('GET', '/origins', async ({ queryStringParameters }) => {
      const { symbols = '', ...view } = queryStringParameters ?? {};
      const { id } = viewOf(Object.entries(view).map(([name, value = '']) => [name, value] as const));
      return { origins: origins.of(id, symbols.split(',')) };
    }),
    route('POST', '/faults', async (event) => {
      const form = v.safeParse(bodies.faults, jsonIn(event));
      if (!form.success) return `Send {"kind":"…"} with one of ${Object.keys(faults).join(', ')}.`;
      if (!simulator) return 'Nothing goes wrong on purpose at another upstream than the simulator.';
      fault = form.output.kind;
      simulator.bring(faults[fault]() ?? settings.faults?.fault);
      const kind = channelFaults[fault];
      if (kind) simulator.marketStream?.bring({ kind });
      return state();
    }),
    route('POST', '/phones', async (event) => {
      const form = v.safeParse(bodies.phones, jsonIn(event));
      return form.success
        ? phones(form.output)
        : 'Send JSON such as {"way":"gateway","phones":1000,"seconds":10}; way is gateway or straight.';
    }),
  ];
}

const runFacts = ({ settings, simulator, users }: RunRoutesOptions) => ({
  now: Date.now(),
  simulated: simulator !== undefined,
  limits: settings.tradingLimits ?? demoLimits,
  users: users.map(({ name, accounts }) => ({ name, accounts: accounts.length })),
  orders: simulator?.orders.slice(-50).map(({ clientOrderId, placedAt }) => ({ clientOrderId, placedAt })),
});

/** Counts the moments in each of the last sixty seconds, the oldest first. */
function perSecond(times: readonly number[]): readonly number[] {
  const now = Date.now();
  const counts = Array.from({ length: 60 }, () => 0);
  for (const time of times) {
    const second = 59 - Math.floor((now - time) / 1000);
    if (second >= 0 && second < 60) counts[second] = (counts[second] ?? 0) + 1;
  }
  return counts;
}

/** @param answer returns an object, or the sentence of a refusal */
const route = (
  method: 'GET' | 'POST',
  below: string,
  answer: (event: APIGatewayProxyEvent) => Promise<object | string>,
): LocalRoute => ({
  method,
  path: runPath + below,
  isOperators: true,
  isUnseen: true,
  async handler(event) {
    const answered = await answer(event);
    const { requestId, headers } = await toGatewayRequest(event);
    if (typeof answered === 'string')
      return toProxyResult(
        refusalResponse({ code: 'invalid_body', detail: answered }, requestId, headers.accept),
      );
    return toProxyResult({
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: Buffer.from(JSON.stringify(answered)),
    });
  },
});
