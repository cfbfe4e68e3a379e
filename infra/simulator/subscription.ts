/** Which market data the user of the app key has subscribed to, and what is refused without it. */

import type { Operation } from '../../lib/catalogue/index.ts';
import type { Arguments } from './parameters.ts';
import { type Refusal, refuse } from './refusal.ts';

/** What can be subscribed to: the data of one asset category. */
export type Product = 'US_STOCK' | 'US_ETF' | 'US_OPTION';

export function checkSubscription(
  { group }: Operation,
  { query, body }: Arguments,
  unsubscribed: readonly Product[],
): Refusal | undefined {
  if (group !== 'market-data') return undefined;
  const { category } = { ...(body as { readonly category?: string } | undefined), ...query };
  const product = unsubscribed.find((one) => one === category);
  return product
    ? refuse(403, 'MARKET_DATA_NOT_SUBSCRIBED', `No market data subscription, product ${product}`)
    : undefined;
}
