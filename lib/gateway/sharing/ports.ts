/** What all callers share: stores for it, figures, and what it asks the upstream through. */

import type { SymbolListing } from '../../catalogue/symbol-listing.ts';
import type { AnswerStore } from '../answers/index.ts';
import type { Budget } from '../budget/index.ts';
import type { OwnLimits } from '../budget-limits.ts';
import type { Caller } from '../caller.ts';
import type { Credentials } from '../credentials.ts';
import type { DirectoryStore, Figures, QuoteStore } from '../quotes/index.ts';
import type { RefusalCode } from '../refusals.ts';
import type { Upstream } from '../upstream.ts';

export interface SharingOptions {
  /** Of one account at the upstream, by a name that does not show its app key. */
  readonly quotes: (account: string) => QuoteStore;
  readonly answers: AnswerStore;
  /** For the upstream's list of symbols. Default: none, and each symbol is tested before it goes along with others. */
  readonly directory?: { readonly store: DirectoryStore; readonly listing: SymbolListing };
  readonly figures?: SharingFigures;
}

/** What a deployer may want to be otherwise; times in milliseconds. */
export type SharingFigures = Partial<
  Pick<Figures, 'boundMs' | 'hardBoundMs' | 'leastMaxAgeMs' | 'turnsPerCaller' | 'instances'>
>;

/** The gateway's parts that sharing works with. */
export interface SharingParts {
  readonly upstream: Upstream;
  readonly credentials: Credentials;
  readonly budget?: Budget;
  readonly ownLimits: OwnLimits;
  readonly clock: () => number;
  /** For one attempt at the upstream. */
  readonly timeoutMs: number;
  readonly reportTurn?: (report: TurnReport) => void;
}

/** A request to the upstream for what all share that brought nothing; no one request of a client's is its cause. */
export interface TurnReport {
  readonly operation: string;
  readonly code: RefusalCode;
  readonly upstreamStatus?: number;
  readonly upstreamCode?: string;
  /** How many symbols it asked for. */
  readonly symbols: number;
}

/** Whoever is not told apart is one caller. */
export const anyCaller: Caller = { unit: 'anybody' };
