/**
 * Decides after the calls whether a lookup has its reply or waits for another try, and writes replies as texts. They contain
 * the upstream's records byte for byte. A reply that is too large for one event of a bus is split: quotes between records,
 * other answers into pieces of their text.
 */

import { eventNames, type LookupKind } from '../events/names.ts';
import { type BackOff, backOffMs } from '../kernel/pauses.ts';
import { encodeUtf8 } from '../kernel/utf8.ts';
import type { LookupResults } from './ask.ts';
import { deadlinePassed, gatewayFailed, type LookupFailure } from './failure.ts';
import type { StoredReply } from './ports.ts';
import {
  asksForAccount,
  type LookupRequester,
  type OwnedLookup,
  type OwnedQuotes,
  type OwnedRead,
} from './request.ts';

type SettledLookup =
  | { readonly kind: 'reply'; readonly reply: StoredReply; readonly failure?: LookupFailure }
  | { readonly kind: 'wait'; readonly waitMs: number };

interface SettleOptions {
  readonly now: number;
  readonly deadline: number;
  /** Number of times that the lookup has waited; absent when it cannot wait. */
  readonly waits?: number;
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Size limit of one event's detail. */
  readonly maxBytes?: number;
}

/** SQS delays a message by 15 minutes at most: a longer wait takes several deliveries. */
const maxWaitMs = 900_000;
const pauses: BackOff = { firstMs: 1000, maxMs: 15_000 };

export function settle(lookup: OwnedLookup, results: LookupResults, options: SettleOptions): SettledLookup {
  if (options.now > options.deadline) return failedLookup(lookup, deadlinePassed);
  return lookup.kind === 'quotes'
    ? settleQuotes(lookup, results, options)
    : settleRead(lookup, results, options);
}

function settleRead(lookup: OwnedRead, results: LookupResults, options: SettleOptions): SettledLookup {
  const result = results.read(lookup);
  if (result.kind === 'found') return { kind: 'reply', reply: readReply(lookup, result, options.maxBytes) };
  const failure = result.kind === 'failed' ? result.failure : undefined;
  return (failure && chooseWait([failure], options)) ?? failedLookup(lookup, failure ?? gatewayFailed);
}

function settleQuotes(lookup: OwnedQuotes, results: LookupResults, options: SettleOptions): SettledLookup {
  const all = lookup.symbols.map((symbol) => [symbol, results.symbol(lookup, symbol)] as const);
  const failures = all.flatMap(([symbol, one]) => (one.kind === 'failed' ? [{ symbol, ...one }] : []));
  const later = chooseWait(
    failures.map(({ failure }) => failure),
    options,
  );
  if (later) return later;
  const [first] = failures;
  // A reply without any record is a failure.
  if (first && !all.some(([, { kind }]) => kind === 'found'))
    return failedLookup(lookup, failures.find(({ failure }) => failure.retryable)?.failure ?? first.failure);
  const found = all.flatMap(([, one]) => (one.kind === 'found' ? [one] : []));
  const records = found.map(({ bytes }) => bytes);
  const tail = {
    category: lookup.category,
    as_of: isoTime(Math.min(options.now, ...found.map(({ asOf }) => asOf))),
    unknown: all.flatMap(([symbol, { kind }]) => (kind === 'unknown' ? [symbol] : [])),
    // In every event, so that the receiver of the first one need not wait for them.
    missing: failures.map(({ symbol, failure }) => ({ symbol, code: failure.code })),
  };
  return { kind: 'reply', reply: quotesReply(lookup, records, tail, options.maxBytes) };
}

/**
 * Chooses a wait; undefined when waiting does not help, or the deadline is too near. If `retryAfterMs` ends beyond the
 * deadline, the lookup still has a last try before it, because that time may be estimated too long.
 */
function chooseWait(
  failures: readonly LookupFailure[],
  { now, deadline, waits, random = Math.random }: SettleOptions,
): SettledLookup | undefined {
  const retryable = failures.filter((failure) => failure.retryable);
  if (retryable.length === 0 || waits === undefined) return undefined;
  const minWaitMs = Math.max(0, ...retryable.map(({ retryAfterMs = 0 }) => retryAfterMs));
  const left = deadline - now - lastTryMs;
  // Random, so that requests that failed together do not come back together.
  const pause = backOffMs(pauses, waits) * (0.5 + random());
  const waitMs = Math.max(1000, Math.min(maxWaitMs, left, Math.max(minWaitMs, pause)));
  return waitMs > left ? undefined : { kind: 'wait', waitMs };
}

/** The time before the deadline for a last try. */
const lastTryMs = 2000;

const failedLookup = (lookup: OwnedLookup, failure: LookupFailure): SettledLookup => ({
  kind: 'reply',
  reply: failedReply(lookup, failure),
  failure,
});

/** EventBridge accepts 256 kB for an entry, including its source and type. */
const maxEventBytes = 240 * 1024;

const bytesOf = (text: string) => encodeUtf8(text).length;

/** @param tail members that each event of the reply has after its number, beside the quotes */
function quotesReply(
  { requestId, requester }: OwnedQuotes,
  records: readonly Uint8Array[],
  tail: object,
  maxBytes = maxEventBytes,
): StoredReply {
  const decoder = new TextDecoder();
  const head = { request_id: requestId, requester };
  const room = maxBytes - bytesOf(JSON.stringify({ ...head, ...tail })) - 100;
  const pieces: string[][] = [[]];
  let used = 0;
  for (const record of records) {
    if (used > 0 && used + record.length + 1 > room) {
      pieces.push([]);
      used = 0;
    }
    pieces.at(-1)?.push(decoder.decode(record));
    used += record.length + 1;
  }
  const parts = pieces.length;
  return {
    detailType: eventNames.quotes.completed,
    details: pieces.map((quotes, index) =>
      withMember({ ...head, part: index + 1, parts, ...tail }, 'quotes', `[${quotes.join(',')}]`),
    ),
  };
}

function readReply(
  lookup: OwnedRead,
  { bytes, asOf }: { readonly bytes: Uint8Array; readonly asOf: number },
  maxBytes = maxEventBytes,
): StoredReply {
  const { requestId, requester, operation } = lookup;
  const text = new TextDecoder().decode(bytes);
  const head = (part: number, parts: number) => ({
    request_id: requestId,
    requester,
    part,
    parts,
    operation: operation.id,
    as_of: isoTime(asOf),
  });
  const isAccountData = asksForAccount(lookup);
  const common = { detailType: eventNames.read.completed, ...(isAccountData && { isAccountData }) };
  const room = maxBytes - bytesOf(JSON.stringify(head(9999, 9999))) - 100;
  if (bytes.length <= room) return { ...common, details: [withMember(head(1, 1), 'answer', text)] };
  const pieces = piecesOf(text, room);
  return {
    ...common,
    details: pieces.map((piece, index) => JSON.stringify({ ...head(index + 1, pieces.length), text: piece })),
  };
}

/** Splits a text into pieces that each have at most `maxBytes` as a JSON string. */
function piecesOf(text: string, maxBytes: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    // A third: no UTF-16 unit takes more than three bytes, except escaped ones.
    let end = Math.min(text.length, at + Math.floor(maxBytes / 3));
    while (bytesOf(JSON.stringify(text.slice(at, end))) > maxBytes) end = at + Math.ceil((end - at) / 2);
    // Keeps a pair of surrogates together.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '')) end--;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** Writes the failed reply to a valid request. */
export const failedReply = (lookup: OwnedLookup, failure: LookupFailure): StoredReply => {
  const { requestId, requester } = lookup;
  const operation = lookup.kind === 'read' && { operation: lookup.operation.id };
  const head = { request_id: requestId, requester, ...operation };
  return failedReplyTo(lookup.kind, head, failure, asksForAccount(lookup));
};

/** Size limit of a failed reply: the upstream's message may be long. */
const maxFailureBytes = 16 * 1024;

/** @param isAccountData whether the failure's faults, which quote the request, may name an account */
export function failedReplyTo(
  kind: LookupKind,
  head: LookupRequester & { readonly request_id: string; readonly operation?: string },
  { code, retryable, detail, errors, upstream }: LookupFailure,
  isAccountData: boolean,
): StoredReply {
  const short = { ...head, code, retryable, detail: detail.slice(0, 1000) };
  const whole = JSON.stringify({ ...short, detail, errors, upstream });
  return {
    detailType: eventNames[kind].failed,
    details: [bytesOf(whole) <= maxFailureBytes ? whole : JSON.stringify(short)],
    ...(isAccountData && { isAccountData }),
  };
}

/** Adds a member without serialising its value again, because that could change the form of a number. */
const withMember = (head: object, name: string, value: string) =>
  `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:${value}}`;

const isoTime = (ms: number) => new Date(ms).toISOString();
