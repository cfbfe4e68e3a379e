/** Listeners as a schedule starts them, beside a model of the upstream, on a virtual clock: they die, freeze and differ. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { keptBus, type TradeEventHistory } from '../../../lib/trade-events/history.ts';
import {
  createMemoryTradeEventStore,
  createTradeEventListener,
  type ParsedTradeEvent,
  parseTradeEvent,
  type RunReport,
  type TradeEvent,
  type TradeEventListener,
  type TradeEventListenerOptions,
  type TradeEventReport,
  type TradeEventStore,
  type TradeEventTuning,
} from '../../../lib/trade-events/index.ts';
import { throughEach } from '../../world/ports.ts';
import { createRandom } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import { ModelUpstream } from './upstream.ts';

/** Nothing of these may be in a report. */
export const canaries = {
  account: 'ACCT-CANARY-1',
  other: 'ACCT-CANARY-2',
  appSecret: 'canary-secret',
  accessToken: 'canary-token',
} as const;

export interface WorldOptions {
  readonly seed?: number;
  /** How long one listener means to listen. */
  readonly shiftMs?: number;
  readonly tuning?: Partial<TradeEventTuning>;
  /** By how much a listener's clock may be off. */
  readonly clockOffMs?: number;
  /** Keeps events for streams, too. */
  readonly history?: (time: VirtualTime) => TradeEventHistory;
}

/** One run of a listener. */
export class Instance {
  readonly bornAt: number;
  /** What a test adds to its clock. */
  offsetMs: number;
  /** Where its monotonic clock began. */
  readonly upMs: number;
  isDead = false;
  frozenUntil = 0;
  result: RunReport['result'] | 'died' | undefined;
  calls = 0;
  /** The call at which it dies: before its effect, or after it. */
  diesAt: { readonly call: number; readonly after: boolean } | undefined;
  stop = new AbortController();

  constructor(bornAt: number, offsetMs: number, upMs: number) {
    this.bornAt = bornAt;
    this.offsetMs = offsetMs;
    this.upMs = upMs;
  }
}

const minute = 60_000;
export const names: TradeEventListenerOptions['names'] = {
  nameOf: async (...texts) =>
    createHash('sha256').update(JSON.stringify(texts)).digest('base64url').slice(0, 22),
};

export class World {
  readonly time = new VirtualTime();
  readonly random: () => number;
  readonly upstream: ModelUpstream;
  readonly store: TradeEventStore;
  readonly history: TradeEventHistory | undefined;
  readonly bus: TradeEvent[] = [];
  readonly publishedAt = new Map<string, number>();
  readonly reports: TradeEventReport[] = [];
  readonly instances: Instance[] = [];
  credential = {
    appKey: 'key-1',
    appSecret: canaries.appSecret as string,
    accessToken: canaries.accessToken as string,
  };
  storeFault: ((method: string) => 'before' | 'after' | undefined) | undefined;
  busRefuses: ((event: TradeEvent) => boolean) | undefined;
  isScheduled = true;
  storeMs = 5;
  busMs = 20;
  readonly #options: WorldOptions;
  readonly #listeners = new Map<Instance, TradeEventListener>();
  readonly startedAt: number;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.random = createRandom(options.seed ?? 1);
    this.startedAt = this.time.now();
    this.upstream = new ModelUpstream(this.time, [canaries.account, canaries.other]);
    this.store = createMemoryTradeEventStore(this.time.now);
    this.history = options.history?.(this.time);
  }

  /** Starts a listener now and each minute, as a schedule does. */
  schedule(): void {
    const next = () => {
      if (this.isScheduled) this.start();
      this.time.after(minute, next);
    };
    next();
  }

  /** @param warm its process is used again: what it keeps is still there */
  start(warm?: Instance): Instance {
    const { clockOffMs = 0, shiftMs = 14 * minute } = this.#options;
    const offset = Math.round((this.random() * 2 - 1) * clockOffMs);
    const instance = warm ?? new Instance(this.time.now(), offset, this.instances.length * 100_000);
    if (!warm) this.instances.push(instance);
    instance.result = undefined;
    instance.stop = new AbortController();
    const listener = this.#listeners.get(instance) ?? createTradeEventListener(this.#optionsOf(instance));
    this.#listeners.set(instance, listener);
    const until = this.time.now() + offset + shiftMs;
    listener
      .run({ until, signal: instance.stop.signal })
      .then(({ result }) => {
        instance.result = result;
      })
      .catch((error: unknown) => {
        this.defects.push(error);
      });
    return instance;
  }

  readonly defects: unknown[] = [];

  kill(instance: Instance): void {
    instance.isDead = true;
    instance.result = 'died';
    this.upstream.bury();
  }

  get listening(): readonly Instance[] {
    return this.instances.filter(({ result, isDead }) => result === undefined && !isDead);
  }

  /** The one that has a stream. */
  get owner(): Instance | undefined {
    return this.listening.find((instance) => this.upstream.hasStream(instance));
  }

  async pass(ms: number): Promise<void> {
    await this.time.pass(Math.round(ms));
  }

  /** What a process does ends with it: no call comes back to the dead, and none to the frozen before they wake. */
  async #through<T>(instance: Instance, call: () => Promise<T>): Promise<T> {
    await this.#alive(instance);
    const isLast = instance.diesAt?.call === ++instance.calls;
    if (isLast && !instance.diesAt!.after) this.kill(instance);
    await this.#alive(instance);
    try {
      const result = await call();
      if (isLast) this.kill(instance);
      return result;
    } finally {
      await this.#alive(instance);
    }
  }

  async #alive(instance: Instance): Promise<void> {
    if (instance.isDead) await new Promise(() => {});
    while (instance.frozenUntil > this.time.now())
      await this.time.sleep(instance.frozenUntil - this.time.now());
    if (instance.isDead) await new Promise(() => {});
  }

  #optionsOf(instance: Instance): TradeEventListenerOptions {
    const { time, upstream } = this;
    const port = <P extends object>(target: P, kind: string): P =>
      throughEach(target, (name, call) =>
        this.#through(instance, () => this.#faulty(`${kind}.${name}`, call)),
      );
    const transport = upstream.transport({
      instance,
      isRunning: () => instance.result === undefined && instance.frozenUntil <= time.now(),
      isDead: () => instance.isDead,
    });
    const world = this;
    const clock = () => time.now() + instance.offsetMs;
    const bus = port({ publish: (events: readonly TradeEvent[]) => this.#publish(events) }, 'bus');
    return {
      names,
      orders: port(upstream.reader(), 'orders'),
      store: port(this.store, 'store'),
      bus: this.history ? keptBus(bus, port(this.history, 'history'), { clock, onFailure: () => {} }) : bus,
      readCredential: () => this.#through(instance, async () => ({ ...this.credential })),
      transport: {
        async *open(call) {
          for await (const bytes of transport.open(call)) {
            await world.#alive(instance);
            yield bytes;
          }
        },
      },
      clock,
      monotonic: () => time.now() - instance.bornAt + instance.upMs,
      random: this.random,
      sleep: (ms, signal) => this.#through(instance, () => time.sleep(ms, signal)),
      report: (report) => {
        if (!instance.isDead) this.reports.push(report);
      },
      ...(this.#options.tuning && { tuning: this.#options.tuning }),
    };
  }

  async #faulty<T>(method: string, call: () => Promise<T>): Promise<T> {
    const isStore = /^(store|history)\./.test(method);
    if (isStore) await this.time.sleep(this.storeMs);
    const fault = isStore ? this.storeFault?.(method) : undefined;
    if (fault === 'before') throw new Error('the store is away');
    const result = await call();
    if (fault === 'after') throw new Error('the answer of the store is lost');
    return result;
  }

  async #publish(events: readonly TradeEvent[]): Promise<readonly boolean[]> {
    await this.time.sleep(this.busMs);
    return events.map((event) => {
      if (this.busRefuses?.(event)) return false;
      this.bus.push(event);
      if (!this.publishedAt.has(event.id)) this.publishedAt.set(event.id, this.time.now());
      return true;
    });
  }

  /** Each event once, however often it was published. */
  distinct(): readonly ParsedTradeEvent[] {
    const byId = new Map(this.bus.map((event) => [event.id, event]));
    return [...byId.values()].map(({ id, detailType, detail }) => {
      const parsed = parseTradeEvent({ 'detail-type': detailType, detail: JSON.parse(detail) });
      assert.ok(parsed, detail);
      assert.equal(parsed.detail.event_id, id);
      return parsed;
    });
  }

  reportsOf<K extends TradeEventReport['kind']>(kind: K) {
    return this.reports.filter(
      (report): report is Extract<TradeEventReport, { kind: K }> => report.kind === kind,
    );
  }
}
