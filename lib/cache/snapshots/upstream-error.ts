/** What the upstream's words about a refusal are worth. */

import type { UpstreamError } from './store.ts';

export const noMessage: UpstreamError = { status: 417, errorCode: 'INVALID_SYMBOL' };

/** The upstream's words were about a call of many, and may name another of them. */
export const withoutMessage = ({ message: _, ...says }: UpstreamError): UpstreamError => says;

/** The one of the symbols that the words name; undefined when they name none, or several. */
export function namedBy(words: string | undefined, symbols: readonly string[]): string | undefined {
  const said = new Set((words ?? '').split(/[\s,;:'"()[\]]+/));
  const named = symbols.filter((symbol) => said.has(symbol));
  return named.length === 1 ? named[0] : undefined;
}
