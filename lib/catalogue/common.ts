/** Parameters that many operations share. */

import * as v from 'valibot';
import type { AccountPlaces } from './operation.ts';
import { choice, list, optional, text } from './parameters.ts';

/** Asset categories of market data (interface, section "Asset category"). */
export const category = choice(['US_STOCK', 'US_ETF'], {
  description: 'Asset category of all symbols of the call.',
});

export const optionCategory = choice(['US_OPTION'], { description: 'Asset category: options.' });

export const symbol = text({ description: 'One ticker symbol.', maxLength: 64 });

/* @__NO_SIDE_EFFECTS__ */
export const symbols = (maxItems: number) => list({ description: 'Ticker symbols.', maxItems });

export const optionSymbol = text({
  description: 'One option symbol in the OCC form, such as AAPL270115C00240000.',
  maxLength: 64,
});

/* @__NO_SIDE_EFFECTS__ */
export const optionSymbols = (maxItems: number) =>
  list({ description: 'Option symbols in the OCC form, such as AAPL270115C00240000.', maxItems });

export const accountId = text({ description: 'The account that the call is about.', maxLength: 64 });

/** Places of the account id in a query and, below, in a body. */
export const accountInQuery = { query: ['account_id'] } as const satisfies AccountPlaces;
export const accountInBody = { body: ['/account_id'] } as const satisfies AccountPlaces;

/** Cursor at which the page before ended (see `Paging`). */
export const pageKey = optional(
  text({ description: 'Cursor from the page before; left out for the first page.', maxLength: 1024 }),
);

/* @__NO_SIDE_EFFECTS__ */
export const direction = (byDefault: string) =>
  optional(choice(['ASC', 'DESC'], { description: `Order; ${byDefault} when absent.` }));

/** Strategy that the legs of an option order, or of a position, form together. */
export const optionStrategy = v.picklist([
  'SINGLE',
  'COVERED_STOCK',
  'STRADDLE',
  'STRANGLE',
  'VERTICAL',
  'CALENDAR',
  'BUTTERFLY',
  'CONDOR',
  'COLLAR_WITH_STOCK',
  'IRON_BUTTERFLY',
  'IRON_CONDOR',
  'DIAGONAL',
]);
