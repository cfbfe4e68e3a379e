/**
 * One history of a small model: requests over two instances whose every call of a port is a step that waits until it is
 * chosen, and what can go wrong at that step. The clock stands still but for what is slept. A history can be forked: what
 * runs in it is known by what it was answered.
 */

import { type Answer, refused } from '../../../lib/answer.ts';
import type { StoredCounter } from '../../../lib/guard-rails/counter.ts';
import { createMemoryControls } from '../../../lib/guard-rails/index.ts';
import { clockSkewMs } from '../../../lib/kernel/clock-skew.ts';
import type { createHandOver, OrderDelivery } from '../../../lib/orders/hand-over.ts';
import {
  absenceCountsAfterMs,
  type CountingJournal,
  type JournalEntry,
  JournalUnavailable,
} from '../../../lib/orders/journal.ts';
import type { createMemoryOrderJournal, KeptJournal } from '../../../lib/orders/memory-journal.ts';
import type { OrderReads, ReadOrder } from '../../../lib/orders/order-reads.ts';
import type { createSettlement, SettlementOptions } from '../../../lib/orders/settle.ts';
import {
  type Answered,
  type Call as CallIn,
  digest,
  inWords,
  type Process as ProcessIn,
  type Running as RunningIn,
  Stands,
} from './stands.ts';
import { lost, ModelUpstream, notSent, type Oddity, ordersOf, refusedByUpstream } from './upstream.ts';
import { type Budget, nothing, type Variant } from './variant.ts';
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

type Process = ProcessIn<History>;
type Running = RunningIn<History>;

interface Step extends CallIn<History> {
  readonly process: Process;
}

interface Flight {
  readonly sending: Sending;
  readonly body: string;
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

export class History {
  readonly upstream = new ModelUpstream();
  readonly witness: Witness;
  #now = startAt;
  readonly #scenario: Scenario;
  readonly #subject: Subject;
  readonly #kept: KeptJournal = { entries: new Map(), counters: new Map() };
  readonly #journal: CountingJournal;
  readonly #stands: Stands<History>;
  #clocks: readonly number[];
  #left: Budget;
  #steps: readonly Step[] = [];
  /** Sent, not arrived: the instance has given up on it. */
  #flights: readonly Flight[] = [];
  /** Came or woke up just now: what it does first is one step with that. */
  #awake: string | undefined;
  readonly #keys = new Set<string>();

  private constructor(scenario: Scenario, subject: Subject, stands: Stands<History>, before?: Witness) {
    this.#scenario = scenario;
    this.#subject = subject;
    this.#stands = stands;
    this.#journal = subject.createMemoryOrderJournal(this.#kept);
    this.witness = before ? before.fork(this.upstream) : new Witness(this.upstream);
    this.#left = scenario.budget;
    this.#clocks = scenario.clocks ?? [];
  }

  static begin(scenario: Scenario, subject: Subject): History {
    const history = new History(scenario, subject, new Stands());
    const { before = [], requests, beside = [] } = scenario;
    for (const body of [...before, ofAnotherApp]) history.upstream.execute(body, foreigner, startAt - hourMs);
    for (const asked of requests) history.#awaitRequest(asked);
    for (const [index, kind] of beside.entries()) history.#awaitBeside(index, kind);
    return history;
  }

  /** Goes on from here by itself. */
  fork(): History {
    const fork = new History(this.#scenario, this.#subject, this.#stands, this.witness);
    for (const [id, placing] of this.upstream.book) fork.upstream.book.set(id, placing);
    for (const [key, entry] of this.#kept.entries) fork.#kept.entries.set(key, entry);
    for (const [key, counter] of this.#kept.counters) fork.#kept.counters.set(key, counter);
    for (const key of this.#keys) fork.#keys.add(key);
    fork.#now = this.#now;
    fork.#clocks = this.#clocks;
    fork.#left = this.#left;
    fork.#steps = this.#steps;
    fork.#flights = this.#flights;
    fork.#awake = this.#awake;
    return fork;
  }

  /** Once less in this history. */
  #spend(cost: keyof Budget, times = 1): void {
    this.#left = { ...this.#left, [cost]: this.#left[cost] - times };
  }

  /** All that can happen next; none at the end. */
  options(): readonly Option[] {
    const goesOn = this.#steps.filter(
      ({ process, wakeAt }) => process.name === this.#awake && wakeAt === undefined,
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
        this.#spend('step');
        this.#clocks = this.#clocks.with(instance, -ahead);
      },
    }));
  }

  /** The first step of each request: what one does at once, it does in one order. Timers end in their order. */
  #enabled(): readonly Step[] {
    const timers = this.#steps.flatMap(({ wakeAt }) => wakeAt ?? []);
    const nextTimer = Math.min(...timers);
    const first = new Map<string, Step>();
    for (const step of this.#steps)
      if ((step.wakeAt === undefined || step.wakeAt === nextTimer) && !first.has(step.process.name))
        first.set(step.process.name, step);
    return [...first.values()];
  }

  #optionsOf(step: Step): readonly Option[] {
    return step.variants(this).flatMap((variant) => {
      const { name, cost, mayCrash = false } = variant;
      if (cost && this.#left[cost] === 0) return [];
      const label = `${step.process.name}: ${step.label} ${name}`;
      const take = { name: label, take: () => this.#take(step, variant, false) };
      if (!mayCrash || this.#left.crash === 0) return [take];
      return [take, { name: `${label}, crash`, take: () => this.#take(step, variant, true) }];
    });
  }

  async #take(step: Step, { name, cost, run }: Variant, crashes: boolean): Promise<void> {
    const { process, label, wakeAt } = step;
    if (cost) this.#spend(cost);
    if (wakeAt !== undefined) this.#now = Math.max(this.#now, wakeAt);
    this.#awake = wakeAt !== undefined || label === 'start' ? process.name : undefined;
    const came = await cameOf(run);
    if (crashes && 'value' in came) this.#crash(process.instance);
    else
      await this.#goOn(process, {
        call: this.#steps.filter((one) => one.process === process).indexOf(step),
        label,
        variant: name,
        now: this.#now,
        ahead: this.#clocks[process.instance] ?? 0,
        came,
      });
    // Only that changes what is known to be final.
    if (label.startsWith('finish')) this.witness.checkJournal((await this.#entries()).values());
  }

  async #goOn(before: Process, answered: Answered): Promise<void> {
    const { process, calls, told } = await this.#stands.after(before, answered);
    const others = this.#steps.filter((one) => one.process !== before);
    this.#steps = [...others, ...calls.map((call) => ({ ...call, process }))];
    for (const one of told) one(this);
  }

  /** The settlement looks twice at what is unknown, and may be shown nothing. */
  #longTimes(): readonly Option[] {
    const looks = [[], [0], [1], [0, 1]].filter(({ length }) => length <= this.#left.wrong);
    return looks.map((wrong) => ({
      name: `a long time passes${wrong.map((look) => `, look ${look} shows nothing`).join('')}`,
      take: () => {
        this.#spend('long');
        this.#spend('wrong', wrong.length);
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

  /** What comes later comes to an instance that was started again. */
  #crash(instance: number): void {
    this.#spend('crash');
    this.#steps = this.#steps.filter(
      ({ process }) => process.instance !== instance || process.answers.length === 0,
    );
  }

  /** What has not come yet. */
  #await(
    given: Pick<Process, 'name' | 'instance' | 'start'>,
    variants: CallIn<History>['variants'] = () => [{ name: '', run: () => undefined }],
  ): void {
    const { name, instance, start } = given;
    const process = { name, instance, start, answers: [], seen: '' };
    this.#steps = [...this.#steps, { process, label: 'start', variants }];
  }

  #awaitRequest(asked: ModelRequest): void {
    const { name, instance } = asked;
    this.#await({ name, instance, start: (running) => this.#handOver(running, asked) });
  }

  #awaitBeside(index: number, kind: 'settlement' | 'event'): void {
    const process = { name: `${kind} ${index}`, instance: 5 + index };
    const settlementOf = (running: Running, isWrong: boolean) =>
      this.#subject.createSettlement({
        journal: this.#journalOf(running),
        orders: this.#readsOf(running, isWrong),
        names,
        clock: running.clock,
        sleep: running.sleep,
      });
    const saw = (running: Running, seen: unknown) => {
      settlementOf(running, false)
        .saw(seen as ReadOrder)
        .catch(() => {});
    };
    const runs = (running: Running, isWrong: unknown) => {
      settlementOf(running, isWrong === true)
        .run(running.clock() + runMs)
        .catch(() => {});
    };
    if (kind === 'event')
      this.#await({ ...process, start: saw }, (history) =>
        history.#ownOrders.slice(0, 1).map((seen) => ({ name: '', run: () => seen })),
      );
    else
      this.#await({ ...process, start: runs }, () => [
        { name: '', run: () => false },
        { name: 'wrong', cost: 'wrong', run: () => true },
      ]);
  }

  get #ownOrders(): readonly ReadOrder[] {
    const own = [...this.upstream.book].flatMap(([id, { by }]) => (by === foreigner ? [] : [id]));
    return this.upstream.list('account', own);
  }

  #readsOf(running: Running, isWrong: boolean): SettlementOptions['orders'] {
    const read = <T>(label: string, wrong: T, run: (history: History) => Promise<T>): Promise<T> =>
      running.call(label, (history) => [
        { name: 'ok', run: isWrong ? () => wrong : () => run(history) },
        { name: 'fails', cost: 'net', run: away },
      ]);
    return {
      openOrders: (account) => read('list', [], (history) => history.#reads.openOrders(account)),
      ordersSince: (account, since) =>
        read('history', [], (history) => history.#reads.ordersSince(account, since)),
      order: (account, id) =>
        read<Awaited<ReturnType<OrderReads['order']>>>(`look up ${id}`, 'not_found', (history) =>
          history.#reads.order(account, id),
        ),
    };
  }

  #handOver(running: Running, asked: ModelRequest): void {
    const { limit, patienceMs } = this.#scenario;
    const journal = this.#journalOf(running, asked);
    const controls = createMemoryControls();
    if (limit !== undefined) controls.set('stack', { limits: { max_open_notional: limit } });
    const { clock, sleep } = running;
    const handOver = this.#subject.createHandOver({
      journal,
      names,
      clock,
      sleep,
      ...(limit !== undefined && { guard: { controls, journal } }),
    });
    const answered = (outcome: Answer) => running.tell(({ witness }) => witness.hears(asked, outcome));
    // What is thrown is answered as an error of the gateway, which says nothing of the order.
    handOver
      .run(changeOf(asked, clock() + patienceMs), this.#deliveryOf(running, asked))
      .then(answered, () => answered(refused({ code: 'outcome_unknown' })));
  }

  /** @param asked the request whose journal it is */
  #journalOf(running: Running, asked?: ModelRequest): CountingJournal {
    type Effect<T> = (journal: CountingJournal) => Promise<T>;
    const stored = <T>(label: string, effect: Effect<T>, changes = true): Promise<T> =>
      running.call(label, (history) => [
        { name: 'ok', mayCrash: changes, run: () => effect(history.#journal) },
        { name: 'fails', cost: 'store', run: away },
        ...(changes
          ? [
              {
                name: 'loses its answer',
                cost: 'store' as const,
                run: () => effect(history.#journal).then(away),
              },
            ]
          : []),
      ]);
    const shows = (entries: Iterable<JournalEntry>) => {
      if (asked) running.tell(({ witness }) => witness.showsEntries(asked, entries));
    };
    // What a release reads is another request's: what is answered was decided before.
    let isReleasing = false;
    const begins = async <T>(entries: readonly JournalEntry[], effect: Effect<T>): Promise<T> => {
      isReleasing = false;
      running.tell((history) => {
        for (const { key } of entries) history.#keys.add(key);
      });
      const begun = await stored('begin', effect);
      if (Array.isArray(begun)) shows(begun as readonly JournalEntry[]);
      return begun;
    };
    return {
      begin: (entries, now) => begins(entries, (journal) => journal.begin(entries, now)),
      beginCounted: (entries, now, changes) =>
        begins(entries, (journal) => journal.beginCounted(entries, now, changes)),
      finish: (outcome) =>
        stored(`finish ${outcome.key} ${outcome.state}`, (journal) => journal.finish(outcome)),
      read: async (keys) => {
        const read = await stored('read', (journal) => journal.read(keys), false);
        if (!isReleasing) shows([...read.values()]);
        return read;
      },
      change: (changes) => {
        isReleasing = true;
        return stored('change', (journal) => journal.change(changes));
      },
      counters: (keys) => stored('counters', (journal) => journal.counters(keys), false),
      // No request of this model is a change of an order.
      unsettled: async (list, from, limit) =>
        list === 'changes' ? [] : stored(list, (journal) => journal.unsettled(list, from, limit), false),
      exposed: (from, limit) => stored('exposed', (journal) => journal.exposed(from, limit), false),
    };
  }

  #deliveryOf(running: Running, asked: ModelRequest): OrderDelivery {
    return {
      send: (body, sendBy) => running.call('send', (history) => history.#sendVariants(asked, body, sendBy)),
      lookUp: (account, id) =>
        running.call(`look up ${id}`, (history) => history.#lookUpVariants(asked, account, id)),
    };
  }

  #lookUpVariants(asked: ModelRequest, account: string, id: string): readonly Variant[] {
    const placing = this.upstream.book.get(id);
    const looks = () => {
      if (placing) this.witness.showsOrder(asked, id);
      return this.upstream.lookUp(account, id);
    };
    return [
      { name: 'ok', run: looks },
      ...(placing && this.#now - placing.at < clockSkewMs
        ? [{ name: 'sees nothing yet', cost: 'late' as const, run: () => 'not_found' }]
        : []),
      { name: 'is not possible', cost: 'net', run: () => undefined },
    ];
  }

  #sendVariants(asked: ModelRequest, body: string, sendBy: number): readonly Variant[] {
    // As the gateway does.
    if (this.#now + (this.#clocks[asked.instance] ?? 0) > sendBy)
      return [{ name: 'is too late', run: () => notSent }];
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
    const waiting = this.#steps
      .map(({ process, label, wakeAt }) => `${process.name} ${process.seen} ${label} ${wakeAt}`)
      .sort();
    const flights = this.#flights.map(({ sending }) => sending.by).sort();
    const { book } = this.upstream;
    const { state } = this.witness;
    return digest(
      inWords([
        this.#now,
        this.#clocks,
        [...entries].sort(byKey),
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

  /** Clients ask again until they know; then all is judged. */
  async end(): Promise<void> {
    this.#flights = [];
    this.#left = nothing;
    const bodies = [...new Map(this.#scenario.requests.map((asked) => [asked.body, asked])).values()];
    for (const round of [0, 1, 2]) {
      this.#now += 1000;
      if (round === 1) await this.#longTime();
      for (const asked of bodies) {
        const again = { ...asked, name: `${asked.name} again ${round}`, instance: 9 };
        this.#awaitRequest(again);
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
const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);
const cameOf = async (run: () => unknown): Promise<Answered['came']> => {
  try {
    return { value: await run() };
  } catch (cause) {
    return { cause };
  }
};
const away = () => Promise.reject(new JournalUnavailable());
