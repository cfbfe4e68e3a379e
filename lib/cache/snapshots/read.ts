/** What memory holds of what a call asks for, and the outcome that it makes. */

import { ageMsOf } from '../../kernel/age.ts';
import { ageLimit, type SnapshotCall, type SnapshotOutcome } from './call.ts';
import type { SnapshotMemory } from './memory.ts';
import type { SnapshotOptions } from './options.ts';
import { maxSymbolLength } from './pending-miss.ts';
import type { SnapshotEntry } from './view-entries.ts';

export interface ReadResult {
  readonly found: readonly SnapshotEntry[];
  /** Older than wished for, but better than nothing. */
  readonly older: readonly SnapshotEntry[];
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
}

interface ReadContext {
  readonly memory: SnapshotMemory;
  readonly options: SnapshotOptions;
  readonly now: number;
}

/** @param mayProbe whether the upstream may be asked for a symbol that the directory does not list */
export function readMemory(
  { view, symbols, ...call }: SnapshotCall,
  arrivedAt: number,
  { memory, options, now, mayProbe }: ReadContext & { readonly mayProbe: boolean },
): ReadResult {
  const { entries } = memory.entriesOf(view.id);
  const limit = ageLimit(call, options);
  const found: SnapshotEntry[] = [];
  const older: SnapshotEntry[] = [];
  const missing: string[] = [];
  const unknown: string[] = [];
  for (const symbol of symbols) {
    const entry = entries.get(symbol);
    const ageMs = entry ? Math.max(arrivedAt - entry.sentAt, entry.sentAt - now) : 0;
    if (entry && ageMs <= limit) found.push(entry);
    else if (entry && ageMsOf(entry.sentAt, now) <= options.expireAfterMs) older.push(entry);
    else if (symbol.length > maxSymbolLength || memory.negativeEntry(view.id, symbol, now))
      unknown.push(symbol);
    else if (!mayProbe && memory.isUnlisted(view.id, symbol)) unknown.push(symbol);
    else missing.push(symbol);
  }
  return { found, older, missing, unknown };
}

interface OutcomeContext extends ReadContext {
  readonly isOverQuota: boolean;
  /** When the next probe is due. */
  readonly probeDueAt: number;
  readonly retryAfterMs: number;
}

export function outcomeOf(
  { view, symbols, maxAgeMs }: SnapshotCall,
  { found, older, missing, unknown }: ReadResult,
  from: 'memory' | 'own-call' | 'other-call',
  { memory, options, now, isOverQuota, probeDueAt, retryAfterMs }: OutcomeContext,
): SnapshotOutcome {
  const forbidden = memory.upstream.forbidden(view.id, now);
  if (forbidden && missing.length > 0) return { kind: 'refused', error: forbidden };
  if (missing.length > 0)
    return {
      kind: 'unavailable',
      cached: [...found, ...older],
      missing,
      retryAfterMs: Math.max(retryAfterMs, probeDueAt - now),
      isOverQuota,
    };
  if (unknown.length > 0 && unknown.length === symbols.length) {
    const errors = unknown.map((symbol) => memory.negativeEntry(view.id, symbol, now)?.error);
    const error = errors.find((one) => one);
    if (error) return { kind: 'refused', error };
  }
  const { entries } = memory.entriesOf(view.id);
  const quotes = symbols.flatMap((symbol) => entries.get(symbol) ?? []);
  const ageMs = quotes.reduce((most, { sentAt }) => Math.max(most, ageMsOf(sentAt, now)), 0);
  return {
    kind: 'snapshots',
    snapshots: quotes,
    ageMs,
    unknown,
    from,
    stale: ageMs > options.staleAfterMs,
    hasMaxAge: maxAgeMs !== undefined,
    pollAfterMs: Math.ceil(entries.size / options.maxSymbols) * options.paceMs,
  };
}
