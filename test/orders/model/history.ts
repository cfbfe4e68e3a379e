/**
 * One history of a small model: requests over two instances whose every call of a port is a step that waits until it is
 * chosen, and what can go wrong at that step. The clock stands still but for what is slept.
 */

import { createHash } from 'node:crypto';
import { type Answer, refused } from '../../../lib/answer.ts';
import type { StoredCounter } from '../../../lib/guard-rails/counter.ts';
import { createMemoryControls } from '../../../lib/guard-rails/index.ts';
import { clockSkewMs } from '../../../lib/kernel/clock-skew.ts';
import type { createHandOver, Delivery } from '../../../lib/orders/hand-over.ts';
import {
  absenceCountsAfterMs,
  type CountingJournal,
  type JournalEntry,
  JournalUnavailable,
} from '../../../lib/orders/journal.ts';
import type { createMemoryOrderJournal } from '../../../lib/orders/memory-journal.ts';
import type { OrderReads, ReadOrder } from '../../../lib/orders/order-reads.ts';
import { readRecord } from '../../../lib/orders/record.ts';
import type { createSettlement, SettlementOptions } from '../../../lib/orders/settle.ts';
import { lost, ModelUpstream, notSent, type Oddity, ordersOf, refusedByUpstream } from './upstream.ts';
import {
  type Asked,
  changeOf,
  counterKey,
  foreigner,
  type Sending,
  Witness,
  witnessOrder,
} from './witness.ts';

/** The code under test: the real one, or one with a fault put in. */
export interface Subject {
  readonly createHandOver: typeof createHandOver;
  readonly createMemoryOrderJournal: typeof createMemoryOrderJournal;
  readonly createSettlement: typeof createSettlement;
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
  /** All reads of one run of the settlement find nothing. */
  readonly wrong: number;
  /** The clock of an instance is put right, or wrong. */
  readonly step: number;
}

export interface Scenario {
  readonly name: string;
  readonly requests: readonly ModelRequest[];
  /** Orders that another app placed an hour ago. */
  readonly before?: readonly string[];
  /** The limit of open notional; none: nothing is counted. */
  readonly limit?: string;
  /** What runs beside the requests, each once: the settlement, or what an event of an order has it do. */
  readonly beside?: readonly ('settlement' | 'event')[];
  /** By instance, how far its clock is ahead, in milliseconds. */
  readonly clocks?: readonly number[];
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
  readonly name: string;
  readonly instance: number;
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
/** From one look of the settlement to the next, and how long it has. */
const apartMs = 6 * 60_000;
const runMs = 40_000;
const hourMs = 60 * 60_000;
const ofAnotherApp = JSON.stringify({
  account_id: 'account',
  new_orders: [
    { client_order_id: witnessOrder, symbol: 'MSFT', side: 'BUY', quantity: '1', limit_price: '1' },
  ],
});
const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export class History {
  readonly upstream = new ModelUpstream();
  readonly witness = new Witness(this.upstream);
  #now = startAt;
  readonly #scenario: Scenario;
  readonly #subject: Subject;
  readonly #journal: CountingJournal;
  readonly #controls = createMemoryControls();
  readonly #clocks: number[];
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
    this.#clocks = [...(scenario.clocks ?? [])];
    if (scenario.limit !== undefined)
      this.#controls.set('stack', { limits: { max_open_notional: scenario.limit } });
    for (const body of [...(scenario.before ?? []), ofAnotherApp])
      this.upstream.execute(body, foreigner, startAt - hourMs);
    for (const asked of scenario.requests) this.#await(asked, (process) => this.#start(process, asked));
    for (const [index, kind] of (scenario.beside ?? []).entries())
      this.#await({ name: `${kind} ${index}`, instance: 5 + index }, (process) =>
        this.#settleBeside(process, kind),
      );
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
    return [...options, ...arrivals, ...this.#stepsOfClocks(), ...(stands ? this.#longTimes() : [])];
  }

  #stepsOfClocks(): readonly Option[] {
    if (this.#left.step === 0) return [];
    return this.#clocks.map((ahead, instance) => ({
      name: `the clock of ${instance} steps`,
      take: async () => {
        this.#left.step--;
        this.#clocks[instance] = -ahead;
      },
    }));
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
      const label = `${step.process.name}: ${step.label} ${name}`;
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
      if (crashes) this.#crash(step.process.instance);
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

  /** The settlement looks twice at what is unknown, and may be shown nothing. */
  #longTimes(): readonly Option[] {
    const looks = [[], [0], [1], [0, 1]].filter(({ length }) => length <= this.#left.wrong);
    return looks.map((wrong) => ({
      name: `a long time passes${wrong.map((look) => `, look ${look} shows nothing`).join('')}`,
      take: () => {
        this.#left.long--;
        this.#left.wrong -= wrong.length;
        return this.#longTime(wrong);
      },
    }));
  }

  async #longTime(wrong: readonly number[] = []): Promise<void> {
    for (const [look, ms] of [longMs, apartMs].entries()) {
      this.#now += ms;
      const reads = wrong.includes(look) ? readsNothing : this.#reads;
      const clock = () => this.#now;
      const settlement = this.#subject.createSettlement({
        journal: this.#journal,
        orders: reads,
        names,
        clock,
        sleep: async () => {},
      });
      await settlement.run(this.#now + runMs);
      this.witness.checkJournal((await this.#entries()).values());
      await this.#checkCounter();
    }
  }

  readonly #reads: SettlementOptions['orders'] = {
    openOrders: async (account) => this.upstream.list(account, this.upstream.open),
    ordersSince: async (account) => this.upstream.list(account, this.upstream.book.keys()),
    order: async (account, id) => this.upstream.lookUp(account, id),
  };

  #loseFlights(): void {
    this.#flights = [];
  }

  #arrive(flight: Flight): void {
    this.#flights = this.#flights.filter((one) => one !== flight);
    this.upstream.execute(flight.body, flight.sending.by, this.#now);
  }

  #crash(instance: number): void {
    this.#left.crash--;
    for (const process of this.#processes) if (process.instance === instance) process.isDead = true;
    for (const step of [...this.#steps])
      if (step.process.isDead) this.#steps.splice(this.#steps.indexOf(step), 1);
  }

  /** What has not come yet. */
  #await(
    { name, instance }: Pick<Process, 'name' | 'instance'>,
    start: (process: Process) => readonly Variant[],
  ): void {
    const process = { name, instance, isDead: false, isDone: false, seen: '' };
    const step: Step = {
      process,
      label: 'start',
      variants: () => start(process),
      resolve: () => {},
      reject: () => {},
    };
    this.#steps.push(step);
  }

  readonly #clockOf =
    ({ instance }: Process) =>
    () =>
      this.#now + (this.#clocks[instance] ?? 0);

  readonly #sleepOf = (process: Process) => (ms: number) => {
    // What is drawn by chance is the same in each history.
    const takesMs = Number.isInteger(ms) ? ms : 20;
    const wakes = () => [{ name: '', run: () => undefined }];
    return this.#call<void>(process, `sleep ${takesMs}`, wakes, this.#now + takesMs);
  };

  #settleBeside(process: Process, kind: 'settlement' | 'event'): readonly Variant[] {
    const run = (isWrong: boolean) => () => {
      this.#processes.push(process);
      const settlement = this.#subject.createSettlement({
        journal: this.#journalOf(process),
        orders: this.#readsOf(process, isWrong),
        names,
        clock: this.#clockOf(process),
        sleep: this.#sleepOf(process),
      });
      const [seen] = this.#ownOrders;
      const ends = kind === 'event' ? settlement.saw(seen!) : settlement.run(this.#now + runMs);
      ends
        .catch(() => {})
        .then(() => {
          process.isDone = true;
        });
    };
    if (kind === 'event') return this.#ownOrders.length > 0 ? [{ name: '', run: run(false) }] : [];
    return [
      { name: '', run: run(false) },
      { name: 'wrong', cost: 'wrong', run: run(true) },
    ];
  }

  get #ownOrders(): readonly ReadOrder[] {
    const own = [...this.upstream.book].flatMap(([id, { by }]) => (by === foreigner ? [] : [id]));
    return this.upstream.list('account', own);
  }

  #readsOf(process: Process, isWrong: boolean): SettlementOptions['orders'] {
    const read = <T>(label: string, wrong: T, run: () => Promise<T>): Promise<T> =>
      this.#call(process, label, () => [
        { name: 'ok', run: isWrong ? () => wrong : run },
        { name: 'fails', cost: 'net', run: away },
      ]);
    return {
      openOrders: (account) => read('list', [], () => this.#reads.openOrders(account)),
      ordersSince: (account, since) => read('history', [], () => this.#reads.ordersSince(account, since)),
      order: (account, id) =>
        read<Awaited<ReturnType<OrderReads['order']>>>(`look up ${id}`, 'not_found', () =>
          this.#reads.order(account, id),
        ),
    };
  }

  #start(process: Process, asked: ModelRequest): readonly Variant[] {
    return [{ name: '', run: () => this.#handOver(process, asked) }];
  }

  #handOver(process: Process, asked: ModelRequest): void {
    this.#processes.push(process);
    const journal = this.#journalOf(process, asked);
    const clock = this.#clockOf(process);
    const handOver = this.#subject.createHandOver({
      journal,
      names,
      clock,
      sleep: this.#sleepOf(process),
      ...(this.#scenario.limit !== undefined && { guard: { controls: this.#controls, journal } }),
    });
    const change = changeOf(asked, clock() + this.#scenario.patienceMs);
    const answered = (outcome: Answer) => {
      process.isDone = true;
      if (!process.isDead) this.witness.hears(asked, outcome);
    };
    // What is thrown is answered as an error of the gateway, which says nothing of the order.
    handOver
      .run(change, this.#deliveryOf(process, asked))
      .then(answered, () => answered(refused({ code: 'outcome_unknown' })));
  }

  #call<T>(process: Process, label: string, variants: Step['variants'], wakeAt?: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const step = { process, label, variants, resolve: resolve as Step['resolve'], reject };
      this.#steps.push(wakeAt === undefined ? step : { ...step, wakeAt });
    });
  }

  /** @param asked the request whose journal it is */
  #journalOf(process: Process, asked?: ModelRequest): CountingJournal {
    const stored = <T>(label: string, run: () => Promise<T>, changes = true): Promise<T> =>
      this.#call(process, label, () => [
        { name: 'ok', mayCrash: changes, run },
        { name: 'fails', cost: 'store', run: away },
        ...(changes
          ? [{ name: 'loses its answer', cost: 'store' as const, run: () => run().then(away) }]
          : []),
      ]);
    // What a release reads is another request's: what is answered was decided before.
    let isReleasing = false;
    const begins = async <T>(entries: readonly JournalEntry[], run: () => Promise<T>): Promise<T> => {
      isReleasing = false;
      for (const { key, attempt } of entries) {
        this.#keys.add(key);
        this.#attempts.set(attempt, process.name);
      }
      const begun = await stored('begin', run);
      if (asked && Array.isArray(begun)) this.witness.showsEntries(asked, begun as readonly JournalEntry[]);
      return begun;
    };
    return {
      begin: (entries, now) => begins(entries, () => this.#journal.begin(entries, now)),
      beginCounted: (entries, now, changes) =>
        begins(entries, () => this.#journal.beginCounted(entries, now, changes)),
      finish: (outcome) =>
        stored(`finish ${outcome.key} ${outcome.state}`, () => this.#journal.finish(outcome)),
      read: async (keys) => {
        const read = await stored('read', () => this.#journal.read(keys), false);
        if (asked && !isReleasing) this.witness.showsEntries(asked, read.values());
        return read;
      },
      change: (changes) => {
        isReleasing = true;
        return stored('change', () => this.#journal.change(changes));
      },
      counters: (keys) => stored('counters', () => this.#journal.counters(keys), false),
      // No request of this model is a change of an order.
      unsettled: async (list, from, limit) =>
        list === 'changes' ? [] : stored(list, () => this.#journal.unsettled(list, from, limit), false),
      exposed: (from, limit) => stored('exposed', () => this.#journal.exposed(from, limit), false),
    };
  }

  #deliveryOf(process: Process, asked: ModelRequest): Delivery {
    return {
      send: (body, sendBy) =>
        this.#call(process, 'send', () => this.#sendVariants(asked, body, sendBy, this.#clockOf(process))),
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

  #sendVariants(asked: ModelRequest, body: string, sendBy: number, clock: () => number): readonly Variant[] {
    // As the gateway does.
    if (clock() > sendBy) return [{ name: 'is too late', run: () => notSent }];
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
    const counters = await this.#checkCounter();
    const waiting = this.#steps.map(({ process, label, wakeAt }) => [
      process.name,
      process.seen,
      label,
      wakeAt,
    ]);
    const flights = this.#flights.map(({ sending }) => sending.by);
    const { book } = this.upstream;
    const { state } = this.witness;
    return digest(
      JSON.stringify([
        this.#now,
        this.#clocks,
        this.#short(entries),
        counters,
        [...book],
        waiting,
        flights,
        this.#left,
        state,
      ]),
    );
  }

  async #checkCounter(): Promise<readonly StoredCounter[]> {
    if (this.#scenario.limit === undefined) return [];
    const counters = await this.#journal.counters([counterKey]);
    this.witness.checkCounter(counters[0], await this.#journal.exposed('', 100));
    return counters;
  }

  /** What a later step can depend on. */
  #short(value: unknown): string {
    if (value instanceof Map) return this.#short([...value.values()]);
    if (Array.isArray(value))
      return value
        .map((one: object) =>
          'attempt' in one ? this.#shortEntry(one as JournalEntry) : JSON.stringify(one),
        )
        .join();
    if (value && typeof value === 'object' && 'body' in value)
      return new TextDecoder().decode(value.body as Uint8Array);
    return JSON.stringify(value) ?? '';
  }

  #shortEntry({ key, attempt, state, sendBy, record, exposure }: JournalEntry): string {
    const { outcome, absent } = readRecord(record);
    const said = [sendBy, outcome?.answer, outcome?.exposure, absent, exposure];
    return `${key} ${this.#attempts.get(attempt)} ${state} ${JSON.stringify(said)}`;
  }

  /** Clients ask again until they know; then all is judged. */
  async end(): Promise<void> {
    this.#flights = [];
    for (const key of Object.keys(this.#left) as (keyof Budget)[]) this.#left[key] = 0;
    const bodies = [...new Map(this.#scenario.requests.map((asked) => [asked.body, asked])).values()];
    for (const round of [0, 1, 2]) {
      this.#now += 1000;
      if (round === 1) await this.#longTime();
      for (const asked of bodies) {
        const again = { ...asked, name: `${asked.name} again ${round}`, instance: 9 };
        this.#await(again, (process) => this.#start(process, again));
        for (let [first] = this.options(); first; [first] = this.options()) await first.take();
        if (round === 2) this.witness.mustKnow(again);
      }
    }
    this.witness.judge(await this.#entries());
    await this.#checkCounter();
    for (const id of this.upstream.open) this.upstream.fill(id);
    await this.#longTime();
    this.witness.checkUncounted((await this.#journal.counters([counterKey]))[0]);
  }
}

const readsNothing: SettlementOptions['orders'] = {
  openOrders: async () => [],
  ordersSince: async () => [],
  order: async () => 'not_found',
};
const away = () => Promise.reject(new JournalUnavailable());
const digest = (text: string) => createHash('sha1').update(text).digest('base64');
