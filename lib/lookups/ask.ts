/** Asks the gateway for the data of all lookups of a batch, in as few calls as possible. */

import { defaultSnapshotOptions, type SnapshotOptions } from '../cache/snapshots/ports.ts';
import { quoteOperation } from '../events/parse-request.ts';
import { bodyOf, recordsOf } from '../gateway/outcome.ts';
import { gatewayFailed, isRejection, type LookupFailure, noFreshAnswer, noRecords } from './failure.ts';
import {
  type AnsweredCall,
  callersOf,
  type FailedCall,
  GatewayCalls,
  type GatewayCallsOptions,
} from './gateway-calls.ts';
import {
  BisectQuota,
  callFor,
  groupOf,
  halvesOf,
  haveSameLookup,
  mergeLookups,
  type SnapshotLookupCall,
} from './merge.ts';
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

export interface LookupResults {
  symbol(lookup: OwnedQuotes, symbol: string): LookupResult;
  read(lookup: OwnedRead): LookupResult;
  /** Number of calls to the gateway. */
  readonly calls: number;
}

/** A lookup, and the time until which its requester waits, in milliseconds since the epoch. */
export interface PendingLookup {
  readonly lookup: OwnedLookup;
  readonly deadline: number;
}

interface AskOptions extends GatewayCallsOptions {
  readonly ages?: AgeOptions | undefined;
}

/** Age options of the gateway, as far as they differ from the default. */
export type AgeOptions = Partial<Pick<SnapshotOptions, 'staleAfterMs' | 'minMaxAgeMs'>>;

/** Concurrent calls. More of them would only wait for each other's permits. */
const concurrency = 4;
const maxSymbolsOfCall = quoteOperation.query.symbols?.list?.maxItems ?? 100;

export async function askAll(
  requests: readonly PendingLookup[],
  options: AskOptions,
): Promise<LookupResults> {
  const lookups = requests.map(({ lookup }) => lookup);
  const calls = new GatewayCalls(options, await callersOf(lookups.map(({ requester }) => requester)));
  const batch = new BatchRun(requests, options, calls);
  const quotes = lookups.filter((one) => one.kind === 'quotes');
  // Equal reads of one requester share a call. Requesters share none: one may be allowed to read more than another.
  const reads = new Map(lookups.flatMap((one) => (one.kind === 'read' ? [[readKey(one), one]] : [])));
  const tasks = [
    ...mergeLookups(quotes, maxSymbolsOfCall).map((call) => () => batch.askQuotes(call)),
    ...[...reads.values()].map((lookup) => () => batch.askRead(lookup)),
  ];
  await mapLimited(tasks, concurrency, (task) => task());
  // Bisects calls with invalid symbols after all others, so that they delay nobody: one step of each lookup in turn.
  for (let next = batch.takeDeferred(); next.length > 0; next = batch.takeDeferred())
    await mapLimited(next, concurrency, (call) => batch.askQuotes(call));
  return batch;
}

class BatchRun implements LookupResults {
  readonly #clock: () => number;
  readonly #calls: GatewayCalls;
  readonly #ages: Required<AgeOptions>;
  readonly #symbols = new Map<string, LookupResult>();
  readonly #reads = new Map<string, LookupResult>();
  /** Time at which the last requester of a symbol or a read stops waiting. */
  readonly #latest = new Map<string, number>();
  readonly #quota = new BisectQuota();
  /** Calls for a part of one lookup's symbols, among which some are invalid. */
  readonly #deferred: SnapshotLookupCall[] = [];

  constructor(requests: readonly PendingLookup[], { clock, ages }: AskOptions, calls: GatewayCalls) {
    this.#clock = clock;
    this.#calls = calls;
    const { staleAfterMs, minMaxAgeMs } = { ...defaultSnapshotOptions, ...ages };
    this.#ages = { staleAfterMs, minMaxAgeMs };
    for (const { lookup, deadline } of requests)
      for (const key of keysOf(lookup))
        this.#latest.set(key, Math.max(this.#latest.get(key) ?? deadline, deadline));
  }

  get calls(): number {
    return this.#calls.count;
  }

  symbol(lookup: OwnedQuotes, symbol: string): LookupResult {
    const { staleAfterMs } = this.#ages;
    const result = this.#symbols.get(keyOf(groupOf(lookup), symbol)) ?? notAsked;
    return notOlderThan(this.#maxAgeOf(lookup) ?? staleAfterMs, result);
  }

  read(lookup: OwnedRead): LookupResult {
    const result = this.#reads.get(readKey(lookup)) ?? notAsked;
    return notOlderThan(this.#maxAgeOf(lookup) ?? Number.POSITIVE_INFINITY, result);
  }

  takeDeferred(): readonly SnapshotLookupCall[] {
    return this.#deferred.splice(0);
  }

  async askRead(lookup: OwnedRead): Promise<void> {
    const until = this.#latest.get(readKey(lookup)) ?? 0;
    if (until <= this.#clock()) return;
    const { operation, query, body, requester, maxAgeSeconds } = lookup;
    const answer = await this.#calls.ask({
      operation,
      query,
      until,
      requester,
      body,
      maxAgeSeconds,
    });
    const result: LookupResult =
      answer.kind === 'failed'
        ? { kind: 'failed', failure: answer.failure }
        : found(bodyOf(answer.outcome), 'ageMs' in answer.outcome ? answer.outcome.ageMs : undefined, answer);
    this.#reads.set(readKey(lookup), result);
  }

  async askQuotes(call: SnapshotLookupCall): Promise<void> {
    const { group, requester, query, maxAgeSeconds } = call;
    const latestOf = (symbol: string) => this.#latest.get(keyOf(group, symbol)) ?? 0;
    const symbols = call.symbols.filter(
      (symbol) => !this.#isSettled(group, symbol) && latestOf(symbol) > this.#clock(),
    );
    if (symbols.length === 0) return;
    const answer = await this.#calls.ask({
      operation: quoteOperation,
      query: [['symbols', symbols.join(',')] as const, ...query],
      until: Math.max(...symbols.map(latestOf)),
      requester,
      maxAgeSeconds,
    });
    if (answer.kind === 'answered') this.#settle(group, symbols, answer);
    else if (isRejection(answer.failure)) await this.#bisect(callFor(call, symbols), answer.failure);
    else this.#settlePartial(group, symbols, answer);
  }

  #settle(group: string, symbols: readonly string[], answer: AnsweredCall): void {
    const records = recordsOf(answer.outcome);
    for (const symbol of symbols) {
      const record = records?.get(symbol);
      if (!records) this.#put(group, symbol, { kind: 'failed', failure: noRecords });
      else this.#put(group, symbol, record ? found(record.bytes, record.ageMs, answer) : { kind: 'unknown' });
    }
  }

  /** Uses the records that a refusal carries: for many requesters they are all that was asked for. */
  #settlePartial(group: string, symbols: readonly string[], answer: FailedCall): void {
    const { failure, partial } = answer;
    for (const symbol of symbols) this.#put(group, symbol, { kind: 'failed', failure });
    for (const { symbol, bytes, ageMs } of partial?.records ?? [])
      this.#put(group, symbol, found(bytes, ageMs, answer, failure));
  }

  /** Splits a call with an invalid symbol, so that the symbol costs no other lookup its quotes. */
  async #bisect(call: SnapshotLookupCall, failure: LookupFailure): Promise<void> {
    const { group, symbols } = call;
    if (symbols.length === 1) return this.#put(group, symbols[0]!, { kind: 'unknown' });
    const parts = halvesOf(call);
    if (!this.#quota.allows(parts)) {
      for (const symbol of symbols)
        this.#put(group, symbol, { kind: 'failed', failure: { ...failure, retryable: true } });
    } else if (haveSameLookup(parts)) this.#deferred.push(...parts);
    else for (const part of parts) await this.askQuotes(part);
  }

  #isSettled(group: string, symbol: string): boolean {
    const kind = this.#symbols.get(keyOf(group, symbol))?.kind;
    return kind === 'found' || kind === 'unknown';
  }

  /** Stores a result; a failure does not replace the result of another call. */
  #put(group: string, symbol: string, result: LookupResult): void {
    if (result.kind !== 'failed' || !this.#isSettled(group, symbol))
      this.#symbols.set(keyOf(group, symbol), result);
  }

  #maxAgeOf({ maxAgeSeconds }: OwnedLookup): number | undefined {
    return maxAgeSeconds === undefined ? undefined : Math.max(this.#ages.minMaxAgeMs, maxAgeSeconds * 1000);
  }
}

/** @param ageMs age of a cached answer; an uncached answer is as old as its call */
function found(
  bytes: Uint8Array,
  ageMs: number | undefined,
  { askedAt, answeredAt }: Pick<AnsweredCall, 'askedAt' | 'answeredAt'>,
  ifTooOld = noFreshAnswer,
): LookupResult {
  const asOf = ageMs === undefined ? askedAt : answeredAt - ageMs;
  return { kind: 'found', bytes, asOf, ageMs: askedAt - asOf, ifTooOld };
}

const notOlderThan = (maxAgeMs: number, result: LookupResult): LookupResult =>
  result.kind === 'found' && result.ageMs > maxAgeMs ? { kind: 'failed', failure: result.ifTooOld } : result;

const keyOf = (group: string, symbol: string) => `${group} ${symbol}`;

const readKey = ({ requester, content }: OwnedRead) => JSON.stringify([requester, content]);

function keysOf(lookup: OwnedLookup): readonly string[] {
  if (lookup.kind === 'read') return [readKey(lookup)];
  const group = groupOf(lookup);
  return lookup.symbols.map((symbol) => keyOf(group, symbol));
}

const notAsked: LookupResult = { kind: 'failed', failure: gatewayFailed };

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
