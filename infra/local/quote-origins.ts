/**
 * Records which function of this run fetched the records that a stream sends. Functions write what they fetch to the refresh
 * log; here each function has a log of its own name. A deployment keeps none of this.
 */

import type { QuotePorts } from '../../functions/compose/ports.ts';
import type { RefreshRecord } from '../../lib/cache/snapshots/store.ts';
import type { StreamedBatch } from '../../lib/cache/snapshots/streamed.ts';
import { viewOfId } from '../../lib/cache/snapshots/view.ts';

/** Origin from the stream's point of view; `channel` is the upstream's real-time channel. */
export type QuoteSource = 'own_fetch' | 'other_fetch' | 'channel';

export interface QuoteOrigin {
  /** Record's time as the stream has it: when the upstream was asked, or when its channel sent the record. */
  readonly at: number;
  readonly source: QuoteSource;
  /** Name of the function. */
  readonly by: string;
}

type NotedFetch = Pick<RefreshRecord, 'view' | 'symbols'> & QuoteOrigin;

/** Symbols that the channel carries, and the moments until which it sent all their changes. */
interface CarriedQuotes {
  readonly category: string;
  readonly symbols: readonly string[];
  at: readonly number[];
}

const keyOf = ({ category, symbols }: Omit<CarriedQuotes, 'at'>) => `${category} ${symbols}`;

export interface QuoteOrigins {
  /** Wraps the ports of one function, and notes what it fetches. */
  noting<P extends Pick<QuotePorts, 'snapshots'>>(by: string, ports: P): P;
  /** Wraps the ports of the listener on the upstream's channel, and notes what it receives. */
  listening<P extends Pick<QuotePorts, 'streamed'>>(ports: P): P;
  /** Finds the origins by symbol, the newest first. */
  of(view: string, symbols: readonly string[]): Readonly<Record<string, readonly QuoteOrigin[]>>;
}

/** Number of notes that are kept: some seconds of a run in which every function refreshes. */
const maxNotes = 60;

/** Names of the function that serves streams, and of the listener. */
export const ofStreams = 'quote-streams';
const ofListener = 'market-stream';

/**
 * @example
 * const origins = createQuoteOrigins();
 * start(group(offer), env, origins.noting('market-data', ports));
 */
export function createQuoteOrigins(): QuoteOrigins {
  let all: readonly NotedFetch[] = [];
  let carried: readonly CarriedQuotes[] = [];
  const hear = (batch: StreamedBatch) => {
    // The same list comes again every two seconds, and screens show a symbol's earlier records for longer.
    if (batch.carried)
      carried = batch.carried.map((one) => ({
        ...one,
        at: carried.find((before) => keyOf(before) === keyOf(one))?.at ?? [],
      }));
    batch.signs.forEach((signAt, index) => {
      const one = carried[index];
      if (one) one.at = [signAt, ...one.at.slice(0, maxNotes - 1)];
    });
  };
  const toldOf = (view: string, symbol: string): readonly QuoteOrigin[] =>
    carried
      .filter(({ category, symbols }) => viewOfId(view).category === category && symbols.includes(symbol))
      .flatMap(({ at }) => at.map((one) => ({ at: one, source: 'channel', by: ofListener })));
  const note = (origin: NotedFetch) => {
    all = [origin, ...all.slice(0, maxNotes - 1)];
  };
  return {
    listening: (ports) => ({
      ...ports,
      streamed: (table, upstream) => (partition) => {
        const log = ports.streamed(table, upstream)(partition);
        return {
          ...log,
          write(batch) {
            hear(batch);
            return log.write(batch);
          },
        };
      },
    }),
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
          [
            ...inView
              .filter((one) => one.symbols.includes(symbol))
              .map(({ at, source, by }) => ({ at, source, by })),
            ...toldOf(view, symbol),
          ].sort((a, b) => b.at - a.at),
        ]),
      );
    },
  };
}
