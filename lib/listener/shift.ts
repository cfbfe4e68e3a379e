/**
 * One listener at a time, by a lease:
 *
 *     run ── work? ── no ──► refused
 *             │  ▲
 *             ▼  └──────────────────── lost, or the lease is another ◄──┐
 *          acquire ── held by another ──► not needed                    │
 *             │ acquired                                                │
 *             ▼                                                         │
 *          work: tasks, renewals beside them                            │
 *             │ over: the time is up, a stop, a loss, an end by a task  │
 *             ▼                                                         │
 *          settle ──► release ──► close ────────────────────────────────┴──► listened, lease lost, refused
 */

import { acquireLease, type Lease, type LeaseCall, type LeaseParts } from './lease.ts';

/** Port of a schedule: a listener that another one is in front of ends by itself. */
export interface LeasedListener {
  /**
   * Waits for the lease, listens until `until`, hands over, and resolves. Resolves early where another listener renews
   * the lease, which it does every few seconds, and means to hold it beyond `until`. Never listens without the lease.
   */
  run(call: ListenerCall): Promise<RunReport>;
}

interface ListenerCall {
  readonly until: number;
  readonly signal?: AbortSignal;
}

export interface RunReport {
  readonly result: 'listened' | 'not_needed' | 'lease_lost' | 'refused';
}

/** The end of a shift. */
interface ShiftEnd extends RunReport {
  /** The listener asks for the lease again, while it has time. Without success its run ends with this. */
  readonly again?: RunReport;
}

/** Work that needs a lease. */
export interface LeasedWork extends Pick<LeaseCall, 'name' | 'prepare'> {
  /** Called once the lease is there. */
  readonly start: (shift: Shift) => ShiftWork;
}

/** Work of a listener while it has the lease. */
export interface ShiftWork {
  /** Begins tasks that go on until the shift is over. */
  begin(): readonly Promise<void>[];
  /** A task has rejected: a defect. */
  fail(cause: unknown): void;
  /** Resolves when a successor may have the lease. It is renewed until then. */
  settle(tasks: Promise<unknown>): Promise<void>;
  /** Ends tasks that went on beside the successor. */
  close(isLost: boolean): Promise<ShiftEnd>;
}

/** @param next undefined where there is nothing to listen with; called again after each shift */
export async function runLeased(
  parts: LeaseParts,
  { until, signal = new AbortController().signal }: ListenerCall,
  next: () => Promise<LeasedWork | undefined>,
): Promise<RunReport> {
  const owner = crypto.randomUUID();
  for (let otherwise: RunReport = { result: 'not_needed' }; ; ) {
    const work = await next();
    if (!work) return { result: 'refused' };
    const lease = await acquireLease(parts, { ...work, owner, endsAt: until, signal });
    if (!lease) return otherwise;
    const { result, again } = await new Shift(parts, lease, { until, signal }).run(work);
    if (!again || signal.aborted || parts.clock() >= until) return { result };
    otherwise = again;
  }
}

const reportEveryMs = 60_000;

export class Shift {
  readonly lease: Lease;
  /** Aborts when the shift is over. */
  readonly over: AbortSignal;
  /** The stop of the whole run. */
  readonly stopped: AbortSignal;
  result: RunReport['result'] = 'listened';
  readonly #parts: LeaseParts;
  readonly #until: number;
  readonly #over = new AbortController();

  constructor(parts: LeaseParts, lease: Lease, { until, signal }: Required<ListenerCall>) {
    this.lease = lease;
    this.over = this.#over.signal;
    this.stopped = signal;
    this.#parts = parts;
    this.#until = until;
  }

  /** The first result counts. */
  end(result: RunReport['result'] = 'listened'): void {
    if (this.over.aborted) return;
    this.result = result;
    this.#over.abort();
  }

  async run({ start }: LeasedWork): Promise<ShiftEnd> {
    const stop = () => this.end();
    this.stopped.addEventListener('abort', stop);
    this.lease.lost.addEventListener('abort', () => this.end('lease_lost'));
    if (this.stopped.aborted) this.end();
    const work = start(this);
    const settled = new AbortController();
    const leaseIsKept = this.lease.keep(settled.signal);
    const tasks = work.begin().map((task) => task.catch((cause: unknown) => work.fail(cause)));
    if (!this.over.aborted)
      await new Promise((resolve) => this.over.addEventListener('abort', resolve, { once: true }));
    // The stop of a run outlives its shifts.
    this.stopped.removeEventListener('abort', stop);
    await work.settle(Promise.all(tasks));
    settled.abort();
    await leaseIsKept;
    const isLost = this.lease.lost.aborted;
    await this.lease.release();
    return work.close(isLost);
  }

  /** A task of the shift: repeats a step, for the first time after one interval. */
  async each(everyMs: number, task: () => Promise<void>): Promise<void> {
    for (;;) {
      await this.#parts.pause(everyMs, this.over);
      if (this.over.aborted) return;
      await task();
    }
  }

  /** A task of the shift: reports each minute, and ends the shift when its time is up. */
  async watchTime(report: () => void): Promise<void> {
    const { clock, pause } = this.#parts;
    for (let reportAt = clock() + reportEveryMs; !this.over.aborted; ) {
      await pause(Math.min(reportAt, this.#until) - clock(), this.over);
      if (clock() >= this.#until) return this.end();
      if (this.over.aborted || clock() < reportAt) continue;
      report();
      reportAt += reportEveryMs;
    }
  }
}
