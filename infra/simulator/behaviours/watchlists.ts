import type {
  addWatchlistInstruments,
  createWatchlist,
  deleteWatchlist,
  updateWatchlist,
} from '../../../lib/catalogue/index.ts';
import type { BodyIn } from '../parameters.ts';
import { illegalParameter, type Rejection, refuse } from '../refusal.ts';
import { maxInstruments, maxLists, type Watchlist, type WatchlistEntry } from '../watchlist-book.ts';
import type { World } from '../world.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { findInstrument, isRefusal } from './find.ts';

type WatchlistBody = BodyIn<typeof addWatchlistInstruments>;

/** Changes answer with a bare boolean, as seen live; the vendor's pages show an object. `false` is a failure despite its 200. */
const successAnswer = answer(true);
/** It was not seen which failures are a `false`; here, a missing list is one. */
const failureAnswer = answer(false);

export const watchlists: Behaviours = {
  listWatchlists: (_call, { watchlists: book }) =>
    answer(
      book.all.map(({ id, name, sort, createdAt, updatedAt }) => ({
        watchlist_id: id,
        name,
        sort,
        create_time: createdAt,
        update_time: updatedAt,
      })),
    ),

  createWatchlist: ({ body, now }, { watchlists: book }) => {
    const { name, sort } = body as BodyIn<typeof createWatchlist>;
    if (book.all.length >= maxLists)
      return refuse(417, 'TOO_MANY_WATCHLISTS', `At most ${maxLists} watchlists`);
    return answer({ watchlist_id: book.create(name, sort, now).id });
  },

  updateWatchlist: ({ body, now }, { watchlists: book }) => {
    const { watchlist_id: id, name, sort } = body as BodyIn<typeof updateWatchlist>;
    const list = book.find(id);
    if (!list) return failureAnswer;
    if (name === '') return illegalParameter('name');
    book.change(list, { ...(name !== undefined && { name }), ...(sort !== undefined && { sort }) }, now);
    return successAnswer;
  },

  deleteWatchlist: ({ body }, { watchlists: book }) => {
    const { watchlist_id: id } = body as BodyIn<typeof deleteWatchlist>;
    if (!book.find(id)) return failureAnswer;
    book.delete(id);
    return successAnswer;
  },

  listWatchlistInstruments: ({ query }, { watchlists: book }) => {
    const list = book.find(query.watchlist_id!);
    if (!list) return illegalParameter('watchlist_id');
    const entries = [...list.entries.values()].sort((a, b) => b.sort - a.sort || a.addedAt - b.addedAt);
    return answer({
      watchlist_id: list.id,
      instruments: entries.map(({ instrument, sort, addedAt }) => ({
        instrument_id: instrument.instrumentId,
        symbol: instrument.symbol,
        name: instrument.name,
        exchange_code: instrument.exchangeCode,
        category: instrument.category,
        sort,
        added_time: addedAt,
      })),
    });
  },

  /** Adds instruments; one that is in the list already keeps one entry, at the place that was sent last. */
  addWatchlistInstruments: ({ body, now }, world) =>
    changeEntries(body as WatchlistBody, world, now, (entries, { symbol, instrument, sort }) => {
      const known = entries.get(symbol);
      const highest = Math.max(0, ...[...entries.values()].map((entry) => entry.sort));
      entries.set(symbol, {
        instrument,
        sort: sort ?? known?.sort ?? highest + 1,
        addedAt: known?.addedAt ?? now,
      });
    }),

  removeWatchlistInstruments: ({ body, now }, world) =>
    changeEntries(body as WatchlistBody, world, now, (entries, { symbol }) => {
      entries.delete(symbol);
    }),

  /** Moves entries; symbols that are not in the list are ignored. */
  updateWatchlistInstruments: ({ body, now }, world) =>
    changeEntries(body as WatchlistBody, world, now, (entries, { symbol, sort }) => {
      const known = entries.get(symbol);
      if (known && sort !== undefined) entries.set(symbol, { ...known, sort });
    }),
};

interface WatchlistChange {
  readonly symbol: string;
  readonly instrument: WatchlistEntry['instrument'];
  readonly sort: number | undefined;
}

/** Checks all symbols before it changes anything. */
function changeEntries(
  { watchlist_id: id, instruments }: WatchlistBody,
  world: World,
  now: number,
  change: (entries: Map<string, WatchlistEntry>, asked: WatchlistChange) => void,
) {
  const list = world.watchlists.find(id);
  if (!list) return failureAnswer;
  const entries = new Map(list.entries);
  for (const { symbol, category, sort } of instruments) {
    const instrument = findInstrument(world, symbol, category);
    if (isRefusal(instrument)) return instrument;
    change(entries, { symbol, instrument, sort });
  }
  const refusal = tooMany(world, list, entries);
  if (refusal) return refusal;
  world.watchlists.change(list, { entries }, now);
  return successAnswer;
}

function tooMany(
  { watchlists: book }: World,
  list: Watchlist,
  entries: ReadonlyMap<string, WatchlistEntry>,
): Rejection | undefined {
  const size = book.size - list.entries.size + entries.size;
  return size > maxInstruments && entries.size > list.entries.size
    ? refuse(417, 'TOO_MANY_INSTRUMENTS', `At most ${maxInstruments} instruments in all watchlists`)
    : undefined;
}
