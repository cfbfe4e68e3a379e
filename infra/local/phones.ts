/**
 * Simulates a thousand phones that read quotes, for the page: through this run's functions, or straight to a second upstream
 * with the same limit, so that a comparison does not use up the run's own.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { createSigner } from '../../lib/signer/index.ts';
import { type Simulator, startSimulator } from '../simulator/index.ts';
import type { ProxyHandler } from './invocation.ts';
import { proxyEvent } from './proxy-event.ts';
import type { LocalSettings } from './settings.ts';

export type PhoneWay = 'gateway' | 'straight';

interface PhonesAsked {
  readonly way: PhoneWay;
  readonly phones: number;
  readonly seconds: number;
}

export interface PhonesReport extends PhonesAsked {
  readonly asked: number;
  readonly answered: number;
  readonly refused: number;
  /** Number of refusals by code; for straight calls, the upstream's status is the code. */
  readonly codes: Readonly<Record<string, number>>;
  /** Requests that reached the upstream, and how many of them it refused. */
  readonly upstream: number;
  readonly upstreamRefused: number;
  /** Age of an answer's oldest record, in seconds; null without an answer. */
  readonly age: { readonly p50: number; readonly p99: number } | null;
}

interface PhonesOptions {
  readonly simulator: Simulator;
  readonly settings: Pick<LocalSettings, 'credentials' | 'marketDataLimit' | 'upstreamLimits'>;
  /** Handler of the function that answers snapshots. */
  readonly handler: ProxyHandler;
  /** Called for each request that the run's own upstream could get. */
  readonly onAsked: () => void;
}

const snapshotPath = '/openapi/market-data/stock/snapshot';
const category = 'US_STOCK';
/** Interval of an app that follows a list. */
const everyMs = 5000;
const symbolsOfPhone = 20;
const symbolsOfAll = 200;

interface PhoneAnswer {
  readonly status: number;
  readonly age: number;
  readonly code?: string;
}

type AskQuotes = (phone: number, symbols: string) => Promise<PhoneAnswer>;

/** @example await runPhones({ way: 'gateway', phones: 1000, seconds: 10 }, { simulator, settings, handler, onAsked }); */
export async function runPhones(asked: PhonesAsked, options: PhonesOptions): Promise<PhonesReport> {
  const { simulator, settings, onAsked } = options;
  const { way, phones, seconds } = asked;
  const twin = way === 'straight' ? await startTwin(settings) : undefined;
  try {
    const upstream = twin ?? simulator;
    const ask = twin ? straightTo(twin, settings) : throughFunction(options.handler);
    const before = countsOf(upstream);
    const listed = simulator.symbols(category).slice(0, symbolsOfAll);
    const answers = await Promise.all(
      Array.from({ length: phones }, async (_, phone) => {
        const symbols = Array.from(
          { length: symbolsOfPhone },
          (__, at) => listed[(phone * 7 + at * 9) % listed.length],
        );
        return askAgainAndAgain(phone, (phone / phones) * everyMs, seconds * 1000, () => {
          if (!twin) onAsked();
          return ask(phone, [...new Set(symbols)].join(','));
        });
      }),
    );
    const all = answers.flat();
    const ages = all.flatMap(({ status, age }) => (status === 200 ? [age] : [])).sort((a, b) => a - b);
    const after = countsOf(upstream);
    return {
      ...asked,
      asked: all.length,
      answered: ages.length,
      refused: all.length - ages.length,
      codes: codesOf(all),
      upstream: after.all - before.all,
      upstreamRefused: after.refused - before.refused,
      age: ages.length > 0 ? { p50: percentile(ages, 0.5), p99: percentile(ages, 0.99) } : null,
    };
  } finally {
    await twin?.close();
  }
}

function codesOf(all: readonly PhoneAnswer[]): Readonly<Record<string, number>> {
  const codes: Record<string, number> = {};
  for (const { status, code = String(status) } of all)
    if (status !== 200) codes[code] = (codes[code] ?? 0) + 1;
  return codes;
}

/** Code of the gateway's refusal, which is always JSON. */
const codeIn = (body: string): string | undefined => (JSON.parse(body) as { readonly code?: string }).code;

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

function countsOf({ counts }: Simulator) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { all, refused: counts.TOO_MANY_REQUESTS ?? 0 };
}

/** Starts each phone at its own moment, as people open an app. */
async function askAgainAndAgain<T>(phone: number, firstMs: number, forMs: number, ask: () => Promise<T>) {
  const answers: T[] = [];
  for (let afterMs = firstMs; afterMs < forMs; afterMs += everyMs) {
    await delay(afterMs === firstMs ? firstMs : everyMs + (phone % 7));
    answers.push(await ask());
  }
  return answers;
}

const startTwin = ({ credentials, marketDataLimit, upstreamLimits }: PhonesOptions['settings']) =>
  startSimulator({
    ...credentials,
    ...(marketDataLimit && { limits: { 'market-data': marketDataLimit } }),
    ...(upstreamLimits && { upstreamLimits }),
  });

function straightTo({ url }: Simulator, { credentials }: PhonesOptions['settings']): AskQuotes {
  const signer = createSigner(credentials);
  return async (_, symbols) => {
    const signed = await signer.sign({ url: url + snapshotPath, query: { symbols, category } });
    const { status } = await fetch(signed.url, { headers: signed.headers })
      .then(async (response) => {
        await response.arrayBuffer();
        return response;
      })
      .catch(() => ({ status: 0 }));
    return { status, age: 0 };
  };
}

/** Calls the function from an address for each phone, and past the plan of the run's key: an app has a plan for its phones. */
function throughFunction(handler: ProxyHandler): AskQuotes {
  return async (phone, symbols) => {
    const result = await handler(
      proxyEvent({
        method: 'GET',
        path: snapshotPath,
        query: `symbols=${symbols}&category=${category}`,
        rawHeaders: ['accept', 'application/json'],
        body: new Uint8Array(),
        resource: snapshotPath,
        stage: 'local',
        requestId: crypto.randomUUID(),
        sourceIp: `10.${phone >> 16}.${(phone >> 8) & 255}.${phone & 255}`,
        apiKey: { id: 'phones', value: 'phones' },
        receivedAt: Date.now(),
      }),
      // The composition reads only the remaining time.
      { getRemainingTimeInMillis: () => 29_000 } as Parameters<ProxyHandler>[1],
    );
    const { statusCode: status, headers, body } = result;
    const code = status === 200 ? undefined : codeIn(body);
    return { status, age: Number(headers?.age ?? 0), ...(code !== undefined && { code }) };
  };
}
