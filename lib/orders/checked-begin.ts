/**
 * Writes the entries of a request behind the guard rails: the counters of pre-trade checks change in the same transaction,
 * so that a check costs no round trip of its own, and no two instances pass by one counter.
 */

import type { KeyedNames } from '../access/directory.ts';
import type { CounterChange, StoredCounter } from '../guard-rails/counter.ts';
import type { Exposure } from '../guard-rails/exposure.ts';
import { readExposure, together, writeExposure } from '../guard-rails/exposure.ts';
import type { AskedOrder, Guard, ScopeFailure, Verdict } from '../guard-rails/guard.ts';
import { blocked, controlsAway, stopped } from '../guard-rails/refusals.ts';
import { textMembers } from '../json-members.ts';
import type { Refusal } from '../problem.ts';
import type { CheckedEntry } from './entries.ts';
import type { CountingJournal, ExposureChange, JournalEntry, Stale } from './journal.ts';
import type { ReadOrder } from './order-reads.ts';
import { askedOrder, type Change, orderKey, ordersIn, type Part } from './parts.ts';
import { type OrderRecord, readRecord } from './record.ts';

export type Begun =
  | { readonly kind: 'begun'; readonly leaveBy?: number }
  /** Entries of other requests are in the way. */
  | { readonly kind: 'taken'; readonly entries: readonly JournalEntry[] }
  /** Nothing was sent. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'away' };

export interface CheckedBeginParts {
  readonly journal: CountingJournal;
  readonly guard: Guard;
  readonly names: KeyedNames;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly reportFailure?: (step: 'begin' | 'check', cause: unknown) => void;
  /** A check that failed, and is set to notify. */
  readonly reportNoted?: (failures: readonly ScopeFailure[]) => void;
  /** An order at the upstream that another program placed. */
  readonly lookUp: (account: string, clientOrderId: string) => Promise<ReadOrder | 'not_found' | undefined>;
}

export interface BeginRequest {
  readonly change: Change;
  /** All of the request, in its order. */
  readonly all: readonly Part[];
  /** Those that are to be begun. */
  readonly open: readonly Part[];
  readonly entryOf: (part: Part, checked: CheckedEntry) => JournalEntry;
  /** In milliseconds since the epoch. */
  readonly endBy: number;
}

/**
 * From one try to the next, while other instances change the same counters: at most, by chance. A try that was late has just
 * been told how the counters are, and that is true until the next order; so it comes again before that one does, and a
 * pause that grew would let newcomers pass for as long as they come.
 */
const maxPauseMs = 10;

export async function beginChecked(parts: CheckedBeginParts, request: BeginRequest): Promise<Begun> {
  const { journal, guard, clock, sleep } = parts;
  const { endBy } = request;
  let areFresh = false;
  for (;;) {
    const asked = await askedOrders(parts, request);
    const verdict = await verdictOf(parts, request, asked);
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
      return { kind: 'begun', leaveBy: verdict.leaveBy };
    }
    if (!isStale(begun)) return { kind: 'taken', entries: begun };
    guard.learn(begun.counters);
    areFresh = true;
    if (clock() + maxPauseMs >= endBy) return { kind: 'away' };
    await sleep(maxPauseMs * Math.random());
  }
}

/** As the store has it now, so that the next request of this instance begins at once. */
const writtenCounter = ({ key, revision, next }: CounterChange): StoredCounter => ({
  key,
  revision: revision + 1,
  state: next,
});

const isStale = (begun: readonly JournalEntry[] | Stale): begun is Stale => 'counters' in begun;

/** Undefined when it is not known what operators have set. */
async function verdictOf(
  { guard, reportFailure }: CheckedBeginParts,
  { change, all, endBy }: BeginRequest,
  asked: readonly AskedBy[],
): Promise<Verdict | undefined> {
  const { credential, user } = change;
  try {
    return await guard.verdict({
      credential,
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

/** Its entries say for the audit why nothing was sent. One that was sent before is in their way: it is answered instead. */
async function refuse(
  { journal, clock, reportFailure }: CheckedBeginParts,
  { open, entryOf }: BeginRequest,
  verdict: Exclude<Verdict, { kind: 'allowed' }> | undefined,
): Promise<Begun> {
  const refusal = refusalOf(verdict);
  const failedChecks = verdict?.kind === 'blocked' ? checksOf(verdict.failures) : [];
  const entries = open.map((part) => entryOf(part, { failedChecks, refusedAs: refusal.code }));
  try {
    const begun = await journal.begin(entries, clock());
    if (begun !== 'begun') return { kind: 'taken', entries: begun };
  } catch (cause) {
    reportFailure?.('begin', cause);
  }
  return { kind: 'refused', refusal };
}

function refusalOf(verdict: Exclude<Verdict, { kind: 'allowed' }> | undefined): Refusal {
  if (!verdict) return controlsAway;
  return verdict.kind === 'stopped' ? stopped(verdict) : blocked(verdict.failures);
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
      ? [{ key: of.entry.key, before: of.entry.exposure, next: writeExposure(exposure) }]
      : [],
  );
  return journal.beginCounted(entries, clock(), { counters, exposures: changed });
}

/** An order to be checked, and the entry that has its exposure: the part's own, or that of the order it replaces. */
interface AskedBy {
  readonly order: AskedOrder;
  readonly of:
    | { readonly kind: 'part'; readonly part: Part }
    | { readonly kind: 'entry'; readonly entry: JournalEntry };
}

async function askedOrders(parts: CheckedBeginParts, request: BeginRequest): Promise<readonly AskedBy[]> {
  const { change, all, open } = request;
  const { journal } = change.operation.sideEffect ?? {};
  if (journal?.by === 'client_order_id') {
    const orders = ordersIn(change.body, journal.list);
    return open.map((part) => {
      const index = all.indexOf(part);
      const order = { json: orders[index] ?? '{}', at: `/${journal.list}/${index}` };
      return { order, of: { kind: 'part', part } };
    });
  }
  const [part] = all;
  return part ? replacedOrders(parts, change, part) : [];
}

const modified = 'modify_orders';

/** As many as a combination has: each takes a request of those that all clients share. */
const maxLookedUp = 7;

/** What a replacement makes of each order: what was asked for when it was placed, or what the upstream shows of it. */
async function replacedOrders(
  { journal, names, lookUp }: CheckedBeginParts,
  { body, credential }: Change,
  part: Part,
): Promise<readonly AskedBy[]> {
  const account = part.account ?? '';
  const replacements = await Promise.all(
    ordersIn(body, modified).map(async (replaced, index) => {
      const id = textMembers(replaced, ['client_order_id'])?.get('client_order_id') ?? '';
      const key = await orderKey(names, { credential, account, clientOrderId: id });
      return { replaced, id, key, at: `/${modified}/${index}` };
    }),
  );
  const entries = await journal.read(replacements.map(({ key }) => key));
  let lookedUp = 0;
  return Promise.all(
    replacements.map(async ({ replaced, id, key, at }): Promise<AskedBy> => {
      const entry = entries.get(key);
      const placed =
        entry && entry.state !== 'refused' ? placedOrder(readRecord(entry.record), id) : undefined;
      if (entry && placed !== undefined) {
        const exposure: Exposure | undefined =
          entry.exposure === undefined ? undefined : readExposure(entry.exposure);
        return { order: { json: placed, at, replaced, exposure }, of: { kind: 'entry', entry } };
      }
      const mayLookUp = account !== '' && lookedUp++ < maxLookedUp;
      const found = mayLookUp ? await lookUp(account, id) : undefined;
      const json = found && found !== 'not_found' ? found.payload : '{}';
      return { order: { json, at, replaced }, of: { kind: 'part', part } };
    }),
  );
}

const placedOrder = ({ asked }: OrderRecord, clientOrderId: string): string | undefined =>
  askedOrder(asked, clientOrderId);
