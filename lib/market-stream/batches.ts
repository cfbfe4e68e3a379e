/** What the sessions tell, as batches for all instances: changes several times a second, and whole ones in between. */

import { type StreamedChange, type StreamedLog, wholeEveryMs } from '../cache/snapshots/index.ts';
import { isTorn, type StreamSession, type SymbolState } from './session.ts';

/** In a quiet market a sign of life is written this often. */
const signEveryMs = 1000;

export class Batches {
  readonly #log: StreamedLog;
  readonly #sessions: readonly StreamSession[];
  #sequence: number | undefined;
  /** What the last whole batch said that is carried, as one text. */
  #carried = '';
  #writtenAt = Number.NEGATIVE_INFINITY;
  #wholeAt = Number.NEGATIVE_INFINITY;
  #hasChanged = false;

  constructor(log: StreamedLog, sessions: readonly StreamSession[]) {
    this.#log = log;
    this.#sessions = sessions;
  }

  /** Writes what is new, if anything is. Rejects when the log cannot be written; the next batch is then a whole one. */
  async write(now: number): Promise<void> {
    const groups = this.#sessions.flatMap(groupsOf);
    const changes = this.#sessions.flatMap((session) => session.takeChanged());
    this.#hasChanged ||= changes.length > 0;
    const carried = groups.map(({ category, states }) => ({
      category,
      symbols: states.map(({ symbol }) => symbol),
    }));
    const carriedNow = JSON.stringify(carried);
    const isWhole = this.#isWholeDue(carriedNow, now);
    if (!isWhole && changes.length === 0 && now - this.#writtenAt < signEveryMs) return;
    const told = isWhole ? groups.flatMap(({ states }) => states) : changes;
    // Whether a write that failed was made after all, the log says.
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

interface Group {
  readonly category: string;
  readonly signAt: number;
  readonly states: readonly SymbolState[];
}

/** What one session carries, by category. */
function groupsOf({ carried, signAt }: StreamSession): readonly Group[] {
  const groups = new Map<string, SymbolState[]>();
  for (const state of carried) {
    const states = groups.get(state.category) ?? [];
    states.push(state);
    groups.set(state.category, states);
  }
  return [...groups].map(([category, states]) => ({ category, signAt, states }));
}

const changeOf = ({ category, symbol, members }: SymbolState): StreamedChange => ({
  category,
  symbol,
  members: { ...members },
});
