/**
 * When to compare: after each subscription, again when lists cannot lag behind it any more, and then every few minutes,
 * because a stream that looks healthy may deliver nothing. One that did not deliver what a comparison found is ended.
 */

import { backOffMs } from '../kernel/pauses.ts';
import { Bell } from '../listener/runtime.ts';
import type { ShiftParts } from './ports.ts';
import { type Comparison, type ComparisonCall, Reconciler } from './reconcile.ts';
import type { Stream } from './stream.ts';

interface ComparingCallbacks {
  /** The present stream, or the last one. */
  readonly stream: () => Stream | undefined;
  readonly accounts: () => readonly string[];
}

interface LookUp {
  readonly account: string;
  readonly clientOrderId: string;
  readonly at: number;
  readonly failures: number;
}

/** A replacement is followed by another one within this more often than later. */
const lookAfterMs = 1_000;
/** A list of orders lags behind by no more than this. */
export const lagMs = 30_000;
export const defaultCompareMs = 300_000;
const failedPause = { firstMs: 5_000, maxMs: 60_000 };

export class Comparing {
  readonly #parts: ShiftParts;
  readonly #callbacks: ComparingCallbacks;
  readonly #reconciler: Reconciler;
  readonly #bell = new Bell();
  #compareAt = Number.POSITIVE_INFINITY;
  #failures = 0;
  /** By order: what is looked up twice is looked up once. */
  readonly #lookUps = new Map<string, LookUp>();
  /** The last comparison, beside which stream it was, and the accounts that it failed in. */
  #previous:
    | { readonly stream: Stream; readonly startedAt: number; readonly failed: Comparison['failed'] }
    | undefined;

  constructor(parts: ShiftParts, callbacks: ComparingCallbacks) {
    this.#parts = parts;
    this.#callbacks = callbacks;
    this.#reconciler = new Reconciler(parts);
  }

  /** At once: there was a gap. */
  compareNow(): void {
    this.#compareAt = this.#parts.clock();
    this.#bell.ring();
  }

  lookUpSoon({ account, clientOrderId }: Pick<LookUp, 'account' | 'clientOrderId'>): void {
    const at = this.#parts.clock() + lookAfterMs;
    this.#lookUps.set(JSON.stringify([account, clientOrderId]), { account, clientOrderId, at, failures: 0 });
    this.#bell.ring();
  }

  /** Compares when it is time, until the signal aborts. What is under way then is left behind: it changes nothing false. */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    while (!signal.aborted) {
      const waitMs = Math.min(this.#compareAt, ...[...this.#lookUps.values()].map(({ at }) => at)) - clock();
      if (waitMs > 0) await this.#bell.wait(this.#parts, Math.min(waitMs, 60_000), signal);
      else await Promise.race([this.#workOff(signal), aborted]);
    }
  }

  async #workOff(signal: AbortSignal): Promise<void> {
    const { clock, report } = this.#parts;
    for (const entry of this.#lookUps) if (entry[1].at <= clock()) await this.#lookUp(entry, signal);
    if (this.#compareAt > clock()) return;
    try {
      await this.#compare(signal);
    } catch (cause) {
      if (signal.aborted) return;
      report({ kind: 'failed', step: 'compare', cause });
      this.#compareAt = clock() + backOffMs(failedPause, this.#failures++);
    }
  }

  /** One that fails is made again, and keeps no other and no comparison waiting. */
  async #lookUp([key, lookUp]: readonly [string, LookUp], signal: AbortSignal): Promise<void> {
    const { clock, report } = this.#parts;
    const { at, failures } = lookUp;
    const isLast = () => this.#lookUps.get(key)?.at === at;
    try {
      await this.#reconciler.lookUp(lookUp, await this.#call(signal, false));
      if (isLast()) this.#lookUps.delete(key);
    } catch (cause) {
      if (signal.aborted) return;
      report({ kind: 'failed', step: 'compare', cause });
      const again = clock() + backOffMs(failedPause, failures);
      if (isLast()) this.#lookUps.set(key, { ...lookUp, at: again, failures: failures + 1 });
    }
  }

  async #compare(signal: AbortSignal): Promise<void> {
    const { clock, report, lease, upstreamNow, tuning } = this.#parts;
    const { compareEveryMs = defaultCompareMs } = tuning ?? {};
    const stream = this.#callbacks.stream();
    const startedAt = clock();
    const comparedAt = upstreamNow();
    const age = stream?.isHealthy ? startedAt - (stream.state.subscribedAt ?? startedAt) : 0;
    // The one before was late enough to find all that is older than this stream.
    const isBeside = stream?.isHealthy === true && this.#previous?.stream === stream;
    const isSettled = isBeside && this.#previous!.startedAt - stream.state.subscribedAt! >= lagMs;
    const call = await this.#call(signal, isSettled);
    const { orders, reconciled, failed } = await this.#reconciler.compare(call);
    const compared: Record<string, number> = {};
    for (const [account, since] of call.since) {
      const now = failed.has(account) ? 0 : comparedAt;
      compared[await this.#nameOf(account)] = Math.max(now, since + lagMs);
    }
    if (signal.aborted) return;
    for (const cause of failed.values()) report({ kind: 'failed', step: 'compare', cause });
    const { comparedAt: before = 0, comparedByAccount } = lease.state;
    lease.note({
      comparedAt: Math.max(comparedAt, before),
      comparedByAccount: { ...comparedByAccount, ...compared },
    });
    // What an account shows again may be older than the stream.
    const isBack = [...(this.#previous?.failed.keys() ?? [])].some((account) => !failed.has(account));
    const mute = isSettled && reconciled > 0 && !isBack && stream.isHealthy;
    report({ kind: 'compared', orders, reconciled, mute });
    // A newer stream has asked for a comparison of its own.
    if (!stream || this.#callbacks.stream() !== stream) return;
    this.#previous = { stream, startedAt, failed };
    const nextAt = startedAt + (age >= lagMs ? compareEveryMs : lagMs);
    // What failed in one account may pass soon. What does not is tried as often as all is compared, in the end.
    const again = { ...failedPause, maxMs: compareEveryMs };
    this.#compareAt = failed.size > 0 ? Math.min(nextAt, clock() + backOffMs(again, this.#failures)) : nextAt;
    this.#failures = failed.size > 0 ? this.#failures + 1 : 0;
    if (mute) stream.end('mute');
  }

  #nameOf = (account: string) => this.#parts.names.nameOf('account', account);

  async #call(signal: AbortSignal, isSettled: boolean): Promise<ComparisonCall> {
    const { lease, upstreamNow } = this.#parts;
    const { comparedAt = upstreamNow(), comparedByAccount = {} } = lease.state;
    const since = new Map<string, number>();
    for (const account of this.#callbacks.accounts()) {
      const last = comparedByAccount[await this.#nameOf(account)] ?? comparedAt;
      since.set(account, last - lagMs);
    }
    return { since, signal, isSettled };
  }
}
