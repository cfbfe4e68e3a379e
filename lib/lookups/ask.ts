/**
 * Asks the gateway for what a batch wants, a few calls at a time. What is used up for one call is so for the
 * next: after a refusal of the budget, or several failures in a row, the rest of the batch waits unasked.
 */

import { defaultSnapshotOptions, type SnapshotOptions } from '../cache/snapshots/options.ts';
import { cutRecords } from '../cache/snapshots/records.ts';
import { type Lookup, type QuoteLookup, quoteOperation, type Read } from '../events/parse-request.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { GatewayRequest, GatewayResponse } from '../gateway/http.ts';
import { callerName } from '../identity/caller.ts';
import { createBisectQuota, isOfOne } from './bisect.ts';
import { type Failure, failureOf, isOfCaller, isRejection } from './failure.ts';
import { cutKnown } from './known.ts';
import { mapLimited } from './map-limited.ts';
import { callFor, groupOf, halvesOf, mergeLookups, type SnapshotLookupCall } from './merge.ts';

/** What became of one symbol, or of a read. */
export type LookupResult =
  | {
      readonly kind: 'had';
      readonly bytes: Uint8Array;
      readonly askedAt: number;
      /** When this batch asked for it. */
      readonly ageMs: number;
      /** Why there is nothing newer, for whom it is too old. */
      readonly otherwise: Failure;
    }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface LookupResults {
  symbol(lookup: QuoteLookup, symbol: string): LookupResult;
  read(lookup: Read): LookupResult;
  /** How often the gateway was asked. */
  readonly calls: number;
}

/** A lookup, and until when its requester waits, in milliseconds since the epoch. */
export interface PendingLookup {
  readonly lookup: Lookup;
  readonly deadline: number;
}

export interface AskOptions {
  readonly gateway: Gateway;
  readonly clock: () => number;
  /** When the answers must be there, however long their requesters would wait. */
  readonly deadline: number;
  /** Names the calls in the log. */
  readonly requestId: string;
  readonly figures?: AgeOptions | undefined;
}

/** The gateway's own, where they are not the default. */
export type AgeOptions = Partial<Pick<SnapshotOptions, 'staleAfterMs' | 'minMaxAgeMs'>>;

interface Answer {
  readonly response: GatewayResponse;
  /** When it was asked for. */
  readonly at: number;
  /** When it was there. */
  readonly came: number;
}

interface Wish {
  readonly until: number;
  readonly source?: string;
  readonly body?: string;
  readonly maxAgeSeconds?: number;
}

/** Without an answer when it was not even asked for. */
type Failed = { readonly failure: Failure } & Partial<Answer>;

/** Calls at once. More would only wait for each other's permissions. */
const atOnce = 4;
/** So many failures of an operation in a row, and it is left alone for the rest of the batch. */
const mostFailures = 3;
const mostSymbolsOfCall = quoteOperation.query.symbols?.list?.maxItems ?? 100;

export async function askAll(
  requests: readonly PendingLookup[],
  options: AskOptions,
): Promise<LookupResults> {
  const { gateway, clock, deadline, requestId } = options;
  const { staleAfterMs, minMaxAgeMs } = { ...defaultSnapshotOptions, ...options.figures };
  const symbols = new Map<string, LookupResult>();
  const reads = new Map<string, LookupResult>();
  const stopped = new Map<string, Failure>();
  const failures = new Map<string, number>();
  /** Until when anybody waits for a symbol or a read. */
  const latest = new Map<string, number>();
  const callers = await callersOf([undefined, ...requests.map(({ lookup }) => lookup.source)]);
  for (const { lookup, deadline: until } of requests)
    for (const key of keysOf(lookup)) latest.set(key, Math.max(latest.get(key) ?? until, until));
  let calls = 0;
  const partings = createBisectQuota();
  /** Calls for a part of one requester's symbols, of which some are bad. */
  const alone: SnapshotLookupCall[] = [];

  async function ask(
    operation: Read['operation'],
    query: readonly (readonly [string, string])[],
    { until, source, body, maxAgeSeconds }: Wish,
  ): Promise<Answer | Failed> {
    const keys = [`limit ${operation.limit}`, `operation ${operation.id}`] as const;
    for (const key of keys) {
      const reason = stopped.get(key);
      if (reason) return { failure: reason };
    }
    const at = clock();
    const response = await gateway.handle({
      method: operation.method,
      path: operation.path,
      query,
      headers: maxAgeSeconds === undefined ? {} : { 'cache-control': `max-age=${maxAgeSeconds}` },
      requestId: `${requestId}-${++calls}`,
      deadline: Math.min(deadline, until),
      ...callers.get(source),
      priority: 'events',
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
    });
    const came = clock();
    if (response.status === 200) {
      failures.set(operation.id, 0);
      return { response, at, came };
    }
    const failure = failureOf(response);
    if (failure.code === 'budget_used_up') stopped.set(keys[0], failure);
    else if (failure.retryable && !isOfCaller(failure)) {
      const inRow = (failures.get(operation.id) ?? 0) + 1;
      failures.set(operation.id, inRow);
      if (inRow >= mostFailures) stopped.set(keys[1], failure);
    }
    return { failure, response, at, came };
  }

  /** @param bound how old the requester takes it, in milliseconds */
  const ifYoung = (had: LookupResult, bound: number): LookupResult =>
    had.kind === 'had' && had.ageMs > bound ? { kind: 'failed', failure: had.otherwise } : had;
  const wished = (seconds: number) => Math.max(minMaxAgeMs, seconds * 1000);

  async function askQuotes(call: SnapshotLookupCall): Promise<void> {
    const { group, source, query, maxAgeSeconds } = call;
    const isSettled = (symbol: string) =>
      ['had', 'unknown'].includes(symbols.get(keyOf(group, symbol))?.kind ?? '');
    const latestOf = (symbol: string) => latest.get(keyOf(group, symbol)) ?? 0;
    const wanted = call.symbols.filter((symbol) => !isSettled(symbol) && latestOf(symbol) > clock());
    if (wanted.length === 0) return;
    const put = (symbol: string, had: LookupResult) => {
      if (had.kind !== 'failed' || !isSettled(symbol)) symbols.set(keyOf(group, symbol), had);
    };
    const all = (had: LookupResult) => {
      for (const symbol of wanted) put(symbol, had);
    };
    const pairs = [['symbols', wanted.join(',')] as const, ...query];
    const answer = await ask(quoteOperation, pairs, {
      until: Math.max(...wanted.map(latestOf)),
      ...(source !== undefined && { source }),
      ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
    });
    if ('failure' in answer) {
      const { failure } = answer;
      if (!isRejection(failure)) {
        all({ kind: 'failed', failure });
        for (const [symbol, had] of knownBeside(answer)) put(symbol, had);
        return;
      }
      if (wanted.length === 1) return all({ kind: 'unknown' });
      // One of them is bad. Nobody else's quotes may depend on who that is.
      const parts = halvesOf(callFor(call, wanted));
      if (!partings.may(parts)) return all({ kind: 'failed', failure: { ...failure, retryable: true } });
      if (isOfOne(parts)) alone.push(...parts);
      else for (const part of parts) await askQuotes(part);
      return;
    }
    const records = cutRecords(answer.response.body);
    if (!records) return all({ kind: 'failed', failure: notRecords });
    const { recordAges } = answer.response;
    for (const symbol of wanted) {
      const bytes = records.get(symbol);
      put(symbol, bytes ? hadOf(bytes, answer, recordAges?.get(symbol)) : { kind: 'unknown' });
    }
  }

  async function askRead(lookup: Read): Promise<void> {
    const until = latest.get(lookup.content) ?? 0;
    if (until <= clock()) return;
    const answer = await ask(lookup.operation, lookup.query, { ...lookup, until });
    const had: LookupResult =
      'failure' in answer ? { kind: 'failed', failure: answer.failure } : hadOf(answer.response.body, answer);
    reads.set(lookup.content, had);
  }

  const lookups = requests.map(({ lookup }) => lookup);
  const quotes = lookups.filter((one) => one.kind === 'quotes');
  // The same read, asked by several, is one.
  const distinct = new Map(lookups.flatMap((one) => (one.kind === 'read' ? [[one.content, one]] : [])));
  const tasks = [
    ...mergeLookups(quotes, mostSymbolsOfCall).map((call) => () => askQuotes(call)),
    ...[...distinct.values()].map((lookup) => () => askRead(lookup)),
  ];
  await mapLimited(tasks, atOnce, (task) => task());
  // When everybody is parted from the junk of others: each requester's next step in turn.
  while (alone.length > 0) await mapLimited(alone.splice(0), atOnce, askQuotes);
  return {
    symbol(lookup, symbol) {
      const { maxAgeSeconds } = lookup;
      const had = symbols.get(keyOf(groupOf(lookup), symbol)) ?? notAsked;
      return ifYoung(had, maxAgeSeconds === undefined ? staleAfterMs : wished(maxAgeSeconds));
    },
    read({ maxAgeSeconds, content }) {
      const had = reads.get(content) ?? notAsked;
      return ifYoung(had, maxAgeSeconds === undefined ? Number.POSITIVE_INFINITY : wished(maxAgeSeconds));
    },
    calls,
  };
}

/** Each source is a caller of its own, and so are those that name none. */
async function callersOf(
  sources: readonly (string | undefined)[],
): Promise<ReadonlyMap<string | undefined, Pick<GatewayRequest, 'caller'>>> {
  const named = [...new Set(sources)].map(async (source) => {
    const unit = await callerName('events', ...(source === undefined ? [] : [source]));
    return [source, { caller: { unit } }] as const;
  });
  return new Map(await Promise.all(named));
}

/** Shared answers say how old they are; another one is new. */
function hadOf(bytes: Uint8Array, { response, at, came }: Answer, recordAgeMs?: number): LookupResult {
  const { age } = response.headers;
  const ageMs = recordAgeMs ?? (age === undefined ? undefined : 1000 * (Number(age) || 0));
  const askedAt = ageMs === undefined ? at : came - ageMs;
  return { kind: 'had', bytes, askedAt, ageMs: at - askedAt, otherwise: tooOld };
}

/** Beside a refusal stands what is known of the others: for many it is all that they asked for. */
function* knownBeside({
  failure,
  response,
  at = 0,
  came = 0,
}: Failed): Iterable<readonly [string, LookupResult]> {
  if (!response) return;
  for (const [symbol, { ageMs, bytes }] of cutKnown(response.body)) {
    const askedAt = came - ageMs;
    yield [symbol, { kind: 'had', bytes, askedAt, ageMs: at - askedAt, otherwise: failure }];
  }
}

const keyOf = (group: string, symbol: string) => `${group} ${symbol}`;

function keysOf(lookup: Lookup): readonly string[] {
  if (lookup.kind === 'read') return [lookup.content];
  const group = groupOf(lookup);
  return lookup.symbols.map((symbol) => keyOf(group, symbol));
}

const tooOld: Failure = {
  code: 'no_fresh_answer',
  retryable: true,
  detail: 'What is known is older than was asked for, and nothing newer could be had.',
};

const notRecords: Failure = {
  code: 'upstream_broken_answer',
  retryable: true,
  detail: 'The upstream’s answer is no list of records.',
};

const notAsked: LookupResult = {
  kind: 'failed',
  failure: { code: 'gateway_error', retryable: true, detail: 'The gateway failed.' },
};
