/** Asks the gateway for the data of all lookups of a batch, in as few calls as possible. */

import { defaultSnapshotOptions } from '../cache/snapshots/ports.ts';
import { quoteOperation } from '../events/parse-request.ts';
import { bodyOf, recordsOf } from '../gateway/outcome.ts';
import { gatewayFailed, isRejection, type LookupFailure } from './failure.ts';
import { type CallLimits, type CallTimes, callersOf, GatewayCalls } from './gateway-calls.ts';
import {
  BisectQuota,
  callFor,
  groupOf,
  halvesOf,
  haveSameLookup,
  mergeLookups,
  type SnapshotLookupCall,
} from './merge.ts';
import type { LookupParts } from './ports.ts';
import type { OwnedLookup, OwnedQuotes, OwnedRead } from './request.ts';

/** The result for one symbol, or for a read. */
type LookupResult =
  | {
      readonly kind: 'found';
      readonly bytes: Uint8Array;
      /** Time at which the upstream was asked for it, in milliseconds since the epoch. */
      readonly asOf: number;
      /** Its age when this batch asked for it. */
      readonly ageMs: number;
      /** Failure for a requester that needs a newer result: why there is none. */
      readonly ifTooOld: LookupFailure;
    }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly failure: LookupFailure };

/** A lookup, and the time until which its requester waits, in milliseconds since the epoch. */
export interface PendingLookup {
  readonly lookup: OwnedLookup;
  readonly deadline: number;
}

/** Concurrent calls. More of them would only wait for each other's permits. */
const concurrency = 4;

export async function askAll(
  requests: readonly PendingLookup[],
  parts: LookupParts,
  limits: CallLimits,
): Promise<LookupResults> {
  const lookups = requests.map(({ lookup }) => lookup);
  const callers = await callersOf(lookups.map(({ requester }) => requester));
  const results = new LookupResults(requests, parts, new GatewayCalls(parts, limits, callers));
  const quotes = lookups.filter((one) => one.kind === 'quotes');
  // Equal reads of one requester share a call. Requesters share none: one may be allowed to read more than another.
  const reads = new Map(lookups.flatMap((one) => (one.kind === 'read' ? [[readKey(one), one]] : [])));
  const tasks = [
    ...mergeLookups(quotes).map((call) => () => results.askQuotes(call)),
    ...[...reads.values()].map((lookup) => () => results.askRead(lookup)),
  ];
  await mapLimited(tasks, concurrency, (task) => task());
  // Bisects calls with invalid symbols after all others, so that they delay nobody: one step of each lookup in turn.
  for (let next = results.takeDeferred(); next.length > 0; next = results.takeDeferred())
    await mapLimited(next, concurrency, (call) => results.askQuotes(call));
  return results;
}

/** Results of a batch, by symbol and by read. */
export class LookupResults {
  readonly #parts: LookupParts;
  readonly #calls: GatewayCalls;
  readonly #results = new Map<string, LookupResult>();
  /** Time at which the last requester of a symbol or a read stops waiting. */
  readonly #latest = new Map<string, number>();
  readonly #quota = new BisectQuota();
  /** Calls for a part of one lookup's symbols, among which some are invalid. */
  readonly #deferred: SnapshotLookupCall[] = [];

  constructor(requests: readonly PendingLookup[], parts: LookupParts, calls: GatewayCalls) {
    this.#parts = parts;
    this.#calls = calls;
    for (const { lookup, deadline } of requests)
      for (const key of keysOf(lookup))
        this.#latest.set(key, Math.max(this.#latest.get(key) ?? deadline, deadline));
  }

  /** Number of calls to the gateway. */
  get calls(): number {
    return this.#calls.count;
  }

  symbol(lookup: OwnedQuotes, symbol: string): LookupResult {
    const { staleAfterMs = defaultSnapshotOptions.staleAfterMs } = this.#parts.ages ?? {};
    return this.#newEnough(symbolKey(groupOf(lookup), symbol), lookup, staleAfterMs);
  }

  read(lookup: OwnedRead): LookupResult {
    return this.#newEnough(readKey(lookup), lookup, Number.POSITIVE_INFINITY);
  }

  takeDeferred(): readonly SnapshotLookupCall[] {
    return this.#deferred.splice(0);
  }

  async askRead(lookup: OwnedRead): Promise<void> {
    const key = readKey(lookup);
    const until = this.#latest.get(key) ?? 0;
    if (until <= this.#parts.clock()) return;
    const { operation, query, body, requester, maxAgeSeconds } = lookup;
    const answer = await this.#calls.ask({ operation, query, until, requester, body, maxAgeSeconds });
    if (answer.kind === 'failed') return this.#put(key, answer);
    const { outcome } = answer;
    this.#put(key, found(bodyOf(outcome), 'ageMs' in outcome ? outcome.ageMs : undefined, answer));
  }

  async askQuotes(call: SnapshotLookupCall): Promise<void> {
    const { group, requester, query, maxAgeSeconds } = call;
    const latestOf = (symbol: string) => this.#latest.get(symbolKey(group, symbol)) ?? 0;
    const symbols = call.symbols.filter(
      (symbol) => !this.#isSettled(symbolKey(group, symbol)) && latestOf(symbol) > this.#parts.clock(),
    );
    if (symbols.length === 0) return;
    const answer = await this.#calls.ask({
      operation: quoteOperation,
      query: [['symbols', symbols.join(',')] as const, ...query],
      until: Math.max(...symbols.map(latestOf)),
      requester,
      maxAgeSeconds,
    });
    const put = (symbol: string, result: LookupResult) => this.#put(symbolKey(group, symbol), result);
    if (answer.kind === 'answered') {
      const records = recordsOf(answer.outcome);
      for (const symbol of symbols) {
        const record = records?.get(symbol);
        if (!records) put(symbol, { kind: 'failed', failure: noRecords });
        else put(symbol, record ? found(record.bytes, record.ageMs, answer) : { kind: 'unknown' });
      }
      return;
    }
    const { failure, partial } = answer;
    if (isRejection(failure)) return this.#bisect(callFor(call, symbols), failure);
    for (const symbol of symbols) put(symbol, { kind: 'failed', failure });
    // Uses the records that a refusal carries: for many requesters they are all that was asked for.
    for (const { symbol, bytes, ageMs } of partial?.records ?? [])
      put(symbol, found(bytes, ageMs, answer, failure));
  }

  /** Splits a call with an invalid symbol, so that the symbol costs no other lookup its quotes. */
  async #bisect(call: SnapshotLookupCall, failure: LookupFailure): Promise<void> {
    const { group, symbols } = call;
    if (symbols.length === 1) return this.#put(symbolKey(group, symbols[0]!), { kind: 'unknown' });
    const halves = halvesOf(call);
    if (!this.#quota.allows(halves)) {
      const failed = { kind: 'failed', failure: { ...failure, retryable: true } } as const;
      for (const symbol of symbols) this.#put(symbolKey(group, symbol), failed);
    } else if (haveSameLookup(halves)) this.#deferred.push(...halves);
    else for (const half of halves) await this.askQuotes(half);
  }

  #isSettled(key: string): boolean {
    const kind = this.#results.get(key)?.kind;
    return kind === 'found' || kind === 'unknown';
  }

  /** Stores a result; a failure does not replace the result of another call. */
  #put(key: string, result: LookupResult): void {
    if (result.kind !== 'failed' || !this.#isSettled(key)) this.#results.set(key, result);
  }

  /** The result, or a failure if it is older than the requester accepts. */
  #newEnough(key: string, { maxAgeSeconds }: OwnedLookup, defaultMaxAgeMs: number): LookupResult {
    const { minMaxAgeMs = defaultSnapshotOptions.minMaxAgeMs } = this.#parts.ages ?? {};
    const maxAgeMs =
      maxAgeSeconds === undefined ? defaultMaxAgeMs : Math.max(minMaxAgeMs, maxAgeSeconds * 1000);
    const result: LookupResult = this.#results.get(key) ?? { kind: 'failed', failure: gatewayFailed };
    const isTooOld = result.kind === 'found' && result.ageMs > maxAgeMs;
    return isTooOld ? { kind: 'failed', failure: result.ifTooOld } : result;
  }
}

const noFreshAnswer: LookupFailure = {
  code: 'no_fresh_answer',
  retryable: true,
  detail: 'What is known is older than was asked for, and nothing newer could be had.',
};

const noRecords: LookupFailure = {
  code: 'upstream_broken_answer',
  retryable: true,
  detail: 'The upstream’s answer is no list of records.',
};

/** @param ageMs age of a cached answer; an uncached answer is as old as its call */
function found(
  bytes: Uint8Array,
  ageMs: number | undefined,
  { askedAt, answeredAt }: CallTimes,
  ifTooOld = noFreshAnswer,
): LookupResult {
  const asOf = ageMs === undefined ? askedAt : answeredAt - ageMs;
  return { kind: 'found', bytes, asOf, ageMs: askedAt - asOf, ifTooOld };
}

const symbolKey = (group: string, symbol: string) => `${group} ${symbol}`;

const readKey = ({ requester, content }: OwnedRead) => JSON.stringify([requester, content]);

function keysOf(lookup: OwnedLookup): readonly string[] {
  if (lookup.kind === 'read') return [readKey(lookup)];
  const group = groupOf(lookup);
  return lookup.symbols.map((symbol) => symbolKey(group, symbol));
}

/** Works like `Promise.all`, but runs only `concurrency` tasks at a time. */
export async function mapLimited<T, R>(
  all: readonly T[],
  concurrency: number,
  run: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < all.length) {
      const index = next++;
      results[index] = await run(all[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, all.length) }, worker));
  return results;
}
