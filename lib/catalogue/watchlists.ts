/** Watchlists: lists of instruments that belong to the user of the app key. */

import * as v from 'valibot';
import { bothCategories, fromVendor, momentsAreIntegers, noSourceInText, ordinals } from './decided.ts';
import { describe } from './operation.ts';
import * as parameters from './parameters.ts';
import { integer, moment, ordinal, text } from './schemas.ts';

const done = v.pipe(
  v.union([v.boolean(), v.looseObject({ success: v.optional(v.boolean()) })]),
  v.title('WatchlistChange'),
);

const category = v.picklist(['US_STOCK', 'US_ETF']);

const changedInstruments = v.pipe(
  v.looseObject({
    watchlist_id: text,
    instruments: v.pipe(
      v.array(
        v.looseObject({
          symbol: text,
          category,
          sort: v.optional(v.pipe(integer, v.description('Place in the list.'))),
        }),
      ),
      v.minLength(1),
    ),
  }),
  v.title('WatchlistInstruments'),
);

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
      create_time: v.optional(moment),
      update_time: v.optional(moment),
    }),
  ),
  limit: 'market-data',
  example: {},
  sources: fromVendor,
  notes: ['Sorted by sort, highest first.', 'Shared with the user’s retail app lists.'],
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
  body: v.looseObject({ name: text, sort: v.optional(integer) }),
  response: v.looseObject({ watchlist_id: v.string() }),
  limit: 'market-data',
  sideEffect: { findOut: 'Read listWatchlists and look for the name before sending anything again.' },
  example: { body: { name: 'Dividend ideas', sort: 1 } },
  sources: fromVendor,
  notes: ['At most 20 lists per user, shared with the retail app.'],
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
  body: v.looseObject({ watchlist_id: text, name: v.optional(v.string()), sort: v.optional(integer) }),
  response: done,
  limit: 'market-data',
  sideEffect: { findOut: 'Read listWatchlists and compare before sending anything again.' },
  example: { body: { watchlist_id: '40218991', name: 'Dividend picks' } },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-sdk', 'vendor-docs'],
    response: ['vendor-docs'],
  },
  notes: ['Only the fields sent are changed.'],
  decisions: [noSourceInText],
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
  response: done,
  limit: 'market-data',
  sideEffect: { findOut: 'Read listWatchlists: a list that is gone was deleted.' },
  example: { body: { watchlist_id: '40218991' } },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-sdk', 'vendor-docs'],
    response: ['vendor-docs'],
  },
  notes: [
    'Removes the list with its instruments; cannot be undone.',
    'A POST, not a DELETE: the interface uses only GET and POST.',
  ],
  decisions: [noSourceInText],
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
          added_time: v.optional(moment),
        }),
      ),
    ),
  }),
  limit: 'market-data',
  example: { query: { watchlist_id: '40218837' } },
  sources: fromVendor,
  notes: ['Sorted by sort, highest first.', 'No paging.'],
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
  response: done,
  limit: 'market-data',
  sideEffect: { findOut: 'Read listWatchlistInstruments before sending anything again.' },
  example: {
    body: { watchlist_id: '40218837', instruments: [{ symbol: 'MSFT', category: 'US_STOCK', sort: 3 }] },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-sdk', 'vendor-docs'],
    response: ['vendor-docs'],
  },
  notes: [
    'At most 1000 instruments over all lists of a user.',
    'What happens on adding a symbol twice is not documented.',
    'Options, futures and event contracts cannot be added.',
  ],
  decisions: [noSourceInText, bothCategories],
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
  response: done,
  limit: 'market-data',
  sideEffect: { findOut: 'Read listWatchlistInstruments before sending anything again.' },
  example: { body: { watchlist_id: '40218837', instruments: [{ symbol: 'MSFT', category: 'US_STOCK' }] } },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-sdk', 'vendor-docs'],
    response: ['vendor-docs'],
  },
  decisions: [noSourceInText, bothCategories],
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
  response: done,
  limit: 'market-data',
  sideEffect: { findOut: 'Read listWatchlistInstruments and compare before sending anything again.' },
  example: {
    body: { watchlist_id: '40218837', instruments: [{ symbol: 'MSFT', category: 'US_STOCK', sort: 3 }] },
  },
  sources: {
    path: ['vendor-sdk', 'vendor-docs'],
    request: ['vendor-sdk', 'vendor-docs'],
    response: ['vendor-docs'],
  },
  notes: ['sort carries the new place; symbol and category find the entry.'],
  decisions: [noSourceInText, bothCategories],
});
