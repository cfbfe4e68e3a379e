/**
 * The audit of orders: each change of the journal becomes a line of a store to which lines are only added, and what was
 * settled is told on a bus.
 */

import type { KeyedNames } from '../access/directory.ts';
import { type AuditLine, auditLineOf, type EntryChange } from './audit-line.ts';
import { type OrderSettledEvent, settledEvent } from './settled-event.ts';

/** Port: lines are added and read; none is changed or removed. */
export interface OrderAuditStore {
  /** @returns false when the line is there already; it then stays as it is */
  append(line: AuditLine): Promise<boolean>;
  /**
   * The lines of that time, oldest first; those of one moment by their sequence, as a number.
   *
   * @param since in milliseconds since the epoch
   * @param until no longer among them
   */
  read(since: number, until: number): AsyncIterable<AuditLine>;
}

/** Port: the bus of events about orders. */
export interface OrderEventBus {
  /** @returns for each event whether the bus has taken it */
  publish(events: readonly OrderSettledEvent[]): Promise<readonly boolean[]>;
}

export interface OrderAuditOptions {
  readonly store: Pick<OrderAuditStore, 'append'>;
  readonly bus: OrderEventBus;
  readonly names: KeyedNames;
  /** A line that could not be added; no account and no order is in it. */
  readonly reportFailure: (cause: unknown) => void;
}

/** What became of some changes. */
export interface Audited {
  /** Lines that were added. */
  readonly added: number;
  /** Changes that were audited before. */
  readonly repeated: number;
  /** Events that the bus has taken. */
  readonly settled: number;
  /** Lines without contents, because these were sealed with another identity key. */
  readonly unreadable: number;
  /** Changes that must come again: the store or the bus did not take them. */
  readonly failed: readonly EntryChange[];
}

export interface OrderAudit {
  /** Adds a line for each change, then publishes what was settled by it: at least once. */
  take(changes: readonly EntryChange[]): Promise<Audited>;
}

/**
 * @example
 * const audit = createOrderAudit({ store: createMemoryOrderAudit(), bus, names });
 * const { failed } = await audit.take(changes);
 */
export function createOrderAudit({ store, bus, names, reportFailure }: OrderAuditOptions): OrderAudit {
  async function add(change: EntryChange): Promise<Added> {
    const line = auditLineOf(change);
    if (!line) return { change, result: 'nothing' };
    try {
      const event = await settledEvent(line, names);
      const isNew = await store.append(line);
      return { change, line, event, result: isNew ? 'added' : 'repeated' };
    } catch (cause) {
      reportFailure(cause);
      return { change, line, result: 'failed' };
    }
  }
  return {
    async take(changes) {
      const all = await Promise.all(changes.map(add));
      // Also of a repetition: its event may have been lost the first time.
      const told = all.flatMap(({ change, event }) => (event ? [{ change, event }] : []));
      const taken = told.length > 0 ? await bus.publish(told.map(({ event }) => event)) : [];
      const untold = new Set(told.flatMap(({ change }, index) => (taken[index] ? [] : [change])));
      const count = (result: Added['result']) => all.filter((one) => one.result === result).length;
      return {
        added: count('added'),
        repeated: count('repeated'),
        settled: taken.filter(Boolean).length,
        unreadable: all.filter(({ line }) => line && !line.record).length,
        failed: all.flatMap(({ change, result }) =>
          result === 'failed' || untold.has(change) ? [change] : [],
        ),
      };
    },
  };
}

interface Added {
  readonly change: EntryChange;
  readonly line?: AuditLine;
  readonly event?: OrderSettledEvent | undefined;
  readonly result: 'nothing' | 'added' | 'repeated' | 'failed';
}

/** For tests, and for one process. @example const audit = createOrderAudit({ store: createMemoryOrderAudit(), bus, names }); */
export function createMemoryOrderAudit(): OrderAuditStore {
  const lines = new Map<string, AuditLine>();
  return {
    async append(line) {
      if (lines.has(line.id)) return false;
      lines.set(line.id, line);
      return true;
    },
    async *read(since, until) {
      yield* [...lines.values()].filter(({ at }) => at >= since && at < until).sort(byTime);
    },
  };
}

const byTime = (a: AuditLine, b: AuditLine): number =>
  a.at - b.at || a.sequence.length - b.sequence.length || (a.sequence < b.sequence ? -1 : 1);
