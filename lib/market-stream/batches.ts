/** Writes what the sessions tell, as batches for all instances: changes several times a second, and whole ones in between. */

import { type StreamedChange, type StreamedLog, wholeEveryMs } from '../cache/snapshots/index.ts';
import { carriedBy, isTorn, type MarketSession, type SymbolState, takeChanged } from './session.ts';

/** In a quiet market a sign of life is written this often. */
const signEveryMs = 1000;

export class Batches {
  readonly #log: StreamedLog;
  readonly #sessions: readonly MarketSession[];
  #sequence: number | undefined;
  /** The symbols that the last whole batch named as carried, as one text. */
  #carried = '';
  #writtenAt = Number.NEGATIVE_INFINITY;
  #wholeAt = Number.NEGATIVE_INFINITY;
  #hasChanged = false;

  constructor(log: StreamedLog, sessions: readonly MarketSession[]) {
    this.#log = log;
    this.#sessions = sessions;
  }

  /** Writes what is new, if anything is. Rejects when the log cannot be written; the next batch is then a whole one. */
  async write(now: number): Promise<void> {
    const groups = this.#sessions.flatMap(groupsOf);
    const changes = this.#sessions.flatMap(takeChanged);
    this.#hasChanged ||= changes.length > 0;
    const carried = groups.map(({ category, states }) => ({
      category,
      symbols: states.map(({ symbol }) => symbol),
    }));
    const carriedNow = JSON.stringify(carried);
    const isWhole = this.#isWholeDue(carriedNow, now);
    if (!isWhole && changes.length === 0 && now - this.#writtenAt < signEveryMs) return;
    const told = isWhole ? groups.flatMap(({ states }) => states) : changes;
    // The log shows whether a write that failed was made after all.
    const sequence = (this.#sequence ?? (await this.#log.last())) + 1;
    this.#sequence = undefined;
    const batch = {
      sequence,
      at: now,
      signs: groups.map(({ signAt }) => Math.max(0, signAt)),
      torn: groups.map(({ states }) => states.filter(isTorn).map(({ symbol }) => symbol)),
      changes: told.map(changeOf),
      ...(isWhole && { carried }),
    };
    if (!(await this.#log.write(batch))) return;
    this.#sequence = sequence;
    this.#writtenAt = now;
    if (!isWhole) return;
    this.#carried = carriedNow;
    this.#wholeAt = now;
    this.#hasChanged = false;
  }

  #isWholeDue(carried: string, now: number): boolean {
    if (this.#sequence === undefined || carried !== this.#carried) return true;
    return now - this.#wholeAt >= wholeEveryMs[this.#hasChanged ? 'busy' : 'quiet'];
  }
}

/** The symbols that one session carries, by category. */
function groupsOf(session: MarketSession) {
  const groups = new Map<string, SymbolState[]>();
  for (const state of carriedBy(session)) {
    const states = groups.get(state.category) ?? [];
    states.push(state);
    groups.set(state.category, states);
  }
  return [...groups].map(([category, states]) => ({ category, signAt: session.life.signAt, states }));
}

const changeOf = ({ category, symbol, members }: SymbolState): StreamedChange => ({
  category,
  symbol,
  members: { ...members },
});
