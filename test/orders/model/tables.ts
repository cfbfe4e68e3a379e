/**
 * The tables of a random history, of which the journal may be restored to any earlier time at any moment: as on AWS into
 * another table, so that requests that are under way go on with the old one. The audit is written from the journal's
 * stream, a while later; what of it a restore cuts off is lost.
 */

import {
  createMemoryCheckpoints,
  nextCheckpoint,
  type restoredTables,
} from '../../../lib/guard-rails/checkpoints.ts';
import { restoredControl, restoredScope } from '../../../lib/guard-rails/controls.ts';
import { type ControlStore, createMemoryControls } from '../../../lib/guard-rails/index.ts';
import { createMemoryOrderAudit } from '../../../lib/orders/audit.ts';
import { auditLineOf, type EntryChange } from '../../../lib/orders/audit-line.ts';
import type { CountingJournal, RecoverableJournal } from '../../../lib/orders/journal.ts';
import { withChanges } from '../../../lib/orders/journal-changes.ts';
import type { createMemoryOrderJournal, KeptJournal } from '../../../lib/orders/memory-journal.ts';
import type { ReconciliationOptions, reconcile } from '../../../lib/orders/reconcile.ts';
import type { SettlementOptions } from '../../../lib/orders/settle.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';

/** The code under test, of a gateway whose tables are restored. */
export interface RestoreSubject {
  readonly reconcile: typeof reconcile;
  readonly restoredTables: typeof restoredTables;
}

interface Table {
  readonly name: string;
  readonly kept: KeptJournal;
  readonly journal: CountingJournal & RecoverableJournal;
}

interface Copy extends KeptJournal {
  readonly at: number;
  readonly checkpoint: string;
}

const minute = 60_000;
/** AWS restores a table to a moment that is five minutes past at least. */
const leastAgoMs = 5 * minute;
const mostAgoMs = 30 * minute;
const controlsTable = 'controls';

export class Tables {
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #create: typeof createMemoryOrderJournal;
  readonly #subject: RestoreSubject | undefined;
  readonly #audit = createMemoryOrderAudit();
  readonly #checkpoints = new Map<string, string>();
  readonly #controls = createMemoryControls();
  readonly #copies: Copy[] = [];
  #current: Table;
  #isClosed = false;
  #restores = 0;

  constructor(
    time: VirtualTime,
    random: () => number,
    {
      create,
      subject,
    }: { readonly create: typeof createMemoryOrderJournal; readonly subject: RestoreSubject | undefined },
  ) {
    this.#time = time;
    this.#random = random;
    this.#create = create;
    this.#subject = subject;
    this.#current = this.#tableOf('journal-0', { entries: new Map(), counters: new Map() });
  }

  get journal(): Table['journal'] {
    return this.#current.journal;
  }

  /** From a restore until it is known what is open: no order is placed then, so that counters may lack some. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get restores(): number {
    return this.#restores;
  }

  /** @param limit of open notional; none: nothing is counted */
  limit(max_open_notional: string): void {
    this.#controls.set('stack', { limits: { max_open_notional } });
  }

  /** As an instance reads them that was started with the tables as they are now. */
  controls(): ControlStore {
    const { name } = this.#current;
    return {
      read: async (keys) => {
        const found = new Map(await this.#controls.read(keys));
        const tables = { journal: name, controls: controlsTable };
        const stored = await createMemoryCheckpoints(tables, this.#checkpoints).read();
        const isRestored = this.#subject && this.#subject.restoredTables(tables, stored).length > 0;
        return isRestored ? found.set(restoredScope, restoredControl) : found;
      },
    };
  }

  /** For a run of the settlement that is started now. */
  reconciling(options: SettlementOptions, orders: ReconciliationOptions['orders']): SettlementOptions {
    const { name, journal } = this.#current;
    const tables = { journal: name, controls: controlsTable };
    const checkpoints = createMemoryCheckpoints(tables, this.#checkpoints);
    const { names, clock = Date.now, sleep = this.#time.sleep, reportFailure = () => {} } = options;
    const own = { checkpoints, tables, audit: this.#audit, orders, names, clock, sleep, reportFailure };
    return {
      ...options,
      reconcile: async (until) => {
        const parts = { ...own, journal: { ...options.journal, recover: journal.recover } };
        const reconciled = await this.#subject?.reconcile(parts, until);
        if (this.#current.name === name && reconciled?.restored.length === 0) this.#isClosed = false;
        return reconciled;
      },
    };
  }

  /** Each minute: what a restore may bring back. */
  keep(): void {
    const { kept, name } = this.#current;
    const checkpoint = this.#checkpoints.get(name);
    // Of a stage whose first checkpoint is lost an operator has to say what is right.
    if (checkpoint === undefined) return;
    this.#copies.push({ at: this.#time.now(), ...copyOf(kept), checkpoint });
  }

  /** @returns whether there is a moment to restore the journal to */
  restore(): boolean {
    const now = this.#time.now();
    const able = this.#copies.filter(({ at }) => at <= now - leastAgoMs && at >= now - mostAgoMs);
    const copy = able[Math.floor(this.#random() * able.length)];
    if (!copy) return false;
    this.#restores++;
    // Sometimes under its old name: the table was deleted before.
    const name = this.#random() < 0.5 ? this.#current.name : `journal-${this.#restores}`;
    this.#checkpoints.set(name, copy.checkpoint);
    this.#current = this.#tableOf(name, copyOf(copy));
    this.#isClosed = true;
    return true;
  }

  /** An operator takes it as it is: nothing shows since when it lacks what was sent. */
  async confirm(): Promise<void> {
    const tables = { journal: this.#current.name, controls: controlsTable };
    const checkpoints = createMemoryCheckpoints(tables, this.#checkpoints);
    if (await nextCheckpoint(checkpoints, tables, this.#time.now(), ['journal'])) this.#isClosed = false;
  }

  #tableOf(name: string, kept: KeptJournal): Table {
    const journal = this.#create(kept);
    // So many of the last lines a restore cuts off.
    const lostMs = [0, 0, 10_000, minute][Math.floor(this.#random() * 4)]!;
    const table: Table = {
      name,
      kept,
      journal: withChanges(
        journal,
        (change) => this.#auditLater(change, () => table, lostMs),
        this.#time.now,
      ),
    };
    return table;
  }

  #auditLater(change: EntryChange, table: () => Table, lostMs: number): void {
    const line = auditLineOf(change);
    this.#time.after(lostMs + this.#random() * 3000, () => {
      if (line && (lostMs === 0 || table() === this.#current)) void this.#audit.append(line);
    });
  }
}

const copyOf = ({ entries, counters }: KeptJournal): KeptJournal => ({
  entries: new Map(entries),
  counters: new Map(counters),
});
