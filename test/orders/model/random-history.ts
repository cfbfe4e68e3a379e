/**
 * A random history in virtual time: clients that send again until they know, over up to fifty instances whose clocks
 * differ, which die, whose journal fails, and before an upstream that loses answers and shows orders late.
 */

import { type Answer, refused } from '../../../lib/answer.ts';
import type { Delivery } from '../../../lib/orders/hand-over.ts';
import { JournalUnavailable, type OrderJournal } from '../../../lib/orders/journal.ts';
import { createRandom, VirtualTime } from '../../support/virtual-time.ts';
import type { Subject } from './history.ts';
import { batch, order, placing } from './scenarios.ts';
import { lost, ModelUpstream, notSent, type Oddity, refusedByUpstream } from './upstream.ts';
import { type Asked, changeOf, type Finding, foreigner, Witness } from './witness.ts';

export interface Lived {
  readonly findings: readonly Finding[];
  readonly requests: number;
  readonly placements: number;
  /** From the first word that an outcome is unknown to the truth, for each client that heard it, in milliseconds. */
  readonly settledMs: readonly number[];
}

const second = 1000;
const minute = 60 * second;
const instances = 50;
const clockOffMs = 30 * second;
/** After that all goes well. */
const misfortuneMs = 20 * minute;
/** Of a client: half a minute apart, so that what goes wrong at the last moment is settled. */
const maxAttempts = 120;
/** What a platform gives one request. */
const requestMs = 29 * second;
const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };

/** One run of one request on one instance. */
interface Run {
  readonly asked: Asked;
  readonly clock: () => number;
  calls: number;
  /** The call at which its instance dies, before its effect or after it; none: it lives. */
  readonly diesAt?: number;
  readonly diesAfter: boolean;
}

export async function runRandomHistory(seed: number, subject: Subject): Promise<Lived> {
  const world = new RandomHistory(seed, subject);
  return world.run();
}

class RandomHistory {
  readonly #time = new VirtualTime();
  readonly #startedAt = this.#time.now();
  readonly #random: () => number;
  readonly #upstream = new ModelUpstream();
  readonly #witness = new Witness(this.#upstream);
  readonly #subject: Subject;
  readonly #journal: OrderJournal;
  readonly #keys = new Set<string>();
  readonly #settledMs: number[] = [];
  readonly #visibleAt = new Map<string, number>();
  /** How bad it is in this history, between 0 and 1. */
  readonly #misfortune: number;
  #requests = 0;

  constructor(seed: number, subject: Subject) {
    this.#random = createRandom(seed);
    this.#subject = subject;
    this.#journal = subject.createMemoryOrderJournal();
    this.#misfortune = this.#random();
  }

  async run(): Promise<Lived> {
    const [first, other] = this.#bodies();
    this.#client('first', first!);
    // The same client, after a restart.
    if (this.#happens(0.3)) this.#time.after(this.#random() * 3 * second, () => this.#client('twin', first!));
    if (this.#happens(0.4))
      this.#time.after(this.#random() * 40 * second, () => this.#client('other', other!));
    await this.#time.runUntil(this.#startedAt + maxAttempts * minute);
    // Requests that come again long after find what their clients did not ask for any more.
    this.#client('last', first!);
    this.#client('last other', other!);
    await this.#time.runUntil(this.#time.now() + 20 * minute);
    this.#witness.judge(await this.#entries());
    return {
      findings: this.#witness.findings,
      requests: this.#requests,
      placements: this.#upstream.book.size,
      settledMs: this.#settledMs,
    };
  }

  #bodies(): readonly Pick<Asked, 'operation' | 'body'>[] {
    const [x, y, z] = [order('order-x'), order('order-y'), order('order-z')];
    const isForeign = this.#happens(0.05);
    if (isForeign)
      this.#upstream.execute(placing(order('order-x', { side: 'SELL' })).body, foreigner, this.#time.now());
    const drawn = this.#random();
    if (drawn < 0.6) return [placing(x), placing({ ...x, quantity: '2' })];
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
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const asked = { ...wanted, name: `${name} ${attempt}` };
      const outcome = await this.#ask(asked);
      const code = outcome?.kind === 'refused' ? outcome.refusal.code : undefined;
      if (outcome && code !== 'outcome_unknown' && code !== 'journal_unavailable') {
        if (unknownAt !== undefined) this.#settledMs.push(this.#time.now() - unknownAt);
        return;
      }
      if (attempt === maxAttempts) this.#witness.mustKnow(asked);
      // What was not sent leaves nothing open.
      if (code !== 'journal_unavailable') unknownAt ??= this.#time.now();
      await this.#time.sleep(Math.min(30 * second, second * 2 ** (attempt - 1)) * (0.5 + this.#random()));
    }
  }

  /** Undefined: no answer came. */
  #ask(asked: Asked): Promise<Answer | undefined> {
    this.#requests++;
    const offset = offsetOf(Math.floor(this.#random() * instances));
    const run: Run = {
      asked,
      clock: () => this.#time.now() + offset,
      calls: 0,
      ...(this.#goesWrong(0.15) && { diesAt: 1 + Math.floor(this.#random() * 8) }),
      diesAfter: this.#happens(0.5),
    };
    const handOver = this.#subject.createHandOver({
      journal: this.#journalOf(run),
      names,
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
        .run(change, this.#deliveryOf(run))
        .catch((): Answer => refused({ code: 'outcome_unknown' }))
        .then((outcome) => {
          this.#witness.hears(asked, outcome);
          resolve(outcome);
        });
    });
  }

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

  #journalOf(run: Run): OrderJournal {
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
    return {
      begin: async (entries, now) => {
        for (const { key } of entries) this.#keys.add(key);
        const begun = await stored(() => this.#journal.begin(entries, now));
        if (begun !== 'begun') this.#witness.showsEntries(asked, begun);
        return begun;
      },
      finish: (outcome) =>
        stored(async () => {
          const isWritten = await this.#journal.finish(outcome);
          this.#witness.checkJournal((await this.#entries()).values());
          return isWritten;
        }),
      read: async (keys) => {
        const read = await stored(() => this.#journal.read(keys));
        this.#witness.showsEntries(asked, read.values());
        return read;
      },
      unsettled: this.#journal.unsettled,
    };
  }

  #deliveryOf(run: Run): Delivery {
    return {
      send: (body, sendBy) => this.#through(run, () => this.#send(run, body, sendBy)),
      lookUp: (account, id, endBy) =>
        this.#through(run, async () => {
          await this.#time.sleep(20 + this.#random() * 200);
          const isHidden = this.#time.now() < this.#visibleFrom(id);
          if (run.clock() > endBy || this.#goesWrong(0.1)) return undefined;
          if (isHidden) return 'not_found';
          if (this.#upstream.book.has(id)) this.#witness.showsOrder(run.asked, id);
          return this.#upstream.lookUp(account, id);
        }),
    };
  }

  /** Drawn once for each order: most are visible at once, some after up to a minute. */
  #visibleFrom(id: string): number {
    const { at, by } = this.#upstream.book.get(id) ?? {};
    if (at === undefined || by === foreigner) return 0;
    const known = this.#visibleAt.get(id) ?? at + (this.#goesWrong(0.2) ? this.#random() * minute : 0);
    this.#visibleAt.set(id, known);
    return known;
  }

  async #send({ asked, clock }: Run, body: string, sendBy: number): Promise<Answer> {
    // Waiting for a permit, or frozen.
    await this.#time.sleep(this.#goesWrong(0.05) ? this.#random() * 3 * minute : 1);
    if (clock() > sendBy || this.#goesWrong(0.03)) return notSent;
    const sending = this.#witness.sends(asked, body, this.#time.now());
    const answersIn = (ms: number) => this.#time.sleep(Math.min(ms, Math.max(0, sendBy - clock())));
    if (this.#goesWrong(0.1)) {
      // Lost on its way, or so late that the instance does not wait for it.
      if (this.#happens(0.5))
        this.#time.after(this.#random() * 5 * minute, () => this.#execute(body, asked.name));
      await answersIn(this.#random() * 40 * second);
      return lost;
    }
    await this.#time.sleep(10 + this.#random() * 100);
    const isRefused = this.#goesWrong(0.15);
    const outcome = isRefused ? refusedByUpstream : this.#execute(body, asked.name);
    const slowMs = this.#goesWrong(0.1) ? this.#random() * 40 * second : 20;
    const isLost = this.#goesWrong(0.2) || clock() + slowMs > sendBy;
    await answersIn(slowMs);
    if (isLost) return lost;
    this.#witness.closes(sending, outcome);
    return outcome;
  }

  #execute(body: string, by: string): Answer {
    const drawn = this.#random();
    const oddity: Oddity | undefined =
      drawn < 0.1 ? 'refuses_last' : drawn < 0.15 ? 'silent_of_last' : undefined;
    return this.#upstream.execute(body, by, this.#time.now(), oddity);
  }

  #entries() {
    return this.#journal.read([...this.#keys]);
  }
}

/** Spread evenly from one bound to the other. */
const offsetOf = (instance: number): number =>
  Math.round(((2 * instance) / (instances - 1) - 1) * clockOffMs);

const never = () => new Promise<never>(() => {});
