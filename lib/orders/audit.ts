/**
 * The audit of orders: writes a line into an append-only store for each change of the journal, and publishes settled
 * requests on an event bus.
 */

import type { KeyedNames } from '../access/directory.ts';
import { type AuditLine, auditLineOf, type EntryChange } from './audit-line.ts';
import { type OrderSettledEvent, settledEvent } from './settled-event.ts';

/** Port to the store of audit lines, which are added and read, and never changed or removed. */
export interface OrderAuditStore {
  /** @returns false when the line is there already; it then stays as it is */
  append(line: AuditLine): Promise<boolean>;
  /**
   * The lines from `since` to before `until`, oldest first; lines of the same moment are in the order of their sequence
   * numbers.
   *
   * @param since in milliseconds since the epoch
   * @param until in milliseconds since the epoch
   */
  read(since: number, until: number): AsyncIterable<AuditLine>;
}

/** Port to the bus of events about orders. */
interface OrderEventBus {
  /** @returns for each event whether the bus accepted it */
  publish(events: readonly OrderSettledEvent[]): Promise<readonly boolean[]>;
}

interface OrderAuditOptions {
  readonly store: Pick<OrderAuditStore, 'append'>;
  readonly bus: OrderEventBus;
  readonly names: KeyedNames;
  /** Called when a line could not be added; `cause` names no account and no order. */
  readonly reportFailure: (cause: unknown) => void;
}

/** Result of auditing some changes. */
interface Audited {
  /** Lines that were added. */
  readonly added: number;
  /** Changes that were audited before. */
  readonly repeated: number;
  /** Events that the bus accepted. */
  readonly settled: number;
  /** Lines without a record, because it was sealed with another identity key. */
  readonly unreadable: number;
  /** Changes that must be delivered again, because the store or the bus did not accept them. */
  readonly failed: readonly EntryChange[];
}

export interface OrderAudit {
  /** Adds a line for each change, then publishes the requests that the changes settled, each at least once. */
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
      // A repeated change is published, too: its event may have been lost the first time.
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

/** An audit store in memory, for tests and for one process. @example const audit = createOrderAudit({ store: createMemoryOrderAudit(), bus, names }); */
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
