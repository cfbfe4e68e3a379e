/** Watchlists: lists of instruments that belong to the user of the app key. */

import * as v from 'valibot';
import { bothCategories, fromVendor, momentsAreIntegers, noSourceInText, ordinals } from './decided.ts';
import { accountState } from './freshness.ts';
import { inferred, inText, onPage, seen } from './notes.ts';
import { describe } from './operation.ts';
import { saysWhetherDone } from './outcomes.ts';
import * as parameters from './parameters.ts';
import { integer, momentOrNone, omittable, ordinal, text } from './schemas.ts';

/** Answer of a change: a bare boolean live, an object with it in the vendor's documents. */
const changeAnswer = v.pipe(
  v.union([
    v.boolean(),
    v.pipe(v.looseObject({ success: v.optional(v.boolean()) }), v.title('WatchlistChangeResult')),
  ]),
  v.title('WatchlistChange'),
);

const changeSources = {
  path: ['vendor-sdk', 'vendor-docs'],
  request: ['vendor-sdk', 'vendor-docs'],
  response: ['observed', 'vendor-docs'],
} as const;

const bareBoolean = seen('Answers a bare true or false. false is a failure, although the status is 200.');

const bothVerdicts =
  'A change answers a bare boolean live and an object with success in the docs: the type takes both, and the typed client rejects with outcome_unknown where either is false.';

const category = v.picklist(['US_STOCK', 'US_ETF']);

const changedInstruments = v.pipe(
  v.looseObject({
    watchlist_id: text,
    instruments: v.pipe(
      v.array(
        v.looseObject({
          symbol: text,
          category,
          sort: omittable(v.pipe(integer, v.description('Place in the list.'))),
        }),
      ),
      v.minLength(1),
    ),
  }),
  v.title('WatchlistInstruments'),
);

/** Watchlists are no orders: a change is recorded only for a client that may send it again, and so has set a key. */
const whenKeyed = { by: 'idempotency-key', unkeyed: 'not_recorded' } as const;

export const listWatchlists = describe({
  id: 'listWatchlists',
  group: 'watchlists',
  title: 'Get Watchlist',
  method: 'GET',
  path: '/market-data/watchlists/list',
  aliases: ['/openapi/market-data/watchlist/list'],
  query: {},
  response: v.array(
    v.looseObject({
      watchlist_id: v.optional(v.string()),
      name: v.optional(v.string()),
      sort: v.optional(ordinal),
      create_time: v.optional(momentOrNone),
      update_time: v.optional(momentOrNone),
    }),
  ),
  limit: 'market-data',
  freshness: accountState,
  example: {},
  sources: fromVendor,
  notes: [onPage('Sorted by sort, highest first.'), onPage('Shared with the user’s retail app lists.')],
  decisions: [noSourceInText, momentsAreIntegers, ordinals],
});

export const createWatchlist = describe({
  id: 'createWatchlist',
  group: 'watchlists',
  title: 'Create Watchlist',
  method: 'POST',
  path: '/market-data/watchlists/create',
  aliases: ['/openapi/market-data/watchlist/create'],
  query: {},
  body: v.looseObject({ name: text, sort: omittable(integer) }),
  response: v.looseObject({ watchlist_id: v.string() }),
  limit: 'market-data',
  sideEffect: {
    findOut: 'Read listWatchlists and look for the name before sending anything again.',
    saysOutcome: saysWhetherDone,
    journal: whenKeyed,
  },
  example: { body: { name: 'Dividend ideas', sort: 1 } },
  sources: fromVendor,
  notes: [onPage('At most 20 lists per user, shared with the retail app.')],
  decisions: [noSourceInText, 'Twenty lists are the documented limit; one place in the SDK says a thousand.'],
});

export const updateWatchlist = describe({
  id: 'updateWatchlist',
  group: 'watchlists',
  title: 'Update Watchlist',
  method: 'POST',
  path: '/market-data/watchlists/update',
  aliases: ['/openapi/market-data/watchlist/update'],
  query: {},
  body: v.looseObject({ watchlist_id: text, name: omittable(v.string()), sort: omittable(integer) }),
  response: changeAnswer,
  verdict: 'success',
  limit: 'market-data',
  sideEffect: {
    findOut: 'Read listWatchlists and compare before sending anything again.',
    saysOutcome: saysWhetherDone,
    journal: whenKeyed,
  },
  example: { body: { watchlist_id: '40218991', name: 'Dividend picks' } },
  sources: changeSources,
  notes: [onPage('Only the fields sent are changed.'), bareBoolean],
  decisions: [noSourceInText, bothVerdicts],
});

export const deleteWatchlist = describe({
  id: 'deleteWatchlist',
  group: 'watchlists',
  title: 'Delete Watchlist',
  method: 'POST',
  path: '/market-data/watchlists/delete',
  aliases: ['/openapi/market-data/watchlist/delete'],
  query: {},
  body: v.looseObject({ watchlist_id: text }),
  response: changeAnswer,
  verdict: 'success',
  limit: 'market-data',
  sideEffect: {
    findOut: 'Read listWatchlists: a list that is gone was deleted.',
    saysOutcome: saysWhetherDone,
    journal: whenKeyed,
  },
  example: { body: { watchlist_id: '40218991' } },
  sources: changeSources,
  notes: [
    onPage('Removes the list with its instruments; cannot be undone.'),
    inText('A POST, not a DELETE: the interface uses only GET and POST.'),
    bareBoolean,
  ],
  decisions: [noSourceInText, bothVerdicts],
});

export const listWatchlistInstruments = describe({
  id: 'listWatchlistInstruments',
  group: 'watchlists',
  title: 'Get Watchlist Instruments',
  method: 'GET',
  path: '/market-data/watchlists/instruments/list',
  aliases: ['/openapi/market-data/watchlist/instruments/list'],
  query: { watchlist_id: parameters.text({ description: 'List to read.', maxLength: 64 }) },
  response: v.looseObject({
    watchlist_id: v.optional(v.string()),
    instruments: v.optional(
      v.array(
        v.looseObject({
          instrument_id: v.optional(v.string()),
          symbol: v.optional(v.string()),
          name: v.optional(v.string()),
          exchange_code: v.optional(v.string()),
          category: v.optional(v.string()),
          sort: v.optional(ordinal),
          added_time: v.optional(momentOrNone),
        }),
      ),
    ),
  }),
  limit: 'market-data',
  freshness: accountState,
  example: { query: { watchlist_id: '40218837' } },
  sources: fromVendor,
  notes: [onPage('Sorted by sort, highest first.'), onPage('No paging.')],
  decisions: [noSourceInText, momentsAreIntegers, ordinals],
});

export const addWatchlistInstruments = describe({
  id: 'addWatchlistInstruments',
  group: 'watchlists',
  title: 'Add Instruments to Watchlist',
  method: 'POST',
  path: '/market-data/watchlists/instruments/add',
  aliases: ['/openapi/market-data/watchlist/instruments/add'],
  query: {},
  body: changedInstruments,
  response: changeAnswer,
  verdict: 'success',
  limit: 'market-data',
  sideEffect: {
    findOut: 'Read listWatchlistInstruments before sending anything again.',
    saysOutcome: saysWhetherDone,
    journal: whenKeyed,
  },
  example: {
    body: { watchlist_id: '40218837', instruments: [{ symbol: 'MSFT', category: 'US_STOCK', sort: 3 }] },
  },
  sources: changeSources,
  notes: [
    onPage('At most 1000 instruments over all lists of a user.'),
    inferred('What happens on adding a symbol twice is not documented.'),
    onPage('Options, futures and event contracts cannot be added.'),
    bareBoolean,
  ],
  decisions: [noSourceInText, bothCategories, bothVerdicts],
});

export const removeWatchlistInstruments = describe({
  id: 'removeWatchlistInstruments',
  group: 'watchlists',
  title: 'Remove Instruments from Watchlist',
  method: 'POST',
  path: '/market-data/watchlists/instruments/remove',
  aliases: ['/openapi/market-data/watchlist/instruments/remove'],
  query: {},
  body: changedInstruments,
  response: changeAnswer,
  verdict: 'success',
  limit: 'market-data',
  sideEffect: {
    findOut: 'Read listWatchlistInstruments before sending anything again.',
    saysOutcome: saysWhetherDone,
    journal: whenKeyed,
  },
  example: { body: { watchlist_id: '40218837', instruments: [{ symbol: 'MSFT', category: 'US_STOCK' }] } },
  sources: changeSources,
  notes: [bareBoolean],
  decisions: [noSourceInText, bothCategories, bothVerdicts],
});

export const updateWatchlistInstruments = describe({
  id: 'updateWatchlistInstruments',
  group: 'watchlists',
  title: 'Update Instruments Sort Order',
  method: 'POST',
  path: '/market-data/watchlists/instruments/update',
  aliases: ['/openapi/market-data/watchlist/instruments/update'],
  query: {},
  body: changedInstruments,
  response: changeAnswer,
  verdict: 'success',
  limit: 'market-data',
  sideEffect: {
    findOut: 'Read listWatchlistInstruments and compare before sending anything again.',
    saysOutcome: saysWhetherDone,
    journal: whenKeyed,
  },
  example: {
    body: { watchlist_id: '40218837', instruments: [{ symbol: 'MSFT', category: 'US_STOCK', sort: 3 }] },
  },
  sources: changeSources,
  notes: [onPage('sort carries the new place; symbol and category find the entry.'), bareBoolean],
  decisions: [noSourceInText, bothCategories, bothVerdicts],
});
