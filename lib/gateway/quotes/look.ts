/** What memory holds of what a client asks for, and what he gets of it. */

import type { Board } from './board.ts';
import { ageLimit, type QuoteCall, type QuoteOutcome } from './calls.ts';
import type { Figures } from './figures.ts';
import type { Line } from './sheet.ts';
import { longestSymbol } from './store.ts';

export interface Looked {
  readonly found: readonly Line[];
  /** Older than wished for, but better than nothing. */
  readonly older: readonly Line[];
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
}

interface Ground {
  readonly board: Board;
  readonly figures: Figures;
  readonly now: number;
}

interface Looker extends Ground {
  /** Whether the upstream may be asked for a symbol that the directory does not list. */
  readonly mayProbe: boolean;
}

export function look(
  { view, symbols, ...call }: QuoteCall,
  arrived: number,
  { board, figures, now, mayProbe }: Looker,
): Looked {
  const sheet = board.sheet(view.id);
  const limit = ageLimit(call, figures);
  const looked = {
    found: [] as Line[],
    older: [] as Line[],
    missing: [] as string[],
    unknown: [] as string[],
  };
  for (const symbol of symbols) {
    const line = sheet.lines.get(symbol);
    if (line && arrived - line.sentAt <= limit) looked.found.push(line);
    else if (line && now - line.sentAt <= figures.hardBoundMs) looked.older.push(line);
    else if (symbol.length > longestSymbol || board.unknown(view.id, symbol, now))
      looked.unknown.push(symbol);
    else if (!mayProbe && board.isUnlisted(view.id, symbol)) looked.unknown.push(symbol);
    else looked.missing.push(symbol);
  }
  return looked;
}

export function outcomeOf(
  { view, symbols, maxAgeMs }: QuoteCall,
  { found, older, missing, unknown }: Looked,
  from: 'memory' | 'own-turn' | 'other-turn',
  {
    board,
    figures,
    now,
    isSpent,
    testDueAt,
    retryAfterMs,
  }: Ground & { readonly isSpent: boolean; readonly testDueAt: number; readonly retryAfterMs: number },
): QuoteOutcome {
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
    stale: now - oldest > figures.boundMs,
    isWish: maxAgeMs !== undefined,
    pollAfterMs: Math.ceil(sheet.lines.size / figures.mostSymbols) * figures.paceMs,
  };
}
