/**
 * Instances that share one limiter, on a virtual clock: the production code, with clocks that are off, a
 * network that takes its time, and instances that freeze and die.
 */

import {
  createLimiter,
  type Limiter,
  type LimiterOptions,
  type LimiterReport,
  type PermitAnswer,
  type Priority,
} from '../../../lib/limiter/index.ts';
import { createRandom, exponential, type Random } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import type { Units } from './key-units.ts';
import { SlowStore, worldKey } from './slow-store.ts';
import { Upstream } from './upstream.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly instances: number;
  /** Clocks are off by up to this, either way. Default 500 ms. */
  readonly offsetMs?: number;
  readonly networkMs?: number;
  /** Clocks and network at their limits, never in between. */
  readonly extreme?: boolean;
  readonly limiter?: Partial<LimiterOptions>;
  /** Times a minute that an instance stands still for 0.05 … 5 s. */
  readonly freezesPerMinute?: number;
  /** Times a minute that an instance dies and another takes its place. */
  readonly killsPerMinute?: number;
  /** The part of the requests that stand still between the last check and the socket, for up to 5 s. */
  readonly lateFreezes?: number;
  /** How many units the store's key takes in a second. Default any number. */
  readonly unitCap?: Units;
  /** Some of the store's answers take long. */
  readonly tail?: boolean;
  /** The part of the requests whose connection takes 0.1 … 1.2 s, and which replace a permit twice. Default none. */
  readonly slowConnections?: number;
  /** Requests leave whether their permit is still valid or not. */
  readonly careless?: boolean;
  /** The limiter that is judged. Default as it is. */
  readonly create?: typeof createLimiter;
}

export interface Request {
  readonly priority?: Priority;
  readonly user?: string;
  readonly limits?: readonly [string, ...string[]];
  readonly waitMs?: number;
}

/** A request that was sent. */
export interface Served {
  readonly priority: Priority;
  readonly askedAt: number;
  /** Milliseconds, with signing. */
  readonly waited: number;
}

/** So many requests a minute, by chance. */
export interface Demand extends Request {
  readonly perMinute: number;
}

export const marketData = { 'market-data': { requests: 300, perSeconds: 60 } };
const appKey = 'world-app-key';

/** One instance of the limiter, with a clock of its own. */
class Instance {
  readonly limiter: Limiter;
  readonly #world: World;
  #frozenUntil = 0;
  #isDead = false;

  constructor(world: World, number: number) {
    const { clock, random, options } = world;
    const { create = createLimiter } = options;
    this.#world = world;
    const offsetMs = (world.between() * 2 - 1) * (options.offsetMs ?? 500);
    const gate = (run: () => void) => this.#gate(run);
    this.limiter = create({
      store: world.store.connect({ gate, instance: number }),
      limits: marketData,
      bucket: 'world',
      keyOf: () => worldKey,
      clock: () => Math.floor(clock.now() + offsetMs),
      after: (ms, run) => this.after(ms, run),
      random,
      report: (report) => world.report(report),
      ...options.limiter,
    });
  }

  /** A timer that rings when the instance is awake. */
  after(ms: number, run: () => void): () => void {
    return this.#world.clock.after(ms, () => this.#gate(run));
  }

  freeze(ms: number): void {
    const { clock, counts } = this.#world;
    counts.frozen++;
    this.#frozenUntil = Math.max(this.#frozenUntil, clock.now() + ms);
  }

  kill(): void {
    this.#world.counts.killed++;
    this.#isDead = true;
  }

  #gate(run: () => void): void {
    const { clock } = this.#world;
    if (this.#isDead) return;
    if (this.#frozenUntil > clock.now()) clock.after(this.#frozenUntil - clock.now(), () => this.#gate(run));
    else run();
  }
}

export class World {
  readonly options: WorldOptions;
  readonly random: Random;
  readonly clock = new VirtualTime(Date.UTC(2026, 10, 17, 9, 30));
  readonly store: SlowStore;
  readonly upstream = new Upstream();
  readonly served: Served[] = [];
  readonly reports: LimiterReport[] = [];
  readonly counts = {
    asked: 0,
    taken: 0,
    sent: 0,
    refused: 0,
    expired: 0,
    killed: 0,
    frozen: 0,
    lateFreezes: 0,
  };
  instances: Instance[];
  readonly #byLimit = new Map<string, number[]>();
  #keepsReports = false;
  #started = 0;

  constructor(options: WorldOptions) {
    this.options = options;
    this.random = createRandom(options.seed);
    this.store = new SlowStore(this.clock, this.random, options);
    this.instances = Array.from({ length: options.instances }, () => this.start());
  }

  get operations() {
    return this.store.operations;
  }

  /** From 0 to 1; at the ends only, where clocks and network are at their limits. */
  between(): number {
    return this.options.extreme ? Math.round(this.random()) : this.random();
  }

  report(report: LimiterReport): void {
    if (report.kind === 'expired') this.counts.expired++;
    if (this.#keepsReports) this.reports.push(report);
  }

  keepReports(): void {
    this.#keepsReports = true;
  }

  /** One more instance, beside the others. */
  start(): Instance {
    return new Instance(this, this.#started++);
  }

  add(count: number): void {
    this.instances = [...this.instances, ...Array.from({ length: count }, () => this.start())];
  }

  /** All die at once, and others take their places. */
  replaceAll(): void {
    for (const instance of this.instances) instance.kill();
    this.instances = this.instances.map(() => this.start());
  }

  request(request: Request = {}, index = this.#anyIndex()): Promise<PermitAnswer> {
    return this.requestOf(this.instances[index]!, request);
  }

  async requestOf(
    instance: Instance,
    { priority = 'interactive', limits = ['market-data'], user, waitMs }: Request,
  ): Promise<PermitAnswer> {
    this.counts.asked++;
    const askedAt = this.clock.now();
    const answer = await instance.limiter.acquire({
      appKey,
      limits,
      priority,
      ...(user !== undefined && { user }),
      ...(waitMs !== undefined && { waitMs }),
    });
    if (!answer.ok) {
      this.counts.refused++;
      return answer;
    }
    // Signing and connecting, which a freeze may hit.
    const { careless, slowConnections = 0 } = this.options;
    const isSlow = slowConnections > 0 && this.random() < slowConnections;
    const connectMs = isSlow ? 100 + this.random() * 1100 : this.random() * 4;
    await new Promise<void>((resolve) => void instance.after(connectMs, resolve));
    let last: PermitAnswer = answer;
    for (let left = isSlow ? 2 : 0; last.ok; left--) {
      this.counts.taken++;
      if (last.permit.consume() || careless) {
        this.#send(priority, askedAt, limits);
        return answer;
      }
      if (left === 0) break;
      last = await instance.limiter.acquire({ appKey, limits, priority });
    }
    return answer;
  }

  /** When requests arrived that count against a limit. */
  sentUnder(limit: string): readonly number[] {
    return this.#byLimit.get(limit) ?? [];
  }

  /** So many requests a minute, by chance, of any instance, with the freezes and kills of the options. */
  async live(forMs: number, demands: readonly Demand[]): Promise<void> {
    const { freezesPerMinute = 0, killsPerMinute = 0 } = this.options;
    const until = this.clock.now() + forMs;
    for (const { perMinute, ...request } of demands)
      this.#often(perMinute, until, () => void this.request(request));
    this.#often(freezesPerMinute, until, () =>
      this.instances[this.#anyIndex()]!.freeze(50 + this.random() ** 3 * 4950),
    );
    this.#often(killsPerMinute, until, () => {
      const index = this.#anyIndex();
      this.instances[index]!.kill();
      this.instances[index] = this.start();
    });
    await this.clock.pass(forMs);
  }

  #send(priority: Priority, askedAt: number, limits: readonly string[]): void {
    const { clock, counts, random } = this;
    counts.sent++;
    this.served.push({ priority, askedAt, waited: clock.now() - askedAt });
    const lateMs = random() < (this.options.lateFreezes ?? 0) ? random() * 5000 : 0;
    if (lateMs > 0) counts.lateFreezes++;
    const arrival = clock.now() + lateMs + this.between() * (this.options.networkMs ?? 500);
    this.upstream.arrive(arrival);
    for (const name of limits) {
      const times = this.#byLimit.get(name) ?? [];
      times.push(arrival);
      this.#byLimit.set(name, times);
    }
  }

  #anyIndex(): number {
    return Math.floor(this.random() * this.instances.length);
  }

  /** Something happens so often a minute, by chance, until a time. */
  #often(perMinute: number, until: number, run: () => void): void {
    if (perMinute <= 0) return;
    const next = () =>
      this.clock.after(exponential(this.random, 60_000 / perMinute), () => {
        if (this.clock.now() >= until) return;
        run();
        next();
      });
    next();
  }
}

/** Store operations since an earlier count, for each permit that was used. */
export const perPermit = (count: number, sent: number) => (count / Math.max(1, sent)).toFixed(2);
