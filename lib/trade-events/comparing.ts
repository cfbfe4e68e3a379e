/**
 * When to compare: after each subscription, again when lists cannot lag behind it any more, and then every few minutes,
 * because a stream that looks healthy may deliver nothing. A stream that did not deliver what a comparison found is ended.
 */

import { backOffMs } from '../kernel/pauses.ts';
import type { EventListening, LookUp } from './listening.ts';
import { type Comparison, type ComparisonCall, compareOrders, lookUpOrder } from './reconcile.ts';
import type { EventStream } from './stream.ts';

/** A list of orders lags behind by no more than this. */
export const lagMs = 30_000;
export const defaultCompareMs = 300_000;
const failedPause = { firstMs: 5_000, maxMs: 60_000 };

/** Knowledge that a comparison leaves to the next one. */
interface ComparisonProgress {
  /** Comparisons that failed since the last one that did not. */
  failures: number;
  /** The last comparison, the stream beside it, and the accounts in which it failed. */
  previous?: {
    readonly stream: EventStream;
    readonly startedAt: number;
    readonly failed: Comparison['failed'];
  };
}

/** Compares when it is time, until the shift is over. Steps under way then are left behind: they write nothing false. */
export async function keepComparing(listening: EventListening): Promise<void> {
  const { clock, agenda, shift } = listening;
  const { over } = shift;
  const progress: ComparisonProgress = { failures: 0 };
  const aborted = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve()));
  while (!over.aborted) {
    const waitMs = agenda.nextAt - clock();
    if (waitMs > 0) await agenda.bell.wait(listening, Math.min(waitMs, 60_000), over);
    else await Promise.race([doDue(listening, progress), aborted]);
  }
}

async function doDue(listening: EventListening, progress: ComparisonProgress): Promise<void> {
  const { clock, report, agenda, shift } = listening;
  for (const entry of agenda.lookUps) if (entry[1].at <= clock()) await lookUp(listening, entry);
  if (agenda.compareAt > clock()) return;
  try {
    await compare(listening, progress);
  } catch (cause) {
    if (shift.over.aborted) return;
    report({ kind: 'failed', step: 'compare', cause });
    agenda.compareAt = clock() + backOffMs(failedPause, progress.failures++);
  }
}

/** A look-up that fails is made again, and keeps no other and no comparison waiting. */
async function lookUp(listening: EventListening, [key, due]: readonly [string, LookUp]): Promise<void> {
  const { clock, report, shift, agenda } = listening;
  const isLast = () => agenda.lookUps.get(key)?.at === due.at;
  try {
    await lookUpOrder(listening, due, await callOf(listening, false));
    if (isLast()) agenda.lookUps.delete(key);
  } catch (cause) {
    if (shift.over.aborted) return;
    report({ kind: 'failed', step: 'compare', cause });
    const at = clock() + backOffMs(failedPause, due.failures);
    if (isLast()) agenda.lookUps.set(key, { ...due, at, failures: due.failures + 1 });
  }
}

async function compare(listening: EventListening, progress: ComparisonProgress): Promise<void> {
  const { clock, report, lease, upstreamClock, tuning, shift, stream, agenda } = listening;
  const { compareEveryMs = defaultCompareMs } = tuning ?? {};
  const { previous } = progress;
  const startedAt = clock();
  const comparedAt = upstreamClock.now();
  const age = stream?.isHealthy ? startedAt - (stream.state.subscribedAt ?? startedAt) : 0;
  // The comparison before was late enough to find all that is older than this stream.
  const isBeside = stream?.isHealthy === true && previous?.stream === stream;
  const isSettled = isBeside && previous.startedAt - stream.state.subscribedAt! >= lagMs;
  const call = await callOf(listening, isSettled);
  const { orders, reconciled, failed } = await compareOrders(listening, call);
  const compared: Record<string, number> = {};
  for (const [account, since] of call.since) {
    const now = failed.has(account) ? 0 : comparedAt;
    compared[await accountName(listening, account)] = Math.max(now, since + lagMs);
  }
  if (shift.over.aborted) return;
  for (const cause of failed.values()) report({ kind: 'failed', step: 'compare', cause });
  const { comparedAt: before = 0, comparedByAccount } = lease.state;
  lease.note({
    comparedAt: Math.max(comparedAt, before),
    comparedByAccount: { ...comparedByAccount, ...compared },
  });
  // Changes that an account shows again may be older than the stream.
  const isBack = [...(previous?.failed.keys() ?? [])].some((account) => !failed.has(account));
  const mute = isSettled && reconciled > 0 && !isBack && stream.isHealthy;
  report({ kind: 'compared', orders, reconciled, mute });
  // A newer stream has asked for a comparison of its own.
  if (!stream || listening.stream !== stream) return;
  progress.previous = { stream, startedAt, failed };
  const nextAt = startedAt + (age >= lagMs ? compareEveryMs : lagMs);
  // A failure in one account may pass soon. One that stays is tried as often as all accounts are compared, in the end.
  const again = { ...failedPause, maxMs: compareEveryMs };
  const { failures } = progress;
  agenda.compareAt = failed.size > 0 ? Math.min(nextAt, clock() + backOffMs(again, failures)) : nextAt;
  progress.failures = failed.size > 0 ? failures + 1 : 0;
  if (mute) stream.end('mute');
}

const accountName = ({ names }: EventListening, account: string) => names.nameOf('account', account);

async function callOf(listening: EventListening, isSettled: boolean): Promise<ComparisonCall> {
  const { lease, upstreamClock, accountList } = listening;
  const { comparedAt = upstreamClock.now(), comparedByAccount = {} } = lease.state;
  const since = new Map<string, number>();
  for (const account of accountList.known) {
    const last = comparedByAccount[await accountName(listening, account)] ?? comparedAt;
    since.set(account, last - lagMs);
  }
  return { since, isSettled };
}
