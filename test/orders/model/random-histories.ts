/** Many random histories, each of a seed of its own, and what they come to. */

import type { Subject } from './history.ts';
import { runRandomHistory } from './random-history.ts';
import type { RestoreSubject } from './tables.ts';
import type { Finding } from './witness.ts';

export interface Figures {
  readonly histories: number;
  readonly requests: number;
  readonly placements: number;
  /** Clients that heard of an unknown outcome, or nothing. */
  readonly unknowns: number;
  /** Restores of the journal. */
  readonly restores: number;
  /** Until such a client knows the truth. */
  readonly settledSeconds: { readonly p50: number; readonly p99: number; readonly max: number };
}

export interface SeededFinding extends Finding {
  readonly seed: number;
}

/** @param most it ends after so many findings */
export async function liveHistories(
  count: number,
  subject: Subject,
  {
    firstSeed = 0,
    most = 5,
    report = (_histories: number, _findings: number) => {},
    restores,
  }: {
    readonly firstSeed?: number;
    readonly most?: number;
    readonly report?: (histories: number, findings: number) => void;
    /** With it the journal is restored in each of them. */
    readonly restores?: RestoreSubject;
  } = {},
): Promise<{ readonly findings: readonly SeededFinding[]; readonly figures: Figures }> {
  const findings: SeededFinding[] = [];
  const settled: number[] = [];
  let [histories, requests, placements, restored] = [0, 0, 0, 0];
  for (; histories < count && findings.length < most; histories++) {
    const seed = firstSeed + histories;
    const lived = await runRandomHistory(seed, subject, restores);
    restored += lived.restores;
    requests += lived.requests;
    placements += lived.placements;
    for (const ms of lived.settledMs) settled.push(ms);
    for (const finding of lived.findings) findings.push({ seed, ...finding });
    report(histories, findings.length);
  }
  settled.sort((a, b) => a - b);
  const at = (part: number) => Math.round((settled[Math.floor(part * (settled.length - 1))] ?? 0) / 100) / 10;
  const settledSeconds = { p50: at(0.5), p99: at(0.99), max: at(1) };
  return {
    findings,
    figures: {
      histories,
      requests,
      placements,
      unknowns: settled.length,
      restores: restored,
      settledSeconds,
    },
  };
}
