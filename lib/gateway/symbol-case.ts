/** A refusal of a symbol in lower case says how symbols are written: the upstream says only that it does not know it. */

import { type Refusal, refusalKinds } from '../problem.ts';
import { stemOf } from '../upstream/upstream-code.ts';
import type { GatewayRequest } from './http.ts';
import { type Outcome, refused } from './outcome.ts';

type NamedSymbols = Pick<GatewayRequest, 'query' | 'body'>;

/** More would make the sentence longer than it helps. */
const maxNamed = 5;

/**
 * The outcome, whose refusal names in upper case what the request has in lower case. Nothing is said of a symbol before the
 * upstream has refused it: which symbols exist only the upstream knows.
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

/** Of parameters, and of members of a body. */
function* symbolsOf({ query, body }: NamedSymbols): Iterable<string> {
  for (const [name, value] of query) if (/(^|_)symbols?$/.test(name)) yield* value.split(',');
  const text = new TextDecoder().decode(body);
  for (const [, symbol] of text.matchAll(/"symbol"\s*:\s*"([^"\\]+)"/g)) yield symbol!;
}
