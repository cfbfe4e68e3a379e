/**
 * The safe hand-over of a request with a side effect: its entry is written before it is sent, its outcome after. A repeated
 * request is never sent again: it is answered with the outcome of the first.
 *
 *     begin       the entries of all its parts, or none               journal
 *     send        permit → sign → send → read                         gateway
 *     look up     when the answer is lost, and time is left           evidence.ts
 *     finish      the outcome of each part                            journal
 */

import type { KeyedNames } from '../access/directory.ts';
import { type Answer, refused } from '../answer.ts';
import { isGuarded, type Operation } from '../catalogue/operation.ts';
import { type CancelRequests, createCancelRequests } from '../guard-rails/cancel-requests.ts';
import {
  type CountedAt,
  createGuard,
  type Guard,
  type GuardOptions,
  type GuardWiring,
  type ScopeFailure,
} from '../guard-rails/guard.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import { sleep as sleepWithTimer } from '../kernel/pauses.ts';
import type { Refusal } from '../problem.ts';
import { isEach, joinAnswers, type PartOutcome, partOutcomes } from './answers.ts';
import { type Begun, beginChecked } from './checked-begin.ts';
import { OrderEntries } from './entries.ts';
import { outcomeBy, type SettledOrder, settledBy } from './evidence.ts';
import {
  type CountingJournal,
  type EntryOutcome,
  isOver,
  type JournalEntry,
  maxSendMs,
  type OrderJournal,
} from './journal.ts';
import type { ReadOrder } from './order-reads.ts';
import { type OrderPart, ordersIn, partsOf, type Submission, withOrders } from './parts.ts';
import { readRecord } from './record.ts';
import { type ReleaseParts, recount, releaseExposure, uncount } from './release-ended.ts';

/** Dependencies of the hand-over, which keeps orders from being sent twice. */
export interface OrdersWiring<Guard = GuardWiring> {
  readonly journal: OrderJournal;
  /** Makes the keyed names of entries. */
  readonly names: KeyedNames;
  /**
   * Members that an order may have besides those of the catalogue; nothing checks their values. Default none: an order with
   * another member is refused with 400.
   */
  readonly members: readonly string[] | undefined;
  /** Operations that show what became of an order, where the gateway does not offer them itself. Default none. */
  readonly lookUps: readonly Operation[];
  /** Pre-trade checks and the kill switch, with the journal again, as the store of their counters. Default none. */
  readonly guard: (Guard & { readonly journal: CountingJournal }) | undefined;
  /** Called with failed pre-trade checks that are set to notify; the order is placed nevertheless. */
  readonly reportNoted: (failures: readonly ScopeFailure[]) => void;
  /**
   * Called when the journal fails, the operators' settings cannot be read (`check`), or cancels cannot be requested
   * (`mass_cancel`). If the failure comes after sending, the entry stays as it was until evidence settles it.
   */
  readonly reportFailure: (
    step: 'begin' | 'check' | 'finish' | 'mass_cancel' | 'read' | 'release',
    cause: unknown,
  ) => void;
  /** Resolves after `ms` milliseconds; replace it in tests only. */
  readonly sleep: (ms: number) => Promise<void>;
}

export type OrdersOptions = OptionsOf<OrdersWiring<GuardOptions>, 'journal' | 'names'>;

interface HandOverParts extends OrdersOptions {
  readonly clock: () => number;
}

interface CheckedParts extends Omit<HandOverParts, 'guard'> {
  readonly checks: Checks | undefined;
}

interface Checks {
  readonly journal: CountingJournal;
  readonly guard: Guard;
  readonly cancels: CancelRequests;
  readonly begin: typeof beginChecked;
}

export interface OrderDelivery {
  /** Sends the request with `body`; it is answered by `sendBy`, and leaves by `leaveBy` or not at all. */
  send(body: string, sendBy: number, leaveBy?: number): Promise<Answer>;
  /** Looks an order up once, ending by `endBy`; undefined when no look-up was possible. */
  lookUp(account: string, clientOrderId: string, endBy: number): Promise<ReadOrder | 'not_found' | undefined>;
}

export interface HandOver {
  /** Sends the request, unless it was sent before. */
  run(change: Submission, delivery: OrderDelivery): Promise<Answer>;
}

/** Part of the platform's time that is reserved for the journal's last write. */
const finishMs = 1200;
/** Longest wait of a request for its entries while others change the same counters. */
const maxBeginMs = 4000;
/** Longest waits of a cancel for the journal: for its entry before sending, and for its outcome after the answer. */
const optionalMs = { begin: 500, finish: 250 };
/** Pauses between reads of an entry whose request is under way in another instance. */
const pollMs = { first: 50, max: 500 };
/** Waits from the loss of an answer to each look-up; most orders are visible at once. */
const lookUpAfterMs = [0, 500, 1500, 4000];
/** Wait before another instance's request under way is looked up: that instance most likely writes its outcome first. */
const lookUpElseMs = 1500;
/** Most tries of a request to write its entries when other requests have freed them. */
const maxRounds = 3;

/** @example const handOver = createHandOver({ journal: createMemoryOrderJournal(), names, clock: Date.now }); */
export function createHandOver({ guard, ...parts }: HandOverParts): HandOver {
  const { names, clock, reportFailure } = parts;
  const checks: Checks | undefined = guard && {
    journal: guard.journal,
    guard: createGuard({ ...guard, names, clock }),
    cancels: createCancelRequests({
      store: guard.massCancels ?? noMassCancels,
      clock,
      reportFailure: (cause) => reportFailure?.('mass_cancel', cause),
    }),
    begin: beginChecked,
  };
  return handOverOf({ ...parts, checks });
}

/** Creates a hand-over for requests without guard rails, such as cancels; a bundle with it alone has no guard rails in it. */
export const createUnguardedHandOver = (parts: Omit<HandOverParts, 'guard'>): HandOver =>
  handOverOf({ ...parts, checks: undefined });

const handOverOf = (parts: CheckedParts): HandOver => ({
  async run(change, delivery) {
    const found = await partsOf(change, parts.names);
    if (!found) return delivery.send(change.body, change.deadline);
    return new OneHandOver(parts, change, delivery, found).run();
  },
});

/** Replaces the missing store of mass cancels, so that a limit that wants cancels reports a failure. */
const noMassCancels = {
  request: () => Promise.reject(new Error('this gateway has no store of mass cancels')),
};

/** The outcome, as far as it is known, of a part whose entry another request wrote. */
type KnownPart =
  | { readonly kind: 'accepted'; readonly answer: string }
  | { readonly kind: 'free' }
  | { readonly kind: 'used_by_other' }
  | { readonly kind: 'unknown' };

class OneHandOver {
  readonly #parts: CheckedParts;
  readonly #change: Submission;
  readonly #delivery: OrderDelivery;
  readonly #all: readonly OrderPart[];
  readonly #entries: OrderEntries;
  readonly #sendBy: number;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(parts: CheckedParts, change: Submission, delivery: OrderDelivery, all: readonly OrderPart[]) {
    this.#parts = parts;
    this.#change = change;
    this.#delivery = delivery;
    this.#all = all;
    this.#sendBy = Math.min(change.deadline - finishMs, parts.clock() + maxSendMs);
    this.#entries = new OrderEntries(change, this.#sendBy, parts.clock);
  }

  async run(): Promise<Answer> {
    const answers = new Map<OrderPart, string>();
    for (let round = 0; round < maxRounds; round++) {
      const open = this.#all.filter((part) => !answers.has(part));
      if (open.length === 0) return this.#replay(answers);
      const begun = await this.#begin(open);
      if (begun.kind === 'away') return this.#withoutJournal(answers);
      if (begun.kind === 'begun') return this.#deliver(open, answers, begun);
      if (begun.kind === 'refused') return this.#notPlaced(begun.refusal, answers);
      const refusal = await this.#learn(begun.entries, answers);
      if (refusal) return refused(refusal);
    }
    return refused(this.#unknown(underWay));
  }

  #replay(answers: ReadonlyMap<OrderPart, string>): Answer {
    return { kind: 'uncached', body: joinAnswers(this.#change, this.#all, answers), isReplayed: true };
  }

  async #begin(open: readonly OrderPart[]): Promise<Begun> {
    const { journal, clock, reportFailure, checks } = this.#parts;
    try {
      if (checks && isGuarded(this.#change.operation)) return await this.#beginChecked(open, checks);
      const entries = open.map((part) => this.#entries.begin(part));
      const writing = journal.begin(entries, clock());
      this.#writing = writing;
      const begun = await (this.#isOptional ? this.#within(writing, optionalMs.begin) : writing);
      if (begun === 'begun') return { kind: 'begun' };
      return { kind: 'taken', entries: begun };
    } catch (cause) {
      reportFailure?.('begin', cause);
      return { kind: 'away' };
    }
  }

  #beginChecked(open: readonly OrderPart[], checks: Checks): Promise<Begun> {
    const { names, clock, reportFailure, reportNoted } = this.#parts;
    const endBy = Math.min(this.#sendBy, clock() + maxBeginMs);
    return checks.begin(
      {
        ...checks,
        names,
        clock,
        sleep: (ms) => this.#sleep(ms),
        ...(reportFailure && { reportFailure }),
        ...(reportNoted && { reportNoted }),
        lookUp: (account, clientOrderId) => this.#delivery.lookUp(account, clientOrderId, endBy),
      },
      {
        change: this.#change,
        all: this.#all,
        open,
        entryOf: (part, checked) => this.#entries.checked(part, checked),
        endBy,
      },
    );
  }

  /** Answers while the journal is away: sends a cancel, because it reduces risk, and refuses any other request. */
  async #withoutJournal(before: ReadonlyMap<OrderPart, string>): Promise<Answer> {
    if (this.#isOptional) return this.#sendUnwritten();
    // The entry may have been written nevertheless. This outcome frees its id; else look-ups that find nothing free it.
    await this.#finishAll(
      this.#all.map((part) => this.#entries.outcome(part, 'refused', { evidence: 'not_sent' })),
      1,
    );
    return this.#notPlaced({ code: 'journal_unavailable' }, before);
  }

  /** Sends a cancel without a confirmed entry. The entry may be written nevertheless, so its outcome is written after it. */
  async #sendUnwritten(): Promise<Answer> {
    const answer = await this.#delivery.send(this.#change.body, this.#sendBy);
    const known = partOutcomes(this.#change, this.#all, answer);
    const outcomes = known.map(({ part, state, ...said }) => this.#entries.outcome(part, state, said));
    const finish = () => this.#finishAll(outcomes, 1);
    const finished = Promise.allSettled([finish(), this.#writing.then(finish)]);
    await this.#within(finished, optionalMs.finish).catch(() => {});
    const isOpen = answer.kind !== 'refused' && known.some(({ state }) => state === 'unknown');
    return isOpen ? refused(this.#unknown(partlyUnknown)) : answer;
  }

  /** The refusal, unless an earlier request has placed a part: then "had no effect" would be false. */
  #notPlaced(refusal: Refusal, before: ReadonlyMap<OrderPart, string>): Answer {
    return refused(before.size > 0 ? this.#unknown(partlyPlaced) : refusal);
  }

  get #isOptional(): boolean {
    return this.#change.operation.sideEffect?.cancels === true;
  }

  /** Learns the outcomes of parts whose entries exist already. A refusal ends this request, of which nothing was sent. */
  async #learn(
    taken: readonly JournalEntry[],
    answers: Map<OrderPart, string>,
  ): Promise<Refusal | undefined> {
    const pairs = taken.flatMap((entry) => {
      const part = this.#all.find(({ key }) => key === entry.key);
      return part ? [{ part, entry }] : [];
    });
    const other = pairs.find(({ part, entry }) => part.hash !== entry.hash);
    if (other) return this.#conflict(other.entry);
    const known = await Promise.all(
      pairs.map(async ({ part, entry }) => ({ part, entry, ...(await this.#await(entry)) })),
    );
    for (const one of known) if (one.kind === 'accepted') answers.set(one.part, one.answer);
    // Parts that are answered together have one outcome.
    const [accepted] = answers.values();
    if (this.#isTogether && accepted !== undefined) {
      const settled = { state: 'accepted', evidence: 'look_up', answer: accepted } as const;
      const others = known.filter(({ kind }) => kind !== 'accepted');
      await this.#finishAll(
        others.map(({ entry }) => outcomeBy(entry, settled, this.#parts.clock())),
        1,
      );
      for (const part of this.#all) answers.set(part, accepted);
      return undefined;
    }
    if (known.some(({ kind }) => kind === 'unknown')) return this.#unknown(sentBefore);
    // A part of a batch is sent again, so that the answer has the upstream's refusal of it beside the other parts' answers.
    if (known.some(({ kind }) => kind === 'used_by_other') && !isEach(this.#change)) return usedByOther;
    return undefined;
  }

  get #isTogether(): boolean {
    const journal = this.#change.operation.sideEffect?.journal;
    return journal?.by === 'client_order_id' && journal.answered === 'together';
  }

  /** Waits until the request that wrote the entry writes its outcome, and looks the order up meanwhile. */
  async #await(first: JournalEntry): Promise<KnownPart> {
    const { clock } = this.#parts;
    const startedAt = clock();
    let nextLookUpAt =
      first.state === 'pending' && !isOver(first, startedAt) ? startedAt + lookUpElseMs : startedAt;
    let pauseMs = pollMs.first;
    for (let entry: JournalEntry | undefined = first; entry; entry = await this.#read(entry)) {
      // The first request was refused, and another request with other contents took its entry over.
      if (entry.hash !== first.hash) return { kind: 'free' };
      if (entry.state === 'accepted') return { kind: 'accepted', answer: answerIn(entry.record) };
      if (entry.state === 'refused') {
        await this.#release(entry);
        return { kind: 'free' };
      }
      if (clock() >= nextLookUpAt) {
        const settled = await this.#settle(entry);
        nextLookUpAt = clock() + 2 * lookUpElseMs;
        if (settled === 'not_written') continue;
        if (settled) return settled;
        // No instance works on the request any more, and this look-up settled nothing: only later ones can.
        if (entry.state === 'unknown' || isOver(entry, clock())) return { kind: 'unknown' };
      }
      if (clock() + pauseMs >= this.#sendBy) return { kind: 'unknown' };
      await this.#sleep(pauseMs);
      pauseMs = Math.min(pollMs.max, pauseMs * 2);
    }
    return { kind: 'free' };
  }

  /** The entry as it is now; unchanged when the journal cannot be read. */
  async #read(entry: JournalEntry): Promise<JournalEntry | undefined> {
    try {
      return (await this.#parts.journal.read([entry.key])).get(entry.key);
    } catch (cause) {
      this.#parts.reportFailure?.('read', cause);
      return entry;
    }
  }

  /** Settles the entry by a look-up. `not_written`: the entry has changed, so the shown order may be another request's. */
  async #settle(entry: JournalEntry): Promise<KnownPart | 'not_written' | undefined> {
    const settled = await this.#lookUp(entry);
    if (!settled) return undefined;
    const isWritten = await this.#finish(outcomeBy(entry, settled, this.#parts.clock()), 1);
    if (!isWritten) return 'not_written';
    if (settled.state === 'accepted') {
      await this.#recount(entry, entry.exposure);
      return { kind: 'accepted', answer: settled.answer };
    }
    await this.#release({ ...entry, state: 'refused' });
    return settled.usedByOther ? { kind: 'used_by_other' } : { kind: 'free' };
  }

  async #lookUp(entry: JournalEntry): Promise<SettledOrder | undefined> {
    const { account_id: account, client_order_id: id } = readRecord(entry.record);
    if (!entry.listedAs || account === undefined || id === undefined) return undefined;
    const found = await this.#delivery.lookUp(account, id, this.#sendBy);
    // An order that does not show is no evidence yet: the settlement looks again.
    return found && found !== 'not_found' ? settledBy(entry, { by: 'look_up', found }) : undefined;
  }

  /** Sends the parts whose entries were begun, and answers for all parts. */
  async #deliver(
    open: readonly OrderPart[],
    before: ReadonlyMap<OrderPart, string>,
    { leaveBy, counted }: Extract<Begun, { kind: 'begun' }>,
  ): Promise<Answer> {
    const outcome = await this.#send(open, leaveBy);
    const known = partOutcomes(this.#change, open, outcome);
    const unknown = known.filter(({ state }) => state === 'unknown');
    const lost = unknown.map(({ part }) => part);
    const settled = await this.#lookUpLost(unknown);
    const at = this.#parts.clock();
    await this.#finishAll(
      known.map(({ part, state, ...said }) => {
        const by = settled.get(part);
        return by ? outcomeBy(this.#entries.begun(part), by, at) : this.#entries.outcome(part, state, said);
      }),
    );
    const refusedParts = known.filter(({ part, state }) => (settled.get(part)?.state ?? state) === 'refused');
    if (counted && refusedParts.length > 0) {
      const isOfOrder = outcome.kind !== 'refused' || outcome.refusal.code === 'upstream_rejected';
      await this.#uncount(
        counted,
        refusedParts.map(({ part }) => open.indexOf(part)),
        isOfOrder,
      );
    }
    if (lost.some((part) => !settled.has(part)))
      return outcome.kind === 'refused' ? outcome : refused(this.#unknown(partlyUnknown));
    if (outcome.kind === 'refused' && lost.length === 0) return this.#notPlaced(outcome.refusal, before);
    if (outcome.kind === 'uncached' && lost.length === 0 && before.size === 0) return outcome;
    const answers = new Map([...before, ...answersKnown(known), ...answersSettled(settled)]);
    if (answers.size === this.#all.length) return this.#replay(answers);
    return refused(answers.size === 0 ? usedByOther : this.#unknown(partlyUnknown));
  }

  #send(open: readonly OrderPart[], leaveBy: number | undefined): Promise<Answer> {
    const { body, operation } = this.#change;
    const journal = operation.sideEffect?.journal;
    const isReduced = open.length < this.#all.length && journal?.by === 'client_order_id';
    const sent = isReduced
      ? withOrders(
          body,
          journal.list,
          open.map(({ text }) => text),
        )
      : body;
    return this.#delivery.send(sent, this.#sendBy, leaveBy);
  }

  /** Looks up parts whose answer was lost, while there is time. */
  async #lookUpLost(lost: readonly PartOutcome[]): Promise<ReadonlyMap<OrderPart, SettledOrder>> {
    const found = new Map<OrderPart, SettledOrder>();
    // One look-up is enough for parts that are placed together.
    const wanted = this.#isTogether ? lost.slice(0, 1) : lost;
    const { clock } = this.#parts;
    const startedAt = clock();
    for (const afterMs of wanted.length > maxLookedUp ? [] : lookUpAfterMs) {
      const open = wanted.filter(({ part }) => !found.has(part));
      const waitMs = Math.max(0, startedAt + afterMs - clock());
      if (open.length === 0 || clock() + waitMs >= this.#sendBy) break;
      if (waitMs > 0) await this.#sleep(waitMs);
      for (const { part, state, ...said } of open) {
        const { record } = this.#entries.outcome(part, state, said);
        const by = await this.#lookUp({ ...this.#entries.begun(part), record });
        if (by && this.#mayTell(by)) found.set(part, by);
      }
    }
    const [first] = found.values();
    return this.#isTogether && first ? new Map(lost.map(({ part }) => [part, first])) : found;
  }

  /** Whether the client can be answered. The upstream's refusal of a change is lost, so only its success can. */
  #mayTell(by: SettledOrder): boolean {
    return by.state === 'accepted' || this.#change.operation.sideEffect?.journal?.by === 'client_order_id';
  }

  /** Writes the outcomes. After a failed write, the order stays counted until evidence settles its pending entry. */
  async #finishAll(outcomes: readonly EntryOutcome[], attempts = 3): Promise<void> {
    await Promise.all(
      outcomes.map(async (one) => {
        const isWritten = await this.#finish(one, attempts);
        const exposure = this.#entries.exposureOf(one.key);
        if (isWritten && one.state === 'refused') await this.#release({ ...one, exposure });
        if (isWritten && one.state === 'accepted' && isOver(this.#entries, this.#parts.clock()))
          await this.#recount(one, exposure);
      }),
    );
  }

  /** Counts an accepted order again: look-ups may have declared it absent while this instance was suspended. */
  async #recount(one: Pick<JournalEntry, 'key' | 'attempt'>, exposure: string | undefined): Promise<void> {
    if (exposure !== undefined) await this.#counting((parts) => recount(one, exposure, parts));
  }

  /** Takes an order out of the counters; the settlement repeats it if this fails. */
  async #release({
    key,
    attempt,
    state,
    exposure,
  }: Pick<JournalEntry, 'key' | 'attempt' | 'state'> & {
    readonly exposure?: string | undefined;
  }): Promise<void> {
    if (exposure === undefined) return;
    await this.#counting((parts) => releaseExposure({ key, attempt, state, exposure }, parts));
  }

  /**
   * Takes refused orders out of the counters of order rates.
   *
   * @param parts indexes of the refused parts; for a replacement, of its request
   * @param isOfOrder whether the orders themselves were the reason: then they still count for their user
   */
  async #uncount(
    { at, shared, own, same }: CountedAt,
    parts: readonly number[],
    isOfOrder: boolean,
  ): Promise<void> {
    const { body, operation } = this.#change;
    const replaces = operation.sideEffect?.journal?.by === 'idempotency-key';
    const orders = replaces ? ordersIn(body, 'modify_orders').length : parts.length;
    const rated = isOfOrder ? shared : [...shared, ...own];
    const refusedBy = new Map(rated.map((key) => [key, orders]));
    for (const key of parts.flatMap((part) => same[part] ?? []))
      refusedBy.set(key, (refusedBy.get(key) ?? 0) + 1);
    await this.#counting((parts) => uncount(at, refusedBy, parts));
  }

  /** Changes counters where there are checks; a failure must not cost the client its answer. */
  async #counting(change: (parts: ReleaseParts) => Promise<unknown>): Promise<void> {
    const { checks, reportFailure } = this.#parts;
    try {
      if (checks) await change({ journal: checks.journal, sleep: (ms) => this.#sleep(ms) });
    } catch (cause) {
      reportFailure?.('release', cause);
    }
  }

  /** Whether the outcome was written; undefined when the journal could not be reached. */
  async #finish(outcome: EntryOutcome, attempts: number): Promise<boolean | undefined> {
    const { journal, clock, reportFailure } = this.#parts;
    for (let left = attempts; left > 0; left--) {
      try {
        return await journal.finish(outcome);
      } catch (cause) {
        reportFailure?.('finish', cause);
        if (left === 1 || clock() + 200 > this.#change.deadline - finishMs / 2) return undefined;
        await this.#sleep(100);
      }
    }
    return undefined;
  }

  #unknown(detail: string): Refusal {
    const findOut = this.#change.operation.sideEffect?.findOut;
    return { code: 'outcome_unknown', detail, ...(findOut !== undefined && { findOut }) };
  }

  #conflict({ record }: JournalEntry): Refusal {
    const { by } = this.#change.operation.sideEffect?.journal ?? {};
    const ofOrder = readRecord(record).seen_after_restore ? ofBeforeRestore : otherOrder;
    return { code: 'idempotency_conflict', detail: by === 'client_order_id' ? ofOrder : otherRequest };
  }

  async #within<T>(promise: Promise<T>, ms: number): Promise<T> {
    promise.catch(() => {});
    const late = this.#sleep(ms).then((): never => {
      throw new Error(`the journal did not answer within ${ms} ms`);
    });
    return Promise.race([promise, late]);
  }

  #sleep(ms: number): Promise<void> {
    return (this.#parts.sleep ?? sleepWithTimer)(ms);
  }
}

const answersKnown = (known: readonly PartOutcome[]) =>
  known.flatMap(({ part, answer }) => (answer === undefined ? [] : [[part, answer] as const]));

const answersSettled = (settled: ReadonlyMap<OrderPart, SettledOrder>) =>
  [...settled].flatMap(([part, by]) => (by.state === 'accepted' ? [[part, by.answer] as const] : []));

/** Most parts that are looked up: more would use the whole limit of order reads. */
const maxLookedUp = 3;

const answerIn = (record: string): string => readRecord(record).outcome?.answer ?? '{}';

const underWay = 'The same request is under way: what becomes of it is not known yet. This one was not sent.';
const sentBefore =
  'The same request was sent before, and what became of it is not known yet: it is not sent twice. Send it again later, unchanged, to learn its outcome.';
const partlyUnknown =
  'The request was sent, but its answer does not say of each order what became of it. Send it again later, unchanged, to learn the outcome: no order is placed twice.';
const partlyPlaced =
  'An earlier request placed some of these orders, and this one placed none of the others. Send it again later, unchanged, for all answers: no order is placed twice.';
const otherOrder =
  'An earlier request with other contents has this client_order_id, and its order was placed or may have been. This request was not sent; it had no effect. Look the earlier order up before placing another one.';
const ofBeforeRestore =
  'The upstream has an order with this client_order_id, of before the gateway’s journal was restored: whether it has the same contents is not known. This request was not sent; it had no effect. Look the order up before placing another one.';
const otherRequest =
  'An earlier request with other contents has this Idempotency-Key, and was executed or may have been. This request was not sent; it had no effect.';
const usedByOther: Refusal = {
  code: 'idempotency_conflict',
  detail:
    'The upstream has another order with this client_order_id, of another symbol, side, quantity or price. This request placed nothing.',
};
