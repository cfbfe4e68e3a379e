/**
 * Instances that serve one request at a time, as the platform starts and takes them back; a new one begins with
 * an empty memory. A request goes to one of those that were idle for the shortest time, so that what a burst has
 * started is left to be reclaimed.
 */

import type { SnapshotCall, SnapshotOutcome } from '../../../lib/cache/snapshots/request.ts';
import type { SnapshotCache } from '../../../lib/cache/snapshots/snapshot-cache.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';
import type { Platform } from './platform.ts';

/** Computing, and what the platform adds, while an instance cannot take another request. */
const busyMs = 2;
const recent = 16;
const tenSecondsMs = 10_000;

interface Instance {
  readonly cache: SnapshotCache;
  idleSince: number;
}

export class Fleet {
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #create: () => SnapshotCache;
  readonly #platform: Platform;
  readonly #idle: Instance[] = [];
  /** When instances were started, as far as the scaling rate counts them. */
  #starts: number[] = [];
  #tokens = 0;
  #countedAt = 0;
  /** Instances started so far. */
  size = 0;
  /** Requests that an instance has, or that wait for the instance that is started for them. */
  #inService = 0;
  peak = 0;
  /** Requests that the platform refused because of its own bounds. */
  refused = 0;

  constructor(time: VirtualTime, random: () => number, platform: Platform, create: () => SnapshotCache) {
    this.#time = time;
    this.#random = random;
    this.#platform = platform;
    this.#create = create;
  }

  /** Undefined when the platform refuses the request. */
  async serve(call: SnapshotCall): Promise<SnapshotOutcome | undefined> {
    const isOver = this.#isOverRate();
    const idle = isOver ? undefined : this.#takeIdle();
    if (isOver || (!idle && !this.#mayStart())) {
      this.refused++;
      return undefined;
    }
    this.#inService++;
    this.peak = Math.max(this.peak, this.#inService);
    const instance = idle ?? (await this.#start());
    const outcome = await instance.cache.ask(call);
    this.#time.after(busyMs, () => {
      this.#inService--;
      instance.idleSince = this.#time.now();
      this.#idle.push(instance);
    });
    return outcome;
  }

  /** Counts a request; a token bucket of one second. */
  #isOverRate(): boolean {
    const now = this.#time.now();
    const perSecond = this.#platform.maxInstances * this.#platform.requestsPerInstance;
    if (perSecond === Number.POSITIVE_INFINITY) return false;
    this.#tokens = Math.min(perSecond, this.#tokens + ((now - this.#countedAt) * perSecond) / 1000);
    this.#countedAt = now;
    if (this.#tokens < 1) return true;
    this.#tokens--;
    return false;
  }

  #takeIdle(): Instance | undefined {
    const oldest = this.#time.now() - this.#platform.idleMs;
    while (this.#idle[0] && this.#idle[0].idleSince < oldest) this.#idle.shift();
    const { length } = this.#idle;
    if (length === 0) return undefined;
    const at = Math.max(0, length - 1 - Math.floor(this.#random() * recent));
    return this.#idle.splice(at, 1)[0];
  }

  #mayStart(): boolean {
    const now = this.#time.now();
    if (this.#starts[0] !== undefined && this.#starts[0] <= now - tenSecondsMs)
      this.#starts = this.#starts.filter((at) => at > now - tenSecondsMs);
    return this.#inService < this.#platform.maxInstances && this.#starts.length < this.#platform.startsPer10s;
  }

  async #start(): Promise<Instance> {
    this.#starts.push(this.#time.now());
    this.size++;
    await this.#time.sleep(this.#platform.startMs * (0.8 + 0.4 * this.#random()));
    return { cache: this.#create(), idleSince: 0 };
  }
}
