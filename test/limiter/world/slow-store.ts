/** The limiter's own memory store, as far away as a real one, and with what can go wrong in between. */

import {
  createMemoryLimiterStore,
  type LimiterItem,
  type LimiterStore,
  StoreThrottled,
  type WriteAnswer,
} from '../../../lib/limiter/index.ts';
import type { Random } from '../../world/random.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';
import { bytesOf, KeyUnits, readUnits, type UnitKind, type Units, writeUnits } from './key-units.ts';

export const worldKey = 'world';

export type StoreFault =
  /** Rejects at once as throttled, and changes nothing. */
  | 'throttled'
  /** Rejects at once with something else, and changes nothing. */
  | 'unavailable'
  /** Never answers; nothing is written. */
  | 'silent'
  /** Written, but the answer takes two seconds. */
  | 'slow'
  /** Answers with an invalid item. */
  | 'invalid';

export interface Operations {
  reads: number;
  writes: number;
  refused: number;
  failed: number;
}

/** One instance's way to the store. */
export interface Connection {
  /** Hands over what comes back. */
  readonly gate: (run: () => void) => void;
  /** The instance's number, for `fault`. */
  readonly instance: number;
}

export interface SlowStoreOptions {
  /** Default none. */
  readonly unitCap?: Units | undefined;
  /** One operation in a hundred takes ten times as long, one in a thousand a hundred times. */
  readonly tail?: boolean | undefined;
}

/** One operation on its way. */
interface Operation<T> {
  readonly kind: UnitKind;
  /** The size of the item, when the operation arrives. */
  readonly bytes: () => number;
  readonly run: () => Promise<T>;
  readonly count: (answer: T) => void;
}

export class SlowStore {
  readonly operations: Operations = { reads: 0, writes: 0, refused: 0, failed: 0 };
  readonly units: KeyUnits;
  fault: (now: number, instance: number) => StoreFault | undefined = () => undefined;
  readonly #inner = createMemoryLimiterStore();
  readonly #clock: VirtualTime;
  readonly #random: Random;
  readonly #hasTail: boolean;
  /** The size of each item as it was last written, available without a promise in between. */
  readonly #sizes = new Map<string, number>();

  constructor(clock: VirtualTime, random: Random, { unitCap, tail = false }: SlowStoreOptions = {}) {
    this.#clock = clock;
    this.#random = random;
    this.#hasTail = tail;
    this.units = new KeyUnits(clock, unitCap);
  }

  async bytes(): Promise<number> {
    return bytesOf(await this.#inner.read(worldKey));
  }

  /** Puts in the item's place one that holds no schedule. */
  async spoil(): Promise<void> {
    const item = await this.#inner.read(worldKey);
    await this.#inner.replace(worldKey, item, { ...item!, revision: 'spoilt', text: '{"version":0}' }, 0);
  }

  connect(connection: Connection): LimiterStore {
    const inner = this.#inner;
    const sizeOf = (key: string) => this.#sizes.get(key) ?? 0;
    const countWrite = (key: string) => (answer: WriteAnswer) => {
      this.operations.writes++;
      if (!answer.written) this.operations.refused++;
      this.#sizes.set(key, bytesOf(answer.item));
    };
    return {
      read: (key) =>
        this.#send(connection, {
          kind: 'read',
          bytes: () => sizeOf(key),
          run: () => inner.read(key),
          count: () => this.operations.reads++,
        }),
      add: (key, ...args) =>
        this.#send(connection, {
          kind: 'write',
          bytes: () => sizeOf(key),
          run: () => inner.add(key, ...args),
          count: countWrite(key),
        }),
      replace: (key, expected, next, expiresAt) =>
        this.#send(connection, {
          kind: 'write',
          bytes: () => Math.max(sizeOf(key), bytesOf(next)),
          run: () => inner.replace(key, expected, next, expiresAt),
          count: countWrite(key),
        }),
    };
  }

  #send<T>({ gate, instance }: Connection, { kind, bytes, run, count }: Operation<T>): Promise<T> {
    const clock = this.#clock;
    return new Promise((resolve, reject) => {
      const wayMs = this.#wayMs();
      clock.after(wayMs, () => {
        const fault = this.fault(clock.now(), instance);
        const isLost = fault === 'silent' || fault === 'throttled' || fault === 'unavailable';
        if (isLost) this.operations.failed++;
        if (fault === 'silent') return;
        const backMs = fault === 'slow' ? 2000 : wayMs;
        const answer = (deliver: () => void) => clock.after(backMs, () => gate(deliver));
        if (fault === 'unavailable') return void answer(() => reject(new Error('unavailable')));
        if (fault === 'throttled' || !this.#take(kind, bytes()))
          return void answer(() => reject(new StoreThrottled()));
        void run().then((result) => {
          count(result);
          answer(() => resolve(fault === 'invalid' ? (invalid(result) as T) : result));
        });
      });
    });
  }

  #wayMs(): number {
    const wayMs = 2 + this.#random() * 2;
    if (!this.#hasTail) return wayMs;
    const luck = this.#random();
    return luck < 0.001 ? wayMs * 100 : luck < 0.01 ? wayMs * 10 : wayMs;
  }

  #take(kind: UnitKind, bytes: number): boolean {
    return this.units.take(kind, kind === 'read' ? readUnits(bytes) : writeUnits(bytes));
  }
}

function invalid(result: unknown): unknown {
  const item: LimiterItem = {
    revision: 'x',
    counters: { 'market-data': Number.NaN },
    text: '[]',
    writtenAt: Number.NaN,
  };
  return result && typeof result === 'object' && 'written' in result ? { written: true, item } : item;
}
