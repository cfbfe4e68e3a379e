/** What memory holds of what a client asks for, and what he gets of it. */

import { ageLimit, type SnapshotCall, type SnapshotOutcome } from './call.ts';
import type { SnapshotMemory } from './memory.ts';
import type { SnapshotOptions } from './options.ts';
import { longestSymbol } from './store.ts';
import type { SnapshotEntry } from './view-entries.ts';

export interface ReadResult {
  readonly found: readonly SnapshotEntry[];
  /** Older than wished for, but better than nothing. */
  readonly older: readonly SnapshotEntry[];
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
}

interface Ground {
  readonly board: SnapshotMemory;
  readonly figures: SnapshotOptions;
  readonly now: number;
}

interface Looker extends Ground {
  /** Whether the upstream may be asked for a symbol that the directory does not list. */
  readonly mayProbe: boolean;
}

export function readMemory(
  { view, symbols, ...call }: SnapshotCall,
  arrived: number,
  { board, figures, now, mayProbe }: Looker,
): ReadResult {
  const sheet = board.sheet(view.id);
  const limit = ageLimit(call, figures);
  const looked = {
    found: [] as SnapshotEntry[],
    older: [] as SnapshotEntry[],
    missing: [] as string[],
    unknown: [] as string[],
  };
  for (const symbol of symbols) {
    const line = sheet.lines.get(symbol);
    if (line && arrived - line.sentAt <= limit) looked.found.push(line);
    else if (line && now - line.sentAt <= figures.expireAfterMs) looked.older.push(line);
    else if (symbol.length > longestSymbol || board.unknown(view.id, symbol, now))
      looked.unknown.push(symbol);
    else if (!mayProbe && board.isUnlisted(view.id, symbol)) looked.unknown.push(symbol);
    else looked.missing.push(symbol);
  }
  return looked;
}

export function outcomeOf(
  { view, symbols, maxAgeMs }: SnapshotCall,
  { found, older, missing, unknown }: ReadResult,
  from: 'memory' | 'own-turn' | 'other-turn',
  {
    board,
    figures,
    now,
    isSpent,
    testDueAt,
    retryAfterMs,
  }: Ground & { readonly isSpent: boolean; readonly testDueAt: number; readonly retryAfterMs: number },
): SnapshotOutcome {
  const denied = board.denial(view.id, now);
  if (denied && missing.length > 0) return { kind: 'refused', says: denied };
  if (missing.length > 0) {
    return {
      kind: 'unavailable',
      known: [...found, ...older],
      missing,
      retryAfterMs: Math.max(retryAfterMs, testDueAt - now),
      isSpent,
    };
  }
  if (unknown.length > 0 && unknown.length === symbols.length) {
    const says = unknown.map((symbol) => board.unknown(view.id, symbol, now)?.says).find((one) => one);
    if (says) return { kind: 'refused', says };
  }
  const sheet = board.sheet(view.id);
  const quotes = symbols.flatMap((symbol) => sheet.lines.get(symbol) ?? []);
  const oldest = quotes.reduce((least, { sentAt }) => Math.min(least, sentAt), now);
  return {
    kind: 'quotes',
    quotes,
    ageMs: now - oldest,
    unknown,
    from,
    stale: now - oldest > figures.staleAfterMs,
    isWish: maxAgeMs !== undefined,
    pollAfterMs: Math.ceil(sheet.lines.size / figures.mostSymbols) * figures.paceMs,
  };
}
