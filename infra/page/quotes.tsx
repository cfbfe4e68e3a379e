/** Quotes from the stream: price, change, a small chart, the age of each record and its origin. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { streamStockSnapshots } from '../../lib/catalogue/live-quotes.ts';
import { isClientError } from '../../lib/client/errors.ts';
import { type FollowUpdate, follow } from '../../lib/client/follow.ts';
import type { QuoteOrigin, QuoteSource } from '../local/quote-origins.ts';
import { CopyCall } from './copy.tsx';
import { type ApiCall, connection, isLocal, key, keyFault, send, token } from './gateway.ts';

interface Quote {
  readonly symbol: string;
  readonly price?: string | null;
  readonly change?: string | null;
  readonly change_ratio?: string | null;
}

const category = 'US_STOCK';
const storageKey = 'countersign-watchlist';
const firstSymbols = ['AAPL', 'MSFT', 'NVDA', 'AMZN', 'TSLA'];
const snapshotPath = '/openapi/market-data/stock/snapshot';
/** Number of prices in a chart. */
const keptPrices = 120;

/** Tells whether the stream can ask for a symbol; one that it cannot would end the others, too. */
const isSymbol = (text: string) => /^[A-Z0-9][A-Z0-9._/^-]{0,31}$/.test(text);
const mostSymbols = 100;

const symbols = signal<readonly string[]>(
  (localStorage.getItem(storageKey) ?? firstSymbols.join()).split(',').filter(isSymbol),
);
const news = signal<FollowUpdate<Quote> | undefined>(undefined);
const fault = signal('');
/** Answer to what was typed. */
const entryStatus = signal('');
/** Reason why old records are not refreshed, from the last event that gave one. */
const cause = signal('');
const now = signal(Date.now());
const charts = new Map<string, number[]>();
/** Records with which a connection began, from the stream's memory: time of the fetch, by symbol. */
const memoryAt = new Map<string, number>();
/** Origins of answers that were asked for by hand, until the stream sends a newer record. */
const askedOrigins = new Map<string, { readonly at: number | undefined; readonly origin: string }>();
/** Origins of the records that are shown, in words. */
const origins = signal<Readonly<Record<string, string>>>({});
/** Origins that a local run reports for the records of its streams. */
type ReportedOrigins = Readonly<Record<string, readonly QuoteOrigin[]>>;

const sourceTexts: Readonly<Record<QuoteSource, string>> = {
  own_fetch: 'own fetch',
  other_fetch: 'another’s fetch',
  channel: 'channel',
};

function watch(list: readonly string[]): void {
  symbols.value = list;
  localStorage.setItem(storageKey, list.join());
}

/** Follows the stream until the signal aborts. */
async function followQuotes(list: readonly string[], stop: AbortSignal): Promise<void> {
  fault.value = '';
  news.value = undefined;
  cause.value = '';
  try {
    for await (const update of follow(
      streamStockSnapshots,
      connection,
      { symbols: [...list], category },
      { signal: stop },
    )) {
      for (const symbol of update.changed)
        notePrice(symbol, update.quotes.get(symbol)?.record as Quote | undefined);
      if (update.isConnected && !news.value?.isConnected)
        for (const { symbol, at } of update.quotes.values()) if (at !== undefined) memoryAt.set(symbol, at);
      const isOld = [...update.quotes.values()].some(({ state }) => state === 'stale' || state === 'missing');
      cause.value = isOld ? (update.cause ?? cause.value) : '';
      news.value = update as FollowUpdate<Quote>;
      void nameOrigins();
    }
  } catch (error) {
    if (stop.aborted) return;
    fault.value = isClientError(error) ? error.message : String(error);
    if (isClientError(error))
      void send({ method: 'GET', path: snapshotPath, query: { symbols: list.join(), category } });
  }
}

let isNaming = false;

/** Asks for origins without holding up the stream. */
async function nameOrigins(): Promise<void> {
  if (isNaming) return;
  isNaming = true;
  // Fixes the records that the answer is about: newer ones may come meanwhile.
  const shown = symbols.value.map((symbol) => [symbol, news.value?.quotes.get(symbol)?.at] as const);
  const query = { symbols: symbols.value.join(), category };
  const call: ApiCall = { method: 'GET', path: '/_run/origins', query };
  const told = isLocal.value ? (await send<{ origins: ReportedOrigins }>(call)).value?.origins : undefined;
  origins.value = Object.fromEntries(shown.map(([symbol, at]) => [symbol, originOf(symbol, at, told)]));
  isNaming = false;
}

/** Names a record's origin, as far as it is known: a deployment reports only that it came over the stream. */
function originOf(symbol: string, at: number | undefined, told: ReportedOrigins = {}): string {
  const asked = askedOrigins.get(symbol);
  if (asked && asked.at === at) return asked.origin;
  if (memoryAt.get(symbol) === at) return 'memory';
  const fetched = told[symbol]?.find((one) => one.at === at);
  return fetched ? sourceTexts[fetched.source] : 'stream';
}

function notePrice(symbol: string, record: Quote | undefined): void {
  const price = Number(record?.price);
  if (!record?.price || !Number.isFinite(price)) return;
  const prices = charts.get(symbol) ?? [];
  prices.push(price);
  if (prices.length > keptPrices) prices.shift();
  charts.set(symbol, prices);
}

export function Quotes() {
  const list = symbols.value;
  const who = key.value + token.value;
  useEffect(() => {
    if (!who || list.length === 0) return;
    const stop = new AbortController();
    void followQuotes(list, stop.signal);
    return () => stop.abort();
  }, [list, who]);
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const streamCall: ApiCall = {
    method: 'GET',
    path: streamStockSnapshots.path,
    query: { symbols: list.join(), category },
  };
  return (
    <section id="quotes" aria-labelledby="quotes-title">
      <h2 id="quotes-title">
        Quotes <CopyCall call={streamCall} what="this stream" />
      </h2>
      <State />
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Symbol</th>
              <th scope="col" class="number">
                Price
              </th>
              <th scope="col" class="number">
                Change
              </th>
              <th scope="col" class="wide">
                Since you look
              </th>
              <th scope="col">Age</th>
              <th scope="col">Origin</th>
              <th scope="col">
                <span class="unseen">What to do</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {list.map((symbol) => (
              <Row key={symbol} symbol={symbol} />
            ))}
          </tbody>
        </table>
      </div>
      <Add />
      <p class="quiet">
        The age counts from when the upstream was asked for the record, or told it. By default a quote is
        stale after 30 s, and not shown after 5 min. Origin: the gateway’s memory, a fetch, or the upstream’s
        channel; “stream” where that is not known.
      </p>
    </section>
  );
}

function State() {
  const update = news.value;
  const isStale = [...(update?.quotes.values() ?? [])].some(({ state }) => state === 'stale');
  const isOld = isStale || cause.value !== '';
  const text = (() => {
    if (keyFault.value || (!key.value && !token.value)) return 'Without a key there are no quotes.';
    if (symbols.value.length === 0) return 'No symbol is followed: type one below.';
    if (fault.value) return fault.value;
    if (!update) return 'Connecting …';
    if (!update.isConnected) return 'The connection broke off; the page connects again.';
    if (isOld)
      return `The gateway cannot refresh what it has${cause.value && `: ${cause.value}`}. Ages grow until it can.`;
    return 'Connected: changes come by themselves.';
  })();
  const isWell = !fault.value && update?.isConnected && !isOld && symbols.value.length > 0;
  return (
    <p class={isWell ? 'state well' : 'state ill'} role="status" id="quotes-state">
      {text}
    </p>
  );
}

const arrows = { up: '▲', down: '▼', '': '' } as const;

function Row({ symbol }: { readonly symbol: string }) {
  const { record, state = 'missing' } = news.value?.quotes.get(symbol) ?? {};
  const ratio = Number(record?.change_ratio ?? 0);
  const direction = ratio > 0 ? 'up' : ratio < 0 ? 'down' : '';
  return (
    <tr class={news.value ? state : ''} data-symbol={symbol}>
      <th scope="row">{symbol}</th>
      <td class="number price">{record?.price ?? '–'}</td>
      <td class={`number ${direction}`}>
        {record?.change == null ? (
          '–'
        ) : (
          <>
            <span class="wide">{arrows[direction]} </span>
            {ratio > 0 ? '+' : ''}
            {(ratio * 100).toFixed(2)} %
          </>
        )}
      </td>
      <td class="wide">
        <Chart symbol={symbol} prices={charts.get(symbol) ?? []} />
      </td>
      <td>
        <Age symbol={symbol} state={state} />
      </td>
      <td class="origin">{record ? (origins.value[symbol] ?? '…') : '–'}</td>
      <td class="row">
        <button
          type="button"
          class="quiet"
          onClick={() => void ask(symbol)}
          aria-label={`Ask for ${symbol} now`}
        >
          ↻
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => watch(symbols.value.filter((one) => one !== symbol))}
          aria-label={`Leave out ${symbol}`}
        >
          ×
        </button>{' '}
        <span class="wide">
          <CopyCall call={quoteCall(symbol)} what={`the quote of ${symbol}`} />
        </span>
      </td>
    </tr>
  );
}

const states = {
  unknown: 'unknown symbol',
  missing: 'not fetched yet',
  stale: 'stale',
  current: '',
} as const;

function Age({ symbol, state }: { readonly symbol: string; readonly state: keyof typeof states }) {
  // Reads the clock, so that ages advance between two events.
  void now.value;
  const ageMs = news.value?.ageMs(symbol);
  const told = state === 'missing' && charts.has(symbol) ? 'too old to show' : states[state];
  const seconds = ageMs === undefined ? '' : `${Math.round(ageMs / 1000)} s`;
  return <span class={`age ${state}`}>{news.value ? [seconds, told].filter(Boolean).join(', ') : '…'}</span>;
}

const width = 120;
const height = 28;

function Chart({ symbol, prices }: { readonly symbol: string; readonly prices: readonly number[] }) {
  if (prices.length < 2) return <span class="quiet">{prices.length === 0 ? '–' : 'one price yet'}</span>;
  const low = Math.min(...prices);
  const high = Math.max(...prices);
  const points = prices.map((price, index) => {
    const x = (index / (prices.length - 1)) * width;
    const y = high === low ? height / 2 : height - 2 - ((price - low) / (high - low)) * (height - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${symbol}: ${prices.length} prices from ${low} to ${high}`}
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
}

const quoteCall = (symbol: string): ApiCall => ({
  method: 'GET',
  path: snapshotPath,
  query: { symbols: symbol, category },
});

/** Asks for a newer record than the cached one; the answer says where it came from. */
async function ask(symbol: string): Promise<void> {
  const headers = { 'cache-control': 'max-age=1' };
  const { status, header, code } = await send({ ...quoteCall(symbol), headers });
  const origin = status === 200 ? wordOf(header('cache-status') ?? '') : (code ?? '');
  askedOrigins.set(symbol, { at: news.value?.quotes.get(symbol)?.at, origin });
  origins.value = { ...origins.value, [symbol]: origin };
}

/** Puts a `cache-status` header (RFC 9211) into words. */
function wordOf(cacheStatus: string): string {
  if (/;\s*hit/.test(cacheStatus)) return 'memory';
  if (/collapsed/.test(cacheStatus)) return sourceTexts.other_fetch;
  return /fwd=/.test(cacheStatus) ? sourceTexts.own_fetch : 'upstream';
}

/** Says why these symbols cannot be followed; empty if they can. */
function faultOf(given: readonly string[]): string {
  if (given.length === 0) return 'Type a symbol, such as AAPL.';
  const odd = given.find((one) => !isSymbol(one));
  if (odd !== undefined) return `${odd} is no symbol: it has another sign than letters, digits and . _ / ^ -`;
  const again = given.find((one, index) => symbols.value.includes(one) || given.indexOf(one) < index);
  if (again !== undefined) return `${again} is followed already.`;
  return symbols.value.length + given.length > mostSymbols
    ? `One stream has ${mostSymbols} symbols at most.`
    : '';
}

function Add() {
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const given = String(new FormData(form).get('symbol'))
          .toUpperCase()
          .split(/[\s,]+/)
          .filter(Boolean);
        entryStatus.value = faultOf(given);
        if (entryStatus.value) return;
        watch([...symbols.value, ...given]);
        form.reset();
      }}
    >
      <label>
        Symbol <input name="symbol" required autocomplete="off" size={8} />
      </label>
      <button type="submit">Follow</button>
      <span role="status" id="follow-state">
        {entryStatus.value}
      </span>
    </form>
  );
}
