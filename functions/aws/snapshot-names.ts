/**
 * The stored names of members and kinds. They stay as the first version wrote them, because instances of two versions
 * read the same table while a deployment replaces one by the other.
 */

import type {
  Checkpoint,
  Control,
  Fetched,
  RefreshKind,
  RefreshOutcome,
  RefreshRecord,
  UpstreamError,
} from '../../lib/cache/snapshots/index.ts';

export type StoredKind = 'refresh' | 'wanted' | 'test';

const storedKinds: Readonly<Record<RefreshKind, StoredKind>> = {
  refresh: 'refresh',
  miss: 'wanted',
  probe: 'test',
};
const kinds: Readonly<Record<StoredKind, RefreshKind>> = {
  refresh: 'refresh',
  wanted: 'miss',
  test: 'probe',
};

export const toStoredKind = (kind: RefreshKind): StoredKind => storedKinds[kind];
export const fromStoredKind = (kind: StoredKind): RefreshKind => kinds[kind];

/** Undefined members are not written. */
type Stored<T> = { readonly [K in keyof T]: T[K] | undefined };

type Refusal = Exclude<RefreshOutcome, { kind: 'answer' }>;
type StoredRefusal =
  | { readonly kind: 'rejected'; readonly says: UpstreamError }
  | { readonly kind: 'denied'; readonly says: UpstreamError; readonly until: number }
  | Extract<Refusal, { kind: 'failed' }>;

export function toStoredOutcome(outcome: Refusal): StoredRefusal {
  if (outcome.kind === 'failed') return outcome;
  if (outcome.kind === 'rejected') return { kind: 'rejected', says: outcome.error };
  return { kind: 'denied', says: outcome.error, until: outcome.until };
}

export function fromStoredOutcome(outcome: StoredRefusal): Refusal {
  if (outcome.kind === 'failed') return outcome;
  if (outcome.kind === 'rejected') return { kind: 'rejected', error: outcome.says };
  return { kind: 'forbidden', error: outcome.says, until: outcome.until };
}

type Lists = Readonly<Record<string, readonly (string | number)[]>>;

/** What stands before the snapshots of a log record. */
export interface StoredRecord
  extends Pick<RefreshRecord, 'view' | 'sentAt' | 'symbols'>,
    Stored<Pick<RefreshRecord, 'sibling' | 'caller' | 'priority' | 'namesUnknown'>> {
  readonly v: number;
  readonly by: RefreshRecord['writer'];
  readonly kind: StoredKind;
  readonly isProbe: true | undefined;
  readonly failedTests: RefreshRecord['failedProbes'];
  readonly unknown: RefreshRecord['negative'];
  readonly outcome: StoredRefusal | { readonly kind: 'answer'; readonly unknown: readonly string[] };
  /** By view: symbol and times. */
  readonly asked: Lists;
}

export interface StoredFetched
  extends Pick<Fetched, 'view' | 'sentAt'>,
    Stored<Pick<Fetched, 'namesUnknown'>> {
  readonly isDoubtful: true | undefined;
  /** Of its snapshots, in bytes. */
  readonly length: number;
}

/** What stands before the snapshots of a checkpoint. */
export interface StoredCheckpoint {
  readonly v: number;
  readonly turn: number;
  readonly at: number;
  readonly unknown: Checkpoint['negative'];
  readonly past: readonly (readonly [at: number, kind: StoredKind, caller: string])[];
  readonly failedTests: Checkpoint['failedProbes'];
  readonly denials: Checkpoint['forbidden'];
  readonly pause: Checkpoint['pause'];
  readonly groups: readonly StoredFetched[];
  /** By view: symbol, times, and seconds since it was requested. */
  readonly demand: Lists;
}

/** The control item beside its sequence number and the calls under way. */
export interface StoredPlan {
  readonly due: Readonly<Record<StoredKind, number>>;
  readonly tests: Control['probes'];
  readonly checkpoint: {
    readonly turn: number;
    readonly at: number;
    readonly records: number;
    readonly gap: number;
  };
}

export const toStoredPlan = ({ due, probes, checkpoint }: Omit<Control, 'flights'>): StoredPlan => ({
  due: { refresh: due.refresh, wanted: due.miss, test: due.probe },
  tests: probes,
  checkpoint: {
    turn: checkpoint.sequence,
    at: checkpoint.at,
    records: checkpoint.records,
    gap: checkpoint.gap,
  },
});

/** What an older version wrote lacks members: then those of `none` count. */
export const fromStoredPlan = (
  { due, tests, checkpoint }: Partial<StoredPlan>,
  none: Control,
): Pick<Control, 'due' | 'probes' | 'checkpoint'> => ({
  due: due ? { refresh: due.refresh, miss: due.wanted, probe: due.test } : none.due,
  probes: tests ?? none.probes,
  checkpoint: checkpoint
    ? { sequence: checkpoint.turn, at: checkpoint.at, records: checkpoint.records, gap: checkpoint.gap }
    : none.checkpoint,
});
