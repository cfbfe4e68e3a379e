/**
 * A random history in virtual time: clients that send again until they know, over up to fifty instances whose clocks
 * differ and step, which die, whose journal fails, and before an upstream that loses answers and shows orders late. Another
 * app key has its turn, orders are counted, and the settlement runs each minute over reads that fail, lag or are wrong.
 */

import { createHash } from 'node:crypto';
import { type Answer, refused } from '../../../lib/answer.ts';
import type { OrderDelivery } from '../../../lib/orders/hand-over.ts';
import { type CountingJournal, type JournalEntry, JournalUnavailable } from '../../../lib/orders/journal.ts';
import type { ReadOrder } from '../../../lib/orders/order-reads.ts';
import type { SettlementOptions } from '../../../lib/orders/settle.ts';
import { createRandom } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import type { Subject } from './history.ts';
import { batch, order, placing } from './scenarios.ts';
import { type RestoreSubject, Tables } from './tables.ts';
import { answerOfAnother, lost, ModelUpstream, notSent, type Oddity, refusedByUpstream } from './upstream.ts';
import {
  type Asked,
  changeOf,
  counterKey,
  type Finding,
  foreigner,
  Witness,
  witnessOrder,
} from './witness.ts';

export interface Lived {
  readonly findings: readonly Finding[];
  readonly requests: number;
  readonly placements: number;
  /** From the first word that an outcome is unknown to the truth, for each client that heard it, in milliseconds. */
  readonly settledMs: readonly number[];
  /** How often the journal was restored. */
  readonly restores: number;
}

const second = 1000;
const minute = 60 * second;
const instances = 50;
const clockOffMs = 30 * second;
/** After that all goes well. */
const misfortuneMs = 20 * minute;
/** From the beginning to the first order, where the journal is restored. */
const settledMs = 9 * minute;
/** Of a client: half a minute apart, so that what goes wrong at the last moment is settled. */
const maxAttempts = 120;
/** What a platform gives one request. */
const requestMs = 29 * second;
/** From a request's leaving to its order's being there and shown, at most. */
const lateMs = 9 * minute;
/** An order that shows later than any bound does so after this time, and a day at most, of a stage without events. */
const muchLaterMs = 24 * 60 * minute;
/** Where a look-up may be wrong of one order alone, too: both that count are of later. */
const lessLateMs = 3 * minute;

const known = new Map<string, string>();
/** Spread as keyed names are, so that a list begins elsewhere in each run. */
const nameOf = (text: string): string => {
  const name = known.get(text) ?? createHash('sha256').update(text).digest('base64url').slice(0, 22);
  known.set(text, name);
  return name;
};
const names = { nameOf: async (...texts: readonly string[]) => nameOf(texts.join('|')) };

/** Far above what these orders come to: that limits hold has worlds of its own. */
const limit = '1000000';

/** What a run of the settlement is shown: of every order nothing, or of the gateway's own. */
type Sight = 'right' | 'nothing' | 'nothing of ours';

/** One run of one request, or of the settlement, on one instance. */
interface Run {
  /** None of a run of the settlement. */
  readonly asked?: Asked;
  readonly clock: () => number;
  calls: number;
  /** The call at which its instance dies, before its effect or after it; none: it lives. */
  readonly diesAt?: number;
  readonly diesAfter: boolean;
}

/** @param restores with it the journal is restored now and then */
export async function runRandomHistory(
  seed: number,
  subject: Subject,
  restores?: RestoreSubject,
): Promise<Lived> {
  const world = new RandomHistory(seed, subject, restores);
  return world.run();
}

class RandomHistory {
  readonly #time = new VirtualTime();
  readonly #startedAt = this.#time.now();
  readonly #random: () => number;
  readonly #upstream = new ModelUpstream();
  readonly #witness = new Witness(this.#upstream);
  readonly #subject: Subject;
  readonly #tables: Tables;
  readonly #restores: RestoreSubject | undefined;
  readonly #keys = new Set<string>();
  readonly #settledMs: number[] = [];
  readonly #visibleAt = new Map<string, number>();
  /** How bad it is in this history, between 0 and 1. */
  readonly #misfortune: number;
  /** Of one run, a look-up is wrong where it shows that others are right. */
  #mayBeWrongOfOurs: boolean;
  readonly #lateMs: number;
  readonly #isCounted: boolean;
  /** In milliseconds since the epoch; undefined where every order shows within the bounds. */
  readonly #showsAt: number | undefined;
  #isOver = false;
  #waited = 0;
  #requests = 0;

  constructor(seed: number, subject: Subject, restores: RestoreSubject | undefined) {
    this.#random = createRandom(seed);
    this.#subject = subject;
    this.#restores = restores;
    this.#tables = new Tables(this.#time, createRandom(seed + 1), {
      create: subject.createMemoryOrderJournal,
      subject: restores,
    });
    this.#misfortune = this.#random();
    this.#isCounted = this.#happens(0.7);
    if (this.#isCounted) this.#tables.limit(limit);
    this.#mayBeWrongOfOurs = this.#happens(0.5);
    this.#lateMs = this.#mayBeWrongOfOurs ? lessLateMs : lateMs;
    if (restores || !this.#happens(0.03)) return;
    this.#showsAt = this.#startedAt + muchLaterMs * (1 + this.#random());
    this.#witness.mayDeny();
  }

  async run(): Promise<Lived> {
    this.#placeElsewhere(order(witnessOrder));
    if (this.#happens(0.2)) await this.#crowd();
    const [first, other] = this.#bodies();
    this.#settleEachMinute();
    if (this.#restores) {
      // So that there is a moment before these orders to restore to.
      await new Promise(setImmediate);
      await this.#time.runUntil(this.#startedAt + settledMs);
      this.#restoreSometimes(first!, other!);
    }
    this.#client('first', first!);
    // The same client, after a restart.
    if (this.#happens(0.3)) this.#time.after(this.#random() * 3 * second, () => this.#client('twin', first!));
    if (this.#showsAt === undefined && this.#happens(0.4))
      this.#time.after(this.#random() * 40 * second, () => this.#client('other', other!));
    await this.#time.runUntil(this.#startedAt + maxAttempts * minute);
    if (this.#showsAt !== undefined) {
      await this.#time.runUntil(this.#showsAt + 65 * minute);
      this.#witness.deniesNothing();
    }
    // Requests that come again long after find what their clients did not ask for any more.
    this.#client('last', first!);
    this.#client('last other', other!);
    await this.#time.runUntil(this.#time.now() + 20 * minute);
    this.#witness.judge(await this.#entries());
    for (const id of this.#upstream.open) this.#upstream.fill(id);
    await this.#time.runUntil(this.#time.now() + 20 * minute);
    this.#witness.checkUncounted(await this.#checkCounter());
    this.#isOver = true;
    return {
      findings: this.#witness.findings,
      requests: this.#requests,
      placements: this.#upstream.book.size,
      settledMs: this.#settledMs,
      restores: this.#tables.restores,
    };
  }

  get #journal() {
    return this.#tables.journal;
  }

  /** Up to twice, while all else goes wrong, too: soon after an order, for the most part, and then it comes again. */
  async #restoreSometimes(...bodies: readonly Pick<Asked, 'operation' | 'body'>[]): Promise<void> {
    for (let left = this.#happens(0.3) ? 2 : 1; left > 0; left--) {
      await this.#time.sleep(this.#random() ** 3 * 10 * minute);
      if (!this.#tables.restore()) continue;
      // What it had as accepted it may have had later.
      this.#witness.forgetsAccepted();
      for (const [index, body] of bodies.entries())
        this.#time.after(this.#random() ** 2 * 20 * minute, () =>
          this.#client(`again ${left} ${index}`, body),
        );
    }
  }

  #placeElsewhere(one: ReturnType<typeof order>): void {
    this.#upstream.execute(placing(one).body, foreigner, this.#time.now() - 60 * minute);
  }

  /** Replacements of a bot whose answers were lost, which no evidence decides. */
  async #crowd(): Promise<void> {
    for (let index = 0; index < 8; index++) await this.#journal.begin([undecided(index, this.#startedAt)], 0);
  }

  /** Where nothing is unknown, only what has ended is to be found: each fifth run is enough. */
  async #settleEachMinute(): Promise<void> {
    for (let run = 0; !this.#isOver; await this.#time.sleep(this.#isQuiet ? 60 * minute : minute)) {
      await this.#checkCounter();
      if (this.#restores) {
        this.#tables.keep();
        if (!this.#goesWrong(0.1)) await this.#reconcile();
        continue;
      }
      const [unknown] = await this.#journal.unsettled('placements', '', 1);
      const [counted] = await this.#journal.exposed('', 1);
      const [unseen] = this.#showsAt === undefined ? [] : await this.#journal.unsettled('unseen', '', 1);
      if (this.#goesWrong(0.1) || !(unknown || unseen || (counted && run++ % 5 === 0))) continue;
      // The schedule starts one run in each minute of its own clock.
      const clock = this.#showsAt === undefined ? this.#clockOf() : () => this.#time.now();
      void this.#settlement(clock)
        .run(clock() + 40 * second)
        .catch(() => {});
    }
  }

  /** While nothing shows for hours, hardly a run is of interest. */
  get #isQuiet(): boolean {
    const now = this.#time.now();
    return (
      this.#showsAt !== undefined && now > this.#startedAt + 150 * minute && now < this.#showsAt - 60 * minute
    );
  }

  /** An operator who is waited for has what is open cancelled, and takes the journal as it is where that does not help. */
  async #reconcile(): Promise<void> {
    const clock = this.#clockOf();
    const waits = async () => {
      const report = await this.#settlement(clock).run(clock() + 40 * second);
      this.#waited = report.reconciled?.waitsFor === 'operator' ? this.#waited + 1 : 0;
      if (this.#waited > 10) for (const id of this.#upstream.open) this.#upstream.fill(id);
      if (this.#waited > 30) await this.#tables.confirm();
    };
    void waits().catch(() => {});
  }

  #settlement(clock: () => number) {
    const run = { clock, calls: 0, diesAfter: this.#happens(0.5), ...this.#death() };
    const orders = this.#readsOf(this.#sightOfRun());
    const options: SettlementOptions = {
      journal: this.#journalOf(run),
      orders,
      names,
      clock,
      sleep: (ms) => this.#time.sleep(ms),
    };
    const all = { ...orders, accounts: async () => ['account'] };
    return this.#subject.createSettlement(this.#restores ? this.#tables.reconciling(options, all) : options);
  }

  #sightOfRun(): Sight {
    if (this.#goesWrong(0.15)) return 'nothing';
    if (!this.#mayBeWrongOfOurs || !this.#happens(0.1)) return 'right';
    this.#mayBeWrongOfOurs = false;
    return 'nothing of ours';
  }

  #readsOf(sight: Sight): SettlementOptions['orders'] {
    const isShown = (id: string) =>
      id === witnessOrder
        ? sight !== 'nothing'
        : sight === 'right' && this.#time.now() >= this.#visibleFrom(id);
    const list = async (account: string, ids: Iterable<string>): Promise<readonly ReadOrder[]> => {
      await this.#time.sleep(20);
      if (this.#goesWrong(0.1)) throw new Error('no answer');
      return this.#upstream.list(account, [...ids].filter(isShown));
    };
    return {
      openOrders: (account) => list(account, this.#upstream.open),
      ordersSince: (account) => list(account, this.#upstream.book.keys()),
      order: async (account, id) =>
        (await list(account, this.#upstream.book.has(id) ? [id] : []))[0] ?? 'not_found',
    };
  }

  /** An event comes when something has become of an order. */
  async #tellOf(id: string): Promise<void> {
    await this.#time.sleep(this.#random() * 5 * second);
    if (this.#goesWrong(0.3)) return;
    const [seen] = this.#upstream.list('account', [id]);
    await this.#settlement(this.#clockOf())
      .saw(seen!)
      .catch(() => {});
  }

  async #checkCounter() {
    const [counter] = await this.#journal.counters([counterKey]);
    if (this.#isCounted && !this.#tables.isClosed)
      this.#witness.checkCounter(counter, await this.#journal.exposed('', 100));
    return counter;
  }

  #bodies(): readonly Pick<Asked, 'operation' | 'body'>[] {
    const [x, y, z] = [order('order-x'), order('order-y'), order('order-z')];
    if (this.#happens(0.1))
      this.#placeElsewhere(order('order-x', this.#happens(0.5) ? { side: 'SELL' } : { quantity: '3' }));
    const drawn = this.#random();
    if (drawn < 0.6)
      return [placing(x), placing({ ...x, ...(drawn < 0.3 ? { quantity: '2' } : { time_in_force: 'GTC' }) })];
    if (drawn < 0.85) return [batch(x, y), this.#happens(0.5) ? batch(y, z) : batch({ ...x, quantity: '2' })];
    const parts = [
      { ...x, combo_type: 'MASTER' },
      { ...y, combo_type: 'STOP_LOSS' },
    ];
    return [placing(...parts), placing(y)];
  }

  #happens = (share: number): boolean => this.#random() < share;
  #goesWrong = (share: number): boolean =>
    this.#random() < 2 * share * this.#misfortune && this.#time.now() < this.#startedAt + misfortuneMs;

  /** Sends again, each time over another instance, until it knows. */
  async #client(name: string, wanted: Pick<Asked, 'operation' | 'body'>): Promise<void> {
    let unknownAt: number | undefined;
    // An entry of a later attempt says nothing of an earlier one: the client waits that long before it asks again.
    const attempts = this.#showsAt === undefined || this.#time.now() > this.#showsAt ? maxAttempts : 8;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const credential = this.#happens(0.5) ? 'one' : 'two';
      const asked = { ...wanted, credential, name: `${name} ${attempt}` };
      const outcome = await this.#ask(asked);
      const code = outcome?.kind === 'refused' ? outcome.refusal.code : undefined;
      // Some place again at once what was refused.
      const isAgain = code === 'upstream_rejected' && this.#happens(0.3);
      if (outcome && !isToldLater(code) && !isAgain) {
        if (unknownAt !== undefined) this.#settledMs.push(this.#time.now() - unknownAt);
        return;
      }
      if (attempt === maxAttempts) this.#witness.mustKnow(asked);
      // What was not sent leaves nothing open.
      if (code === 'outcome_unknown' || !outcome) unknownAt ??= this.#time.now();
      await this.#time.sleep(Math.min(30 * second, second * 2 ** (attempt - 1)) * (0.5 + this.#random()));
    }
  }

  /** Undefined: no answer came. */
  #ask(asked: Asked): Promise<Answer | undefined> {
    this.#requests++;
    const run: Run = {
      asked,
      clock: this.#clockOf(),
      calls: 0,
      ...this.#death(),
      diesAfter: this.#happens(0.5),
    };
    const journal = this.#journalOf(run);
    const handOver = this.#subject.createHandOver({
      journal,
      names,
      ...((this.#isCounted || this.#restores) && { guard: { controls: this.#tables.controls(), journal } }),
      clock: run.clock,
      sleep: (ms) => this.#time.sleep(ms),
    });
    const change = changeOf(
      asked,
      this.#happens(0.03) ? Number.POSITIVE_INFINITY : run.clock() + this.#patienceMs(),
    );
    return new Promise((resolve) => {
      this.#time.after(requestMs + 3 * second, () => resolve(undefined));
      handOver
        .run(change, this.#deliveryOf(run, asked))
        .catch((): Answer => refused({ code: 'outcome_unknown' }))
        .then((outcome) => {
          this.#witness.hears(asked, outcome);
          resolve(outcome);
        });
    });
  }

  /** Of an instance; some are put right, or wrong, while it works. */
  #clockOf(): () => number {
    const [ahead, later] = [this.#offset(), this.#offset()];
    const stepsAt = this.#time.now() + (this.#happens(0.2) ? this.#random() * 20 * second : 60 * minute);
    return () => this.#time.now() + (this.#time.now() < stepsAt ? ahead : later);
  }

  #offset = (): number => offsetOf(Math.floor(this.#random() * instances));
  #death = (): Pick<Run, 'diesAt'> =>
    this.#goesWrong(0.15) ? { diesAt: 1 + Math.floor(this.#random() * 8) } : {};

  /** Some requests come with hardly any time left. */
  #patienceMs = (): number => (this.#happens(0.1) ? this.#random() * 3 * second : requestMs);

  /** No call comes back to the dead. */
  async #through<T>(run: Run, effect: () => Promise<T>): Promise<T> {
    const isLast = run.diesAt === ++run.calls;
    if (isLast && !run.diesAfter) return never();
    try {
      return await effect();
    } finally {
      if (isLast) await never();
    }
  }

  #journalOf(run: Run): CountingJournal {
    const { asked } = run;
    const stored = <T>(effect: () => Promise<T>): Promise<T> =>
      this.#through(run, async () => {
        await this.#time.sleep(this.#goesWrong(0.05) ? this.#random() * 8 * second : 2 + this.#random() * 30);
        if (this.#goesWrong(0.06)) throw new JournalUnavailable();
        const result = await effect();
        await this.#time.sleep(2);
        if (this.#goesWrong(0.06)) throw new JournalUnavailable();
        return result;
      });
    // What a release reads is another request's: what is answered was decided before.
    let isReleasing = false;
    const begins = async <T>(entries: readonly JournalEntry[], effect: () => Promise<T>): Promise<T> => {
      isReleasing = false;
      for (const { key } of entries) this.#keys.add(key);
      const begun = await stored(effect);
      if (asked && Array.isArray(begun)) this.#witness.showsEntries(asked, begun as readonly JournalEntry[]);
      return begun;
    };
    const journal = this.#journal;
    return {
      begin: (entries, now) => begins(entries, () => journal.begin(entries, now)),
      beginCounted: (entries, now, changes) =>
        begins(entries, () => journal.beginCounted(entries, now, changes)),
      finish: (outcome) =>
        stored(async () => {
          const isWritten = await journal.finish(outcome);
          this.#witness.checkJournal((await this.#entries()).values());
          return isWritten;
        }),
      read: async (keys) => {
        const read = await stored(() => journal.read(keys));
        if (asked && !isReleasing) this.#witness.showsEntries(asked, read.values());
        return read;
      },
      change: (changes) => {
        isReleasing = true;
        return stored(async () => {
          const changed = await journal.change(changes);
          await this.#checkCounter();
          return changed;
        });
      },
      counters: (keys) => stored(() => journal.counters(keys)),
      unsettled: (...call) => stored(() => journal.unsettled(...call)),
      exposed: (...call) => stored(() => journal.exposed(...call)),
    };
  }

  #deliveryOf(run: Run, asked: Asked): OrderDelivery {
    return {
      send: (body, sendBy) => this.#through(run, () => this.#send(run, asked, body, sendBy)),
      lookUp: (account, id, endBy) =>
        this.#through(run, async () => {
          await this.#time.sleep(20 + this.#random() * 200);
          const isHidden = this.#time.now() < this.#visibleFrom(id);
          if (run.clock() > endBy || this.#goesWrong(0.1)) return undefined;
          if (isHidden) return 'not_found';
          if (this.#upstream.book.has(id)) this.#witness.showsOrder(asked, id);
          return this.#upstream.lookUp(account, id);
        }),
    };
  }

  /** As drawn for the history; or once for each order: most are visible at once, some after up to a minute. */
  #visibleFrom(id: string): number {
    const { at, by } = this.#upstream.book.get(id) ?? {};
    if (at === undefined || by === foreigner) return 0;
    if (this.#showsAt !== undefined) return this.#showsAt;
    const known = this.#visibleAt.get(id) ?? at + (this.#goesWrong(0.2) ? this.#random() * minute : 0);
    this.#visibleAt.set(id, known);
    return known;
  }

  async #send({ clock }: Run, asked: Asked, body: string, sendBy: number): Promise<Answer> {
    // Waiting for a permit, or frozen.
    await this.#time.sleep(this.#goesWrong(0.05) ? this.#random() * 3 * minute : 1);
    if (clock() > sendBy || this.#goesWrong(0.03)) return notSent;
    const sending = this.#witness.sends(asked, body, this.#time.now());
    const answersIn = (ms: number) => this.#time.sleep(Math.min(ms, Math.max(0, sendBy - clock())));
    if (this.#goesWrong(0.1)) {
      // Lost on its way, or so late that the instance does not wait for it.
      if (this.#happens(0.5))
        this.#time.after(this.#random() * (this.#lateMs - minute), () => this.#execute(body, asked.name));
      await answersIn(this.#random() * 40 * second);
      return lost;
    }
    await this.#time.sleep(10 + this.#random() * 100);
    const isRefused = this.#goesWrong(0.15);
    const isOfAnother = !isRefused && this.#goesWrong(0.05);
    const isTaken = !isRefused && (!isOfAnother || this.#happens(0.5));
    const outcome = isTaken ? this.#execute(body, asked.name) : refusedByUpstream;
    const slowMs = this.#goesWrong(0.1) ? this.#random() * 40 * second : 20;
    const isLost = this.#goesWrong(0.2) || clock() + slowMs > sendBy;
    await answersIn(slowMs);
    if (isLost) return lost;
    if (isOfAnother && !(isTaken && outcome.kind === 'refused')) return answerOfAnother(body, this.#random());
    this.#witness.closes(sending, outcome);
    return outcome;
  }

  #execute(body: string, by: string): Answer {
    const drawn = this.#random();
    const oddity: Oddity | undefined =
      drawn < 0.1 ? 'refuses_last' : drawn < 0.15 ? 'silent_of_last' : undefined;
    const answer = this.#upstream.execute(body, by, this.#time.now(), oddity);
    for (const [id, placing] of this.#upstream.book) if (placing.by === by) this.#goOn(id);
    return answer;
  }

  /** An order is told of, and most are filled at some time. */
  #goOn(id: string): void {
    if (this.#showsAt !== undefined) return;
    void this.#tellOf(id);
    if (!this.#happens(0.6)) return;
    this.#time.after(this.#random() * 90 * minute, () => {
      this.#upstream.fill(id);
      void this.#tellOf(id);
    });
  }

  #entries() {
    return this.#journal.read([...this.#keys]);
  }
}

/** Spread evenly from one bound to the other. */
const offsetOf = (instance: number): number =>
  Math.round(((2 * instance) / (instances - 1) - 1) * clockOffMs);

const undecided = (index: number, at: number): JournalEntry => ({
  key: nameOf(`undecided ${index}`),
  attempt: 'of a bot',
  hash: '',
  state: 'unknown',
  credential: 'one',
  at,
  sendBy: at,
  listedAs: 'changes',
  record: JSON.stringify({
    operation: 'replaceOrder',
    kind: 'replacement',
    account_id: 'account',
    client_order_id: witnessOrder,
    asked: '{}',
    request_id: 'of a bot',
    begun_at: new Date(at).toISOString(),
  }),
});

const isToldLater = (code: string | undefined): boolean =>
  code === 'outcome_unknown' || code === 'journal_unavailable' || code === 'orders_closed';

const never = () => new Promise<never>(() => {});
