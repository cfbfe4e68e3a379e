/** `countersign watch`: follows a gateway's stream of quotes. */

import {
  type FollowedQuote,
  type FollowUpdate,
  follow,
  isClientError,
  streamStockSnapshots,
  viaGateway,
} from '../../lib/client/index.ts';
import { StartError } from '../environment.ts';
import { secrets } from './credentials.ts';
import { inLine, print } from './print.ts';

interface Quote {
  readonly price?: string | null | undefined;
  readonly bid?: string | null | undefined;
  readonly ask?: string | null | undefined;
  readonly volume?: string | null | undefined;
}
type Update = Pick<FollowUpdate<Quote>, 'quotes' | 'changed' | 'isConnected' | 'ageMs' | 'cause'>;

interface Watch {
  readonly symbols: readonly string[];
  readonly gateway: string;
  readonly category: string;
  readonly credentials: string | undefined;
  readonly json: boolean;
}

/** Prints updates until it is interrupted. @throws StartError for a refusal that another connection would meet again */
export async function watchQuotes({ symbols, gateway, category, credentials, json }: Watch): Promise<void> {
  const { API_KEY: apiKey, TOKEN: token } = await secrets(credentials, ['API_KEY']);
  const connection = viaGateway({ baseUrl: gateway, apiKey, token });
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  const query = { symbols, category } as Parameters<typeof follow<typeof streamStockSnapshots>>[2];
  let drawn = 0;
  try {
    for await (const update of follow(streamStockSnapshots, connection, query, {
      signal: interrupted.signal,
    })) {
      const isTable = process.stdout.isTTY && !json;
      const lines = isTable ? tableOf(update, symbols) : json ? jsonLinesOf(update) : linesOf(update);
      // Moves the cursor up and clears the previous table.
      if (isTable && drawn > 0) process.stdout.write(`\x1b[${drawn}A\x1b[J`);
      for (const line of lines) print(line);
      drawn = lines.length;
    }
  } catch (error) {
    throw isClientError(error) ? new StartError(inLine(error.message)) : error;
  }
}

const columns = ['symbol', 'price', 'bid', 'ask', 'volume', 'state', 'age'] as const;

const cellsOf = (quote: FollowedQuote<Quote> | undefined, ageMs: number | undefined, symbol: string) => {
  const { price, bid, ask, volume }: Quote = quote?.record ?? {};
  const age = ageMs === undefined ? undefined : `${(ageMs / 1000).toFixed(1)} s`;
  return [symbol, price, bid, ask, volume, quote?.state ?? 'waiting', age].map((cell) =>
    inLine(String(cell ?? '-')),
  );
};

/** Shows all symbols, in the order in which they were named. */
export function tableOf(
  { quotes, ageMs, isConnected, cause }: Update,
  symbols: readonly string[],
): readonly string[] {
  const rows = [[...columns], ...symbols.map((one) => cellsOf(quotes.get(one), ageMs(one), one))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return [
    ...rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    isConnected
      ? cause === undefined
        ? ''
        : `Not refreshed: ${inLine(cause)}`
      : 'The connection was lost; it is made again.',
  ];
}

/** Shows each changed symbol in a line. */
export const linesOf = ({ quotes, changed, ageMs, isConnected }: Update): readonly string[] =>
  isConnected
    ? [...changed].map((symbol) => cellsOf(quotes.get(symbol), ageMs(symbol), symbol).join(' '))
    : ['The connection was lost; it is made again.'];

export const jsonLinesOf = ({ quotes, changed, isConnected }: Update): readonly string[] =>
  isConnected
    ? [...changed].map((symbol) => JSON.stringify(quotes.get(symbol)))
    : [JSON.stringify({ connected: false })];
