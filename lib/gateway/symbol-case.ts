/** Adds the upper-case spelling to the refusal of a lower-case symbol, which the upstream only calls unknown. */

import { type Refusal, refusalKinds } from '../problem.ts';
import { stemOf } from '../upstream/upstream-code.ts';
import type { GatewayRequest } from './http.ts';
import { type Outcome, refused } from './outcome.ts';

type NamedSymbols = Pick<GatewayRequest, 'query' | 'body'>;

/** Most symbols named in a refusal: more would make the sentence too long to help. */
const maxNamed = 5;

/**
 * Adds to a refusal the upper-case form of the request's lower-case symbols. The gateway refuses no lower-case symbol by
 * itself, because only the upstream knows which symbols exist.
 */
export function withSymbolCase(outcome: Outcome, request: NamedSymbols): Outcome {
  if (outcome.kind !== 'refused' || !isAboutSymbols(outcome.refusal)) return outcome;
  const { refusal } = outcome;
  const named = [...new Set(symbolsOf(request))].filter((symbol) => /[a-z]/.test(symbol)).slice(0, maxNamed);
  if (named.length === 0) return outcome;
  const meant = named.map((symbol) => symbol.replace(/[a-z]/g, (letter) => letter.toUpperCase()));
  const words = (refusal.detail ?? refusalKinds.upstream_rejected.detail).replace(/\.$/, '');
  const detail = `${words}. Symbols are in upper case: ${meant.join(', ')}.`;
  return refused({ ...refusal, detail });
}

function isAboutSymbols({ code, upstream }: Refusal): boolean {
  if (code !== 'upstream_rejected') return false;
  const stem = stemOf(upstream?.errorCode);
  return (
    stem === 'INVALID_SYMBOL' ||
    stem === 'INSTRUMENT_NOT_FOUND' ||
    (stem === 'INVALID_PARAMETER' && /symbol/i.test(upstream?.message ?? ''))
  );
}

/** The symbols in the query and in the body. */
function* symbolsOf({ query, body }: NamedSymbols): Iterable<string> {
  for (const [name, value] of query) if (/(^|_)symbols?$/.test(name)) yield* value.split(',');
  const text = new TextDecoder().decode(body);
  for (const [, symbol] of text.matchAll(/"symbol"\s*:\s*"([^"\\]+)"/g)) yield symbol!;
}
