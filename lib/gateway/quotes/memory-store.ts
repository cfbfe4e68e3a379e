/** A quote store for one process: the local run, and tests. */

import { type Control, type Entry, mostWants, noControl, type QuoteStore } from './store.ts';

/** Far more turns than anybody looks back. */
const keptTurns = 1024;

export function createMemoryQuoteStore(): QuoteStore {
  let control: Control = noControl;
  const entries = new Map<number, Entry>();
  return {
    async read(after, missing) {
      const found: Entry[] = [];
      for (const turn of missing) {
        const entry = entries.get(turn);
        if (entry && (after === undefined || turn <= after)) found.push(entry);
      }
      if (after !== undefined)
        for (let turn = Math.max(after + 1, control.turn - keptTurns); turn <= control.turn; turn++) {
          const entry = entries.get(turn);
          if (entry) found.push(entry);
        }
      return { control, entries: found };
    },
    async take({ takesWants, ...next }) {
      if (control.turn !== next.turn - 1) return { taken: false, control };
      const taken = new Set(takesWants);
      control = { ...next, wants: control.wants.filter((key) => !taken.has(key)) };
      return { taken: true };
    },
    async want(keys) {
      const wants = new Set([...control.wants, ...keys]);
      if (control.wants.length < mostWants) control = { ...control, wants: [...wants] };
      return control;
    },
    async write(entry) {
      entries.set(entry.turn, entry);
      entries.delete(entry.turn - keptTurns);
    },
  };
}
