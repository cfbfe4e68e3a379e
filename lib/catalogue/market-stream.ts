/**
 * Subscriptions of the market-data stream: only the operator’s own client uses them, because it holds the connection that
 * they name; never a gateway.
 */

import * as v from 'valibot';
import { inferred, onPage, seen } from './notes.ts';
import { describe } from './operation.ts';
import { omittable, text } from './schemas.ts';

const sessionId = v.pipe(text, v.description('The client id of an open connection to the stream.'));

const symbols = v.pipe(
  v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(64))),
  v.minLength(1),
  v.maxLength(100),
  v.check((list) => new Set(list).size === list.length, 'symbols that differ'),
  v.description('Ticker symbols, each of them once.'),
);

const category = v.pipe(
  v.picklist(['US_STOCK', 'US_ETF', 'US_OPTION', 'US_CRYPTO']),
  v.description('Asset category of all symbols of the call.'),
);

const subTypes = v.pipe(
  v.array(v.picklist(['QUOTE', 'SNAPSHOT', 'TICK'])),
  v.minLength(1),
  v.description('What is pushed of each symbol: depth of book, snapshots, single trades.'),
);

/** Answer of a change: an object without members, or no body. Clients read the status alone. */
const changeAnswer = v.pipe(v.looseObject({}), v.title('MarketStreamChange'));

const sources = {
  path: ['vendor-sdk', 'vendor-docs'],
  request: ['observed', 'vendor-sdk', 'vendor-docs'],
  response: ['vendor-docs', 'inferred'],
} as const;

const decided = [
  'The path is that of the current SDK and page; the older family’s is the alias.',
  'SDKs send x-version v3 or v2 here: v3 it is, as everywhere else.',
  'A page allows each app key 60 requests in 60 s for each path, 30 in the sandbox; another knows no limit. The first holds, beside the limit of market data.',
  'A repeated request changes nothing, so these are no side effects: after a lost answer a client sends it again.',
] as const;

export const subscribeMarketData = describe({
  id: 'subscribeMarketData',
  group: 'market-stream',
  title: 'Subscribe',
  method: 'POST',
  path: '/market-data/streaming/subscribe',
  aliases: ['/openapi/market-data/streaming/subscribe'],
  query: {},
  body: v.looseObject({
    session_id: sessionId,
    symbols,
    category,
    sub_types: subTypes,
    grab: omittable(
      v.pipe(
        v.picklist(['true', 'false']),
        v.description('Whether this session takes the right to the data from another one.'),
      ),
    ),
    depth: omittable(
      v.pipe(v.string(), v.regex(/^[1-9]\d?$/), v.description('Price levels of the book; 10 when absent.')),
    ),
    overnight_required: omittable(v.pipe(v.boolean(), v.description('Whether to push overnight data, too.'))),
  }),
  response: changeAnswer,
  answersByStatus: true,
  limit: 'market-data',
  example: {
    body: {
      session_id: '7c1e0b5d94a84f2fb3a6d0c2918e57f4',
      symbols: ['AAPL', 'MSFT'],
      category: 'US_STOCK',
      sub_types: ['SNAPSHOT', 'QUOTE'],
    },
  },
  sources,
  notes: [
    onPage(
      'The stream is MQTT 3.1.1 in TLS or over WebSocket, on a host of its own for each region and environment. A client connects with a session id of its choice and the app key, and subscribes over HTTP.',
    ),
    onPage('An app key has five connections at most; a closed one counts for a minute.'),
    onPage('Adds to what the session is subscribed to. After a reconnect a session has no subscription.'),
    onPage('depth goes up to 50 for US stocks.'),
    seen('depth above one’s level is refused with 417 ILLEGAL_PARAMETER.'),
    seen(
      '417 INVALID_SESSION: no such connection, one not known yet in its first seconds, one that was forgotten while its socket is open (its id never works again), or hosts of two environments.',
    ),
    seen('417 INVALID_SYMBOL names the symbols in brackets. It is transient at times.'),
    seen(
      '417 TOO_MANY_SYMBOLS_SUBSCRIPTION: the upstream counts a session’s symbols, 100 at most, and not their sub_types.',
    ),
    seen('417 UNSUPPORTED_SUB_TYPE: sub_types are in capitals.'),
    seen('ETFs pass as US_STOCK, and requests without grab, which the page requires.'),
  ],
  decisions: decided,
});

export const unsubscribeMarketData = describe({
  id: 'unsubscribeMarketData',
  group: 'market-stream',
  title: 'Unsubscribe',
  method: 'POST',
  path: '/market-data/streaming/unsubscribe',
  aliases: ['/openapi/market-data/streaming/unsubscribe'],
  query: {},
  body: v.looseObject({
    session_id: sessionId,
    symbols: omittable(symbols),
    category: omittable(category),
    sub_types: omittable(subTypes),
    unsubscribe_all: omittable(
      v.pipe(v.boolean(), v.description('Ends all subscriptions of the session, and needs nothing else.')),
    ),
  }),
  response: changeAnswer,
  answersByStatus: true,
  limit: 'market-data',
  example: { body: { session_id: '7c1e0b5d94a84f2fb3a6d0c2918e57f4', unsubscribe_all: true } },
  sources,
  notes: [
    onPage('Without unsubscribe_all it needs symbols, category and sub_types.'),
    inferred('What is not subscribed can be unsubscribed: the answer is 200.'),
  ],
  decisions: decided,
});
