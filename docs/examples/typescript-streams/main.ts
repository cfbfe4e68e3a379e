/** Prints quotes and the user's order events as they come. */

import { follow } from './follow.js';
import { Quotes } from './quotes.js';

const env = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};

/** In an app its library for OpenID Connect does this, and keeps the token while it is valid. */
async function signIn(signal: AbortSignal): Promise<string> {
  const response = await fetch(`${env('ISSUER_URL')}/token`, {
    method: 'POST',
    headers: { accept: 'text/plain' },
    body: new URLSearchParams({ grant_type: 'password', username: 'ada' }),
    signal,
  });
  if (!response.ok) throw new Error(await response.text());
  return response.text();
}

const gateway = env('GATEWAY_URL');
const key = { 'x-api-key': env('API_KEY') };

const quotes = new Quotes();
const quotesEnd = follow({
  url: `${gateway}/market-data/stocks/snapshots/stream?symbols=AAPL,MSFT,NVDA&category=US_STOCK`,
  headers: async () => key,
  onEvent(event) {
    for (const symbol of quotes.take(event)) {
      const quote = quotes.bySymbol.get(symbol);
      console.log(`quote ${symbol} ${quote ? JSON.stringify(quote.record) : '-'}`);
    }
  },
});

const ordersEnd = follow({
  url: `${gateway}/trading/events/stream`,
  // The key says which app calls, the token who.
  headers: async (signal) => ({ ...key, authorization: `Bearer ${await signIn(signal)}` }),
  onEvent({ event, data }) {
    const told = JSON.parse(data);
    // What changed more than a day ago is not told again: the app reads its orders, and goes on from here.
    if (event === 'start' && !told.resumed) console.log('orders from now on');
    // An event may come twice, each time with the same event_id.
    const { 'detail-type': type, detail } = told;
    if (event === 'change') console.log(`order ${detail.event_id} ${type} ${JSON.stringify(detail)}`);
  },
});

await Promise.all([quotesEnd, ordersEnd]);
