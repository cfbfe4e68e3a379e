/** Reads whose answer is the same for every caller, answered out of what one of them asked for. */

import type { Operation } from '../../catalogue/operation.ts';
import type { CheckedRequest } from '../check.ts';
import type { Identity } from '../credentials.ts';
import type { GatewayRequest, GatewayResponse } from '../http.ts';
import type { Refusal } from '../refusals.ts';
import type { Trail } from '../trail.ts';
import { createSharedAnswers } from './answers.ts';
import type { SharingOptions, SharingParts } from './ports.ts';
import { createQuotesByAccount, type QuotesByAccount } from './quotes-by-account.ts';

export { createMemorySharing } from './memory.ts';
export type { SharingFigures, SharingOptions, TurnReport } from './ports.ts';

export interface Sharing {
  /** Undefined for an operation that shares nothing. */
  answer(
    call: { readonly operation: Operation; readonly path: string },
    request: GatewayRequest,
    checked: CheckedRequest,
    identity: Identity,
    trail: Trail,
  ): Promise<GatewayResponse | Refusal> | undefined;
}

export function createSharing(options: SharingOptions, parts: SharingParts): Sharing {
  const answers = createSharedAnswers(options, parts);
  const quotes = new Map<string, QuotesByAccount>();

  function quotesOf(operation: Operation): QuotesByAccount {
    const known = quotes.get(operation.id) ?? createQuotesByAccount(operation, options, parts);
    quotes.set(operation.id, known);
    return known;
  }

  return {
    answer({ operation, path }, request, checked, identity, trail) {
      const { freshness } = operation;
      // What changes something is never answered out of a memory, whatever its entry says.
      if (!freshness || operation.sideEffect) return undefined;
      if (freshness === 'by-symbol') return quotesOf(operation).answer(request, checked, identity, trail);
      return answers.answer({ ...operation, freshness }, path, request, checked, identity, trail);
    },
  };
}
