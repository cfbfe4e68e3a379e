/** What becomes of a lookup after its call: a reply, or another try later. */

import type { Lookup, QuoteLookup, Read } from '../events/parse-request.ts';
import type { LookupResults } from './ask.ts';
import { deadlinePassed, type Failure } from './failure.ts';
import type { StoredReply } from './ports.ts';
import { failedReply, quotesReply, readReply } from './replies.ts';

export type Settled =
  | { readonly kind: 'reply'; readonly reply: StoredReply; readonly failure?: Failure }
  | { readonly kind: 'wait'; readonly waitMs: number };

export interface Patience {
  readonly now: number;
  readonly deadline: number;
  /** How often it has waited; absent when it cannot wait. */
  readonly waits?: number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly mostBytes?: number;
}

/** SQS delays by 15 minutes at most: what is longer is waited for in slices. */
const longestWaitMs = 900_000;
const firstWaitMs = 1000;
const longestPauseMs = 15_000;

export function settle(lookup: Lookup, asked: LookupResults, patience: Patience): Settled {
  if (patience.now > patience.deadline) return failed(lookup, deadlinePassed);
  return lookup.kind === 'quotes'
    ? settleQuotes(lookup, asked, patience)
    : settleRead(lookup, asked, patience);
}

function settleRead(lookup: Read, asked: LookupResults, patience: Patience): Settled {
  const had = asked.read(lookup);
  if (had.kind === 'had') return { kind: 'reply', reply: readReply(lookup, had, patience.mostBytes) };
  const failure = had.kind === 'failed' ? had.failure : undefined;
  return (failure && wait([failure], patience)) ?? failed(lookup, failure ?? nothing);
}

function settleQuotes(lookup: QuoteLookup, asked: LookupResults, patience: Patience): Settled {
  const had = lookup.symbols.map((symbol) => [symbol, asked.symbol(lookup, symbol)] as const);
  const failures = had.flatMap(([symbol, one]) => (one.kind === 'failed' ? [{ symbol, ...one }] : []));
  const later = wait(
    failures.map(({ failure }) => failure),
    patience,
  );
  if (later) return later;
  const [first] = failures;
  // Nothing came, so that there is nothing to complete.
  if (first && !had.some(([, { kind }]) => kind === 'had'))
    return failed(lookup, failures.find(({ failure }) => failure.retryable)?.failure ?? first.failure);
  const records = had.flatMap(([, one]) => (one.kind === 'had' ? [one] : []));
  return {
    kind: 'reply',
    reply: quotesReply(
      lookup,
      {
        records: records.map(({ bytes }) => bytes),
        unknown: had.flatMap(([symbol, { kind }]) => (kind === 'unknown' ? [symbol] : [])),
        missing: failures.map(({ symbol, failure }) => ({ symbol, code: failure.code })),
        askedAt: Math.min(patience.now, ...records.map(({ askedAt }) => askedAt)),
      },
      patience.mostBytes,
    ),
  };
}

/**
 * Undefined when waiting helps nothing, or the deadline is too near. Who is told to wait beyond it has a last try
 * before it all the same: what was told may have been too much.
 */
function wait(failures: readonly Failure[], { now, deadline, waits, random }: Patience): Settled | undefined {
  const later = failures.filter(({ retryable }) => retryable);
  if (later.length === 0 || waits === undefined) return undefined;
  const told = Math.max(0, ...later.map(({ retryAfterMs = 0 }) => retryAfterMs));
  const left = deadline - now - lastChanceMs;
  // Spread, so that those who failed together do not all come back together.
  const pause = Math.min(longestPauseMs, firstWaitMs * 2 ** Math.min(waits, 6)) * (0.5 + random());
  const waitMs = Math.max(1000, Math.min(longestWaitMs, left, Math.max(told, pause)));
  return waitMs > left ? undefined : { kind: 'wait', waitMs };
}

/** What is kept of the time for a last try before the deadline. */
const lastChanceMs = 2000;

const failed = (lookup: Lookup, failure: Failure): Settled => ({
  kind: 'reply',
  reply: failedReply(lookup, failure),
  failure,
});

const nothing: Failure = { code: 'gateway_error', retryable: true, detail: 'The gateway failed.' };
