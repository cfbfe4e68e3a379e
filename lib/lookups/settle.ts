/** Decides whether a lookup has its reply after the calls, or waits for another try. */

import { type BackOff, backOffMs } from '../kernel/pauses.ts';
import type { LookupResults } from './ask.ts';
import { deadlinePassed, gatewayFailed, type LookupFailure } from './failure.ts';
import type { StoredReply } from './ports.ts';
import { failedReply, quotesReply, readReply } from './replies.ts';
import type { OwnedLookup, OwnedQuotes, OwnedRead } from './request.ts';

type SettledLookup =
  | { readonly kind: 'reply'; readonly reply: StoredReply; readonly failure?: LookupFailure }
  | { readonly kind: 'wait'; readonly waitMs: number };

interface SettleOptions {
  readonly now: number;
  readonly deadline: number;
  /** Number of times that the lookup has waited; absent when it cannot wait. */
  readonly waits?: number;
  /** From 0 to below 1. */
  readonly random: () => number;
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
  const records = all.flatMap(([, one]) => (one.kind === 'found' ? [one] : []));
  return {
    kind: 'reply',
    reply: quotesReply(
      lookup,
      {
        records: records.map(({ bytes }) => bytes),
        unknown: all.flatMap(([symbol, { kind }]) => (kind === 'unknown' ? [symbol] : [])),
        missing: failures.map(({ symbol, failure }) => ({ symbol, code: failure.code })),
        asOf: Math.min(options.now, ...records.map(({ asOf }) => asOf)),
      },
      options.maxBytes,
    ),
  };
}

/**
 * Chooses a wait; undefined when waiting does not help, or the deadline is too near. If `retryAfterMs` ends beyond the
 * deadline, the lookup still has a last try before it, because that time may be estimated too long.
 */
function chooseWait(
  failures: readonly LookupFailure[],
  { now, deadline, waits, random }: SettleOptions,
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
