/**
 * What each function of an endpoint group answers; `order-offers.ts` has those that need the journal. Functions, so that a
 * bundle has the operations of its own alone; a test compares them with the catalogue.
 */

import * as accountOperations from '../../lib/catalogue/accounts.ts';
import { fundamentals as fundamentalsOperations } from '../../lib/catalogue/fundamentals/index.ts';
import * as instrumentOperations from '../../lib/catalogue/instruments.ts';
import * as olderFundamentals from '../../lib/catalogue/legacy/fundamentals.ts';
import * as olderInstruments from '../../lib/catalogue/legacy/instruments.ts';
import * as olderMarketData from '../../lib/catalogue/legacy/market-data.ts';
import * as olderScreeners from '../../lib/catalogue/legacy/screeners.ts';
import { marketData as marketDataOperations } from '../../lib/catalogue/market-data/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import * as screenerOperations from '../../lib/catalogue/screeners.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { composeVerifier } from './access.ts';
import { composeQuotes, composeResponses } from './gateway.ts';
import type { Offer } from './group.ts';
import type { GatewayPorts, QuotePorts } from './ports.ts';

/** A list, or what a file of the catalogue exports. */
type Operations = readonly Operation[] | Readonly<Record<string, Operation>>;

export const offer = (...operations: readonly Operations[]): Offer<GatewayPorts> => ({
  operations: operations.flatMap((some) => Object.values<Operation>(some)),
  lookUps: [],
  checks: undefined,
  verifier: undefined,
  cache: composeResponses,
  orders: undefined,
});

/** What belongs to accounts. */
export const ofAccounts = (...operations: readonly Operations[]): Offer<GatewayPorts> => ({
  ...offer(...operations),
  verifier: composeVerifier,
});

export const accounts = () => ofAccounts(accountOperations);
export const fundamentals = () => offer(fundamentalsOperations, olderFundamentals);
export const instruments = () => offer(instrumentOperations, olderInstruments);
export const screeners = () => offer(screenerOperations, olderScreeners);

export const marketData = (): Offer<QuotePorts> => ({
  ...offer(marketDataOperations, olderMarketData),
  cache: (settings, ports) => composeQuotes(symbolListing, settings, ports),
});
