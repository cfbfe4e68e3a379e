/**
 * Which function of this run fetched the records that a stream tells. Functions write what they fetch to the refresh log;
 * here each has a log of its own name. A deployment keeps none of it.
 */

import type { QuotePorts } from '../../functions/compose/ports.ts';
import type { RefreshRecord } from '../../lib/cache/snapshots/store.ts';

/** As the stream sees it. `channel`: the upstream told it by itself. */
export type Source = 'own_fetch' | 'other_fetch' | 'channel';

export interface QuoteOrigin {
  /** As the stream has it of the record: when the upstream was asked, or told it. */
  readonly at: number;
  readonly source: Source;
  /** The function. */
  readonly by: string;
}

type Noted = Pick<RefreshRecord, 'view' | 'symbols'> & QuoteOrigin;

export interface QuoteOrigins {
  /** The same ports, of one function: what it fetches is noted. */
  noting<P extends Pick<QuotePorts, 'snapshots'>>(by: string, ports: P): P;
  /** What did not come by a refresh. */
  note(origin: Noted): void;
  /** By symbol, the newest first. */
  of(view: string, symbols: readonly string[]): Readonly<Record<string, readonly QuoteOrigin[]>>;
}

/** Some seconds of a run in which every function refreshes. */
const kept = 60;

/** The function of streams. */
export const ofStreams = 'quote-streams';

/**
 * @example
 * const origins = createQuoteOrigins();
 * start(group(offer), env, origins.noting('market-data', ports));
 */
export function createQuoteOrigins(): QuoteOrigins {
  let all: readonly Noted[] = [];
  const note = (origin: Noted) => {
    all = [origin, ...all.slice(0, kept - 1)];
  };
  return {
    note,
    noting: (by, ports) => ({
      ...ports,
      snapshots: (table, upstream) => (partition) => {
        const store = ports.snapshots(table, upstream)(partition);
        return {
          ...store,
          write(record) {
            const { view, symbols, sentAt: at, outcome } = record;
            const source = by === ofStreams ? 'own_fetch' : 'other_fetch';
            if (outcome.kind === 'answer') note({ view, symbols, at, source, by });
            return store.write(record);
          },
        };
      },
    }),
    of(view, symbols) {
      const inView = all.filter((one) => one.view === view);
      return Object.fromEntries(
        symbols.map((symbol) => [
          symbol,
          inView
            .filter((one) => one.symbols.includes(symbol))
            .map(({ at, source, by }) => ({ at, source, by })),
        ]),
      );
    },
  };
}
