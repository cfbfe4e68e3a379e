/** Requests that wait for permissions of the same kind, in one instance. */

import type { Validity } from './permit.ts';
import type { Priority } from './priorities.ts';

export interface Waiter {
  /** When it stops waiting; another time when the instance has followed another's clock meanwhile. */
  readonly deadline: number;
  readonly give: (slot: Validity, left: number) => void;
  readonly refuse: (reason: RefusalReason, notBefore: number) => void;
}

/**
 * `used_up`: by us or others on the same app key; `closed`: the upstream itself refused lately; `store_busy`:
 * the store throttles requests, or too many write at once; `store_unavailable`: it is unavailable.
 */
export type RefusalReason = 'exhausted' | 'blocked' | 'store_busy' | 'store_unavailable';

export interface WaitQueue {
  readonly limits: readonly [string, ...string[]];
  readonly priority: Priority;
  waiters: Waiter[];
  /** The store is not asked before. */
  notBefore: number;
  reason: RefusalReason;
  /** How far apart the instances that were refused ask again, in milliseconds. */
  spread: number;
  /** Requests that were refused since one was served. */
  turnedAway: number;
}

/** The spread of those with few requests; it grows with each that is turned away, after the first few. */
const spreadMs = 500;
const fewTurnedAway = 6;
const spreadForEachMs = 500;
const longestSpreadMs = 12_000;

export function refuseUntil(
  line: WaitQueue,
  at: { readonly notBefore: number; readonly earliest: number; readonly reason: RefusalReason },
  now: number,
  random: () => number,
): void {
  line.notBefore = Math.max(at.notBefore, now);
  line.reason = at.reason;
  const isHopeless = (deadline: number) => deadline < Math.max(at.earliest, line.notBefore);
  const patient = line.waiters.filter(({ deadline }) => !isHopeless(deadline));
  line.turnedAway += line.waiters.length - patient.length;
  const patienceMs = Math.max(0, ...patient.map(({ deadline }) => deadline - now));
  // Under a hundredfold demand hardly any ask succeeds, and each is paid for; the patient need not hurry.
  const most = spreadOf(line) + patienceMs / 4;
  line.spread = Math.min(longestSpreadMs, most, Math.max(100, line.spread * 2));
  // A random part, so that not all who were told the same time come at it.
  line.notBefore += 10 + random() * line.spread;
  refuseThose(line, isHopeless, line.reason, () => line.notBefore);
}

/**
 * While the store is not asked: requests that cannot wait so long are refused, each told a time of its own,
 * further apart the more there are.
 */
export function refuseWithoutStore(
  line: WaitQueue,
  at: { readonly askedAgain: number; readonly shareAt: number; readonly reason: RefusalReason },
  now: number,
  random: () => number,
): void {
  const isHopeless = (deadline: number) => deadline < at.askedAgain;
  line.turnedAway += line.waiters.filter(({ deadline }) => isHopeless(deadline)).length;
  const spread = Math.min(longestSpreadMs, at.askedAgain - now + spreadOf(line));
  const notBefore = () => Math.max(now, Math.min(at.shareAt, at.askedAgain + random() * spread));
  refuseThose(line, isHopeless, at.reason, notBefore);
}

const spreadOf = ({ turnedAway }: WaitQueue): number =>
  spreadMs + spreadForEachMs * Math.max(0, turnedAway - fewTurnedAway);

export function refuseThose(
  line: WaitQueue,
  hopeless: (deadline: number) => boolean,
  reason: RefusalReason,
  notBefore: () => number,
): void {
  const { waiters } = line;
  line.waiters = waiters.filter(({ deadline }) => !hopeless(deadline));
  for (const waiter of waiters) if (hopeless(waiter.deadline)) waiter.refuse(reason, notBefore());
}

/** The earliest permission goes to the least patient of those who can wait for it. */
export function serve(line: WaitQueue, slots: readonly Validity[], left: number, now: number): void {
  line.spread /= 4;
  line.turnedAway = 0;
  const waiters = [...line.waiters].sort((a, b) => a.deadline - b.deadline);
  for (const slot of slots) {
    // What is for now is for everybody, though somebody's time may have run out while the store was asked.
    const index = waiters.findIndex(({ deadline }) => deadline >= slot.validFrom || slot.validFrom <= now);
    const [waiter] = index < 0 ? [] : waiters.splice(index, 1);
    waiter?.give(slot, left);
  }
  line.waiters = waiters;
}
