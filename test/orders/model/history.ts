/**
 * One history of a small model: requests over two instances whose every call of a port is a step that waits until it is
 * chosen, and what can go wrong at that step. The clock stands still but for what is slept.
 */

import { createHash } from 'node:crypto';
import { type Answer, refused } from '../../../lib/answer.ts';
import { clockSkewMs } from '../../../lib/clock-skew.ts';
import type { createHandOver, Delivery } from '../../../lib/orders/hand-over.ts';
import {
  absenceCountsAfterMs,
  type JournalEntry,
  JournalUnavailable,
  type OrderJournal,
} from '../../../lib/orders/journal.ts';
import type { createMemoryOrderJournal } from '../../../lib/orders/memory-journal.ts';
import { readRecord } from '../../../lib/orders/record.ts';
import { lost, ModelUpstream, notSent, type Oddity, ordersOf, refusedByUpstream } from './upstream.ts';
import { type Asked, changeOf, foreigner, type Sending, Witness } from './witness.ts';

/** The code under test: the real one, or one with a fault put in. */
export interface Subject {
  readonly createHandOver: typeof createHandOver;
  readonly createMemoryOrderJournal: typeof createMemoryOrderJournal;
}

export interface ModelRequest extends Asked {
  readonly instance: number;
}

/** How often each may happen in one history. */
export interface Budget {
  /** An instance dies: what it was about to do, it never does. */
  readonly crash: number;
  /** The journal fails, before or after its effect. */
  readonly store: number;
  /** An answer of the upstream is lost, before or after its effect, or a look-up is not possible. */
  readonly net: number;
  /** A look-up does not see an order yet. */
  readonly late: number;
  /** The upstream or the limiter refuses. */
  readonly refusal: number;
  /** Everything stands still for longer than absence needs to count. */
  readonly long: number;
}

export interface Scenario {
  readonly name: string;
  readonly requests: readonly ModelRequest[];
  /** Orders that another app has placed. */
  readonly before?: readonly string[];
  readonly oddities?: readonly Oddity[];
  readonly budget: Budget;
  /** From a request to its deadline. */
  readonly patienceMs: number;
}

type Cost = keyof Budget | undefined;

interface Variant {
  readonly name: string;
  readonly cost?: Cost;
  /** Whether a crash right after it differs from one before it. */
  readonly mayCrash?: boolean;
  /** Its effect, and what the process is answered. */
  readonly run: () => unknown;
}

interface Step {
  readonly process: Process;
  readonly label: string;
  readonly wakeAt?: number;
  readonly variants: () => readonly Variant[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

interface Flight {
  readonly sending: Sending;
  readonly body: string;
}

interface Process {
  readonly asked: ModelRequest;
  isDead: boolean;
  isDone: boolean;
  /** A digest of all that it was answered, and when. */
  seen: string;
}

export interface Option {
  readonly name: string;
  readonly take: () => Promise<void>;
}

const startAt = Date.UTC(2026, 10, 20, 15);
const longMs = absenceCountsAfterMs + clockSkewMs + 60_000;
const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export class History {
  readonly upstream = new ModelUpstream();
  readonly witness = new Witness(this.upstream);
  #now = startAt;
  readonly #scenario: Scenario;
  readonly #subject: Subject;
  readonly #journal: OrderJournal;
  readonly #left: Record<keyof Budget, number>;
  readonly #steps: Step[] = [];
  readonly #processes: Process[] = [];
  /** Sent, not arrived: the instance has given up on it. */
  #flights: readonly Flight[] = [];
  /** Came or woke up just now: what it does first is one step with that. */
  #awake: Process | undefined;
  readonly #attempts = new Map<string, string>();
  readonly #keys = new Set<string>();

  constructor(scenario: Scenario, subject: Subject) {
    this.#scenario = scenario;
    this.#subject = subject;
    this.#journal = subject.createMemoryOrderJournal();
    this.#left = { ...scenario.budget };
    for (const body of scenario.before ?? []) this.upstream.execute(body, foreigner, startAt);
    for (const asked of scenario.requests) this.#await(asked);
  }

  /** All that can happen next; none at the end. */
  options(): readonly Option[] {
    const goesOn = this.#steps.filter(
      ({ process, wakeAt }) => process === this.#awake && wakeAt === undefined,
    );
    if (goesOn.length > 0) return goesOn.flatMap((step) => this.#optionsOf(step));
    const options = this.#enabled().flatMap((step) => this.#optionsOf(step));
    const arrivals = this.#flights.map((flight) => ({
      name: `${flight.sending.by}'s request arrives`,
      take: async () => this.#arrive(flight),
    }));
    if (options.length === 0) {
      const never = { name: 'nothing arrives any more', take: async () => this.#loseFlights() };
      return arrivals.length > 0 ? [...arrivals, never] : [];
    }
    const stands = this.#left.long > 0 && this.#flights.length === 0;
    const long = { name: 'a long time passes', take: async () => this.#pass('long') };
    return [...options, ...arrivals, ...(stands ? [long] : [])];
  }

  /** The first step of each request: what one does at once, it does in one order. Timers end in their order. */
  #enabled(): readonly Step[] {
    const timers = this.#steps.flatMap(({ wakeAt }) => wakeAt ?? []);
    const nextTimer = Math.min(...timers);
    const first = new Map<Process, Step>();
    for (const step of this.#steps)
      if ((step.wakeAt === undefined || step.wakeAt === nextTimer) && !first.has(step.process))
        first.set(step.process, step);
    return [...first.values()];
  }

  #optionsOf(step: Step): readonly Option[] {
    return step.variants().flatMap((variant) => {
      const { name, cost, mayCrash = false } = variant;
      if (cost && this.#left[cost] === 0) return [];
      const label = `${step.process.asked.name}: ${step.label} ${name}`;
      const take = { name: label, take: () => this.#take(step, variant, false) };
      if (!mayCrash || this.#left.crash === 0) return [take];
      return [take, { name: `${label}, crash`, take: () => this.#take(step, variant, true) }];
    });
  }

  async #take(step: Step, { name, cost, run }: Variant, crashes: boolean): Promise<void> {
    if (cost) this.#left[cost]--;
    this.#steps.splice(this.#steps.indexOf(step), 1);
    if (step.wakeAt !== undefined) this.#now = Math.max(this.#now, step.wakeAt);
    this.#awake = step.wakeAt !== undefined || step.label === 'start' ? step.process : undefined;
    let said = name;
    try {
      const value = await run();
      said += this.#short(value);
      if (crashes) this.#crash(step.process.asked.instance);
      else step.resolve(value);
    } catch (cause) {
      step.reject(cause);
    }
    const { process } = step;
    process.seen += `|${step.label}|${said}|${this.#now}`;
    await turn();
    // Only that changes what is known to be final.
    if (step.label.startsWith('finish')) this.witness.checkJournal((await this.#entries()).values());
  }

  #pass(cost: 'long'): void {
    this.#left[cost]--;
    this.#now += longMs;
  }

  #loseFlights(): void {
    this.#flights = [];
  }

  #arrive(flight: Flight): void {
    this.#flights = this.#flights.filter((one) => one !== flight);
    this.upstream.execute(flight.body, flight.sending.by, this.#now);
  }

  #crash(instance: number): void {
    this.#left.crash--;
    for (const process of this.#processes) if (process.asked.instance === instance) process.isDead = true;
    for (const step of [...this.#steps])
      if (step.process.isDead) this.#steps.splice(this.#steps.indexOf(step), 1);
  }

  /** A request that has not come yet. */
  #await(asked: ModelRequest): void {
    const process = { asked, isDead: false, isDone: false, seen: '' };
    const start: Step = {
      process,
      label: 'start',
      variants: () => [{ name: '', run: () => this.#start(process) }],
      resolve: () => {},
      reject: () => {},
    };
    this.#steps.push(start);
  }

  #start(process: Process): void {
    this.#processes.push(process);
    const { asked } = process;
    const handOver = this.#subject.createHandOver({
      journal: this.#journalOf(process),
      names,
      clock: () => this.#now,
      sleep: (ms) =>
        this.#call(process, `sleep ${ms}`, () => [{ name: '', run: () => undefined }], this.#now + ms),
    });
    const change = changeOf(asked, this.#now + this.#scenario.patienceMs);
    const answered = (outcome: Answer) => {
      process.isDone = true;
      if (!process.isDead) this.witness.hears(asked, outcome);
    };
    // What is thrown is answered as an error of the gateway, which says nothing of the order.
    handOver
      .run(change, this.#deliveryOf(process))
      .then(answered, () => answered(refused({ code: 'outcome_unknown' })));
  }

  #call<T>(process: Process, label: string, variants: Step['variants'], wakeAt?: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const step = { process, label, variants, resolve: resolve as Step['resolve'], reject };
      this.#steps.push(wakeAt === undefined ? step : { ...step, wakeAt });
    });
  }

  #journalOf(process: Process): OrderJournal {
    const { asked } = process;
    const stored = <T>(label: string, run: () => Promise<T>, changes = true): Promise<T> =>
      this.#call(process, label, () => [
        { name: 'ok', mayCrash: changes, run },
        { name: 'fails', cost: 'store', run: away },
        ...(changes
          ? [{ name: 'loses its answer', cost: 'store' as const, run: () => run().then(away) }]
          : []),
      ]);
    return {
      begin: async (entries, now) => {
        for (const { key, attempt } of entries) {
          this.#keys.add(key);
          this.#attempts.set(attempt, asked.name);
        }
        const begun = await stored('begin', () => this.#journal.begin(entries, now));
        if (begun !== 'begun') this.witness.showsEntries(asked, begun);
        return begun;
      },
      finish: (outcome) =>
        stored(`finish ${outcome.key} ${outcome.state}`, () => this.#journal.finish(outcome)),
      read: async (keys) => {
        const read = await stored('read', () => this.#journal.read(keys), false);
        this.witness.showsEntries(asked, read.values());
        return read;
      },
      unsettled: this.#journal.unsettled,
    };
  }

  #deliveryOf(process: Process): Delivery {
    const { asked } = process;
    return {
      send: (body, sendBy) => this.#call(process, 'send', () => this.#sendVariants(asked, body, sendBy)),
      lookUp: (account, id) =>
        this.#call(process, `look up ${id}`, () => {
          const placing = this.upstream.book.get(id);
          return [
            {
              name: 'ok',
              run: () => {
                if (placing) this.witness.showsOrder(asked, id);
                return this.upstream.lookUp(account, id);
              },
            },
            ...(placing && this.#now - placing.at < clockSkewMs
              ? [{ name: 'sees nothing yet', cost: 'late' as const, run: () => 'not_found' }]
              : []),
            { name: 'is not possible', cost: 'net', run: () => undefined },
          ];
        }),
    };
  }

  #sendVariants(asked: ModelRequest, body: string, sendBy: number): readonly Variant[] {
    // As the gateway does.
    if (this.#now > sendBy) return [{ name: 'is too late', run: () => notSent }];
    const sends = (run: (sending: Sending) => Answer) => () =>
      run(this.witness.sends(asked, body, this.#now));
    const executes = (oddity?: Oddity) =>
      sends((sending) => {
        const outcome = this.upstream.execute(body, asked.name, this.#now, oddity);
        this.witness.closes(sending, outcome);
        return outcome;
      });
    const loses = () => {
      executes()();
      return lost;
    };
    const refuses = sends((sending) => {
      this.witness.closes(sending, refusedByUpstream);
      return refusedByUpstream;
    });
    const flies = sends((sending) => {
      this.#flights = [...this.#flights, { sending, body }];
      return lost;
    });
    const odd = ordersOf(body).length > 1 ? (this.#scenario.oddities ?? []) : [];
    return [
      { name: 'is answered', mayCrash: true, run: executes() },
      ...odd.map((oddity) => ({
        name: oddity,
        cost: 'refusal' as const,
        mayCrash: true,
        run: executes(oddity),
      })),
      { name: 'is refused', cost: 'refusal', mayCrash: true, run: refuses },
      { name: 'is not sent', cost: 'refusal', run: () => notSent },
      { name: 'loses its answer', cost: 'net', run: loses },
      { name: 'is lost', cost: 'net', run: sends(() => lost) },
      { name: 'is under way for long', cost: 'net', mayCrash: true, run: flies },
    ];
  }

  #entries(): Promise<ReadonlyMap<string, JournalEntry>> {
    return this.#journal.read([...this.#keys]);
  }

  /** Equal states have equal futures. */
  async state(): Promise<string> {
    const entries = await this.#entries();
    this.witness.checkJournal(entries.values());
    const waiting = this.#steps.map(({ process, label, wakeAt }) => [
      process.asked.name,
      process.seen,
      label,
      wakeAt,
    ]);
    const flights = this.#flights.map(({ sending }) => sending.by);
    const { book } = this.upstream;
    const { state } = this.witness;
    return digest(
      JSON.stringify([this.#now, this.#short(entries), [...book], waiting, flights, this.#left, state]),
    );
  }

  /** What a later step can depend on. */
  #short(value: unknown): string {
    if (value instanceof Map) return this.#short([...value.values()]);
    if (Array.isArray(value)) return value.map((entry: JournalEntry) => this.#shortEntry(entry)).join();
    if (value && typeof value === 'object' && 'body' in value)
      return new TextDecoder().decode(value.body as Uint8Array);
    return JSON.stringify(value) ?? '';
  }

  #shortEntry({ key, attempt, state, sendBy, record }: JournalEntry): string {
    const answer = readRecord(record).outcome?.answer ?? '';
    return `${key} ${this.#attempts.get(attempt)} ${state} ${sendBy} ${answer}`;
  }

  /** Clients ask again until they know; then all is judged. */
  async end(): Promise<void> {
    this.#flights = [];
    for (const key of Object.keys(this.#left) as (keyof Budget)[]) this.#left[key] = 0;
    const bodies = [...new Map(this.#scenario.requests.map((asked) => [asked.body, asked])).values()];
    for (const [round, waitMs] of [1000, longMs, 1000].entries()) {
      this.#now += waitMs;
      for (const asked of bodies) {
        const again = { ...asked, name: `${asked.name} again ${round}`, instance: 9 };
        this.#await(again);
        for (let [first] = this.options(); first; [first] = this.options()) await first.take();
        if (round === 2) this.witness.mustKnow(again);
      }
    }
    this.witness.judge(await this.#entries());
  }
}

const away = () => Promise.reject(new JournalUnavailable());
const digest = (text: string) => createHash('sha1').update(text).digest('base64');
