/**
 * Writes the entries of a request after the guard rails' checks. The counters of pre-trade checks change in the same
 * transaction, so that a check costs no round trip of its own, and no two instances use up the same part of a limit.
 */

import type { CancelRequests } from '../guard-rails/cancel-requests.ts';
import type { CounterChange, StoredCounter } from '../guard-rails/counter.ts';
import { together, writeExposure } from '../guard-rails/exposure.ts';
import type { CancelledScope, CountedAt, Guard, ScopeFailure, Verdict } from '../guard-rails/guard.ts';
import { blocked, controlsAway, ordersClosed, stopped } from '../guard-rails/refusals.ts';
import type { Refusal } from '../problem.ts';
import { type AskedBy, type AskedOrdersParts, type AskedOrdersRequest, askedOrders } from './asked-orders.ts';
import type { CheckedEntry } from './entries.ts';
import { isAbsent } from './evidence.ts';
import type { ExposureChange, JournalEntry, Stale } from './journal.ts';
import type { OrderPart } from './parts.ts';

export type Begun =
  | { readonly kind: 'begun'; readonly leaveBy?: number; readonly counted?: CountedAt }
  /** Entries of other requests are in the way; some may be those of orders that the request replaces. */
  | { readonly kind: 'taken'; readonly entries: readonly JournalEntry[] }
  /** Nothing was sent. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'away' };

interface CheckedBeginParts extends AskedOrdersParts {
  readonly guard: Guard;
  readonly cancels: CancelRequests;
  readonly reportFailure?: (step: 'begin' | 'check', cause: unknown) => void;
  /** Called with failed checks that are set to notify. */
  readonly reportNoted?: (failures: readonly ScopeFailure[]) => void;
}

interface BeginRequest extends AskedOrdersRequest {
  readonly entryOf: (part: OrderPart, checked: CheckedEntry) => JournalEntry;
  /** In milliseconds since the epoch. */
  readonly endBy: number;
}

/**
 * Longest pause between tries while other instances change the same counters; each pause is random. A failed try has just
 * learnt the current counters, which stay current until the next order. So it repeats at once; with longer pauses, new
 * orders would overtake it again and again.
 */
const maxPauseMs = 10;

export async function beginChecked(given: CheckedBeginParts, request: BeginRequest): Promise<Begun> {
  const { journal, guard, clock, sleep } = given;
  const parts = { ...given, lookUp: oncePerOrder(given.lookUp) };
  const { endBy } = request;
  let areFresh = false;
  for (;;) {
    const asked = await askedOrders(parts, request);
    const verdict = await verdictOf(parts, request, asked);
    // Nothing is written, and the refusal says nothing about the order: a restored journal may be out of date.
    if (verdict?.kind === 'closed') return { kind: 'refused', refusal: ordersClosed };
    if (verdict?.kind === 'blocked' && verdict.counters.length > 0 && !areFresh) {
      guard.learn(await journal.counters(verdict.counters));
      areFresh = true;
      continue;
    }
    if (verdict?.kind !== 'allowed') return refuse(parts, request, verdict);
    const begun = await begin(parts, request, asked, verdict);
    if (begun === 'begun') {
      guard.learn(verdict.counters.map(writtenCounter));
      if (verdict.noted.length > 0) parts.reportNoted?.(verdict.noted);
      return { kind: 'begun', leaveBy: verdict.leaveBy, counted: verdict.counted };
    }
    if (!isStale(begun)) return { kind: 'taken', entries: begun };
    guard.learn(begun.counters);
    areFresh = true;
    if (clock() + maxPauseMs >= endBy) return { kind: 'away' };
    await sleep(maxPauseMs * Math.random());
  }
}

/** Looks each order up once: repeated tries must not use up the limit that all clients share. */
function oncePerOrder(lookUp: CheckedBeginParts['lookUp']): CheckedBeginParts['lookUp'] {
  const found = new Map<string, ReturnType<typeof lookUp>>();
  return (account, clientOrderId) => {
    const known = found.get(clientOrderId) ?? lookUp(account, clientOrderId);
    found.set(clientOrderId, known);
    return known;
  };
}

/** The counter as the store has it after the write, so that this instance's next request starts without a read. */
const writtenCounter = ({ key, revision, next }: CounterChange): StoredCounter => ({
  key,
  revision: revision + 1,
  state: next,
});

const isStale = (begun: readonly JournalEntry[] | Stale): begun is Stale => 'counters' in begun;

/** The guard's verdict; undefined when the operators' settings cannot be read. */
async function verdictOf(
  { guard, reportFailure }: CheckedBeginParts,
  { change, all, endBy }: BeginRequest,
  asked: readonly AskedBy[],
): Promise<Verdict | undefined> {
  const { user } = change;
  try {
    return await guard.verdict({
      account: all[0]?.account ?? '',
      ...(user !== undefined && { user }),
      orders: asked.map(({ order }) => order),
      endBy,
    });
  } catch (cause) {
    reportFailure?.('check', cause);
    return undefined;
  }
}

type RefusedVerdict = Extract<Verdict, { kind: 'stopped' | 'blocked' }>;

/** Refuses the request, and writes entries that tell the audit why. If it was sent before, the earlier entries are in the way. */
async function refuse(
  { journal, clock, cancels, reportFailure }: CheckedBeginParts,
  { open, entryOf }: BeginRequest,
  verdict: RefusedVerdict | undefined,
): Promise<Begun> {
  const refusal = refusalOf(verdict, []);
  const failedChecks = verdict?.kind === 'blocked' ? checksOf(verdict.failures) : [];
  try {
    // An order that counts as absent may still show: its entry has the exposure to count then, so it stays.
    const known = await journal.read(open.map(({ key }) => key));
    const free = open.filter(({ key }) => !isAbsent(known.get(key)));
    const entries = free.map((part) => entryOf(part, { failedChecks, refusedAs: refusal.code }));
    const begun = await journal.begin(entries, clock());
    if (begun !== 'begun') return { kind: 'taken', entries: begun };
  } catch (cause) {
    reportFailure?.('begin', cause);
  }
  if (verdict?.kind !== 'blocked' || verdict.cancelled.length === 0) return { kind: 'refused', refusal };
  // Cancels are requested only now, because a request that was sent before is no new order beyond a limit.
  const asked = await Promise.all(
    verdict.cancelled.map(async (scope) => ({ scope, isAsked: await cancels.request(scope.key) })),
  );
  const cancelled = asked.flatMap(({ scope, isAsked }) => (isAsked ? [scope] : []));
  return { kind: 'refused', refusal: refusalOf(verdict, cancelled) };
}

function refusalOf(verdict: RefusedVerdict | undefined, cancelled: readonly CancelledScope[]): Refusal {
  if (!verdict) return controlsAway;
  if (verdict.kind === 'stopped') return stopped(verdict);
  return blocked(
    verdict.failures,
    cancelled.map(({ kind }) => kind),
  );
}

const checksOf = (failures: readonly ScopeFailure[]) => [...new Set(failures.map(({ check }) => check))];

function begin(
  { journal, clock }: CheckedBeginParts,
  { open, entryOf }: BeginRequest,
  asked: readonly AskedBy[],
  { counters, exposures, noted }: Extract<Verdict, { kind: 'allowed' }>,
) {
  const failedChecks = checksOf(noted);
  const written = asked.map(({ of }, index) => ({ of, exposure: exposures[index] }));
  const entries = open.map((part) => {
    const own = together(
      written.flatMap(({ of, exposure }) =>
        of.kind === 'part' && of.part === part && exposure ? exposure : [],
      ),
    );
    return entryOf(part, {
      ...(own && { exposure: writeExposure(own) }),
      ...(failedChecks.length > 0 && { failedChecks }),
    });
  });
  const changed = written.flatMap(({ of, exposure }): readonly ExposureChange[] =>
    of.kind === 'entry' && exposure
      ? [
          {
            key: of.entry.key,
            attempt: of.entry.attempt,
            before: of.entry.exposure,
            next: writeExposure(exposure),
          },
        ]
      : [],
  );
  const adopted = written.flatMap(({ of, exposure }) =>
    of.kind === 'elsewhere' && exposure ? [{ ...of.entry, exposure: writeExposure(exposure) }] : [],
  );
  return journal.beginCounted([...entries, ...once(adopted)], clock(), { counters, exposures: changed });
}

const once = (entries: readonly JournalEntry[]) => new Map(entries.map((one) => [one.key, one])).values();
