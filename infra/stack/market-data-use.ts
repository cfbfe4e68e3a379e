/** On what basis one fetch of market data may serve several callers: the deployer says it, or nothing is shared. */

import { groups, type Operation } from '../../lib/catalogue/index.ts';
import type { CountersignConfig } from './config.ts';

/** Where a deployer reads what to consider; a test follows the link. */
export const marketDataUsePage = 'docs/deployment.md#before-you-serve-quotes-to-others';

/** What a group of one account reads belongs to that account, and is no market data. */
const isMarketData = ({ group, freshness }: Operation) =>
  freshness !== undefined && groups[group].exposure === 'open';

/**
 * Only sharing needs a basis here, because it is what the stack adds by itself: that callers reach the upstream through
 * a gateway at all is what it was deployed for.
 *
 * @param operations those that the stage opens
 * @returns one sentence, when several callers would be served by one fetch and no basis is named
 * @example marketDataUseFault({ upstream }, operations)  // 'marketDataUse is required …'
 */
export function marketDataUseFault(
  { marketDataUse, cache, events }: CountersignConfig,
  operations: readonly Operation[],
): string | undefined {
  if (marketDataUse !== undefined || !operations.some(isMarketData)) return undefined;
  const sharing = [...(cache === 'off' ? [] : ['cache']), ...(events === undefined ? [] : ['events'])];
  if (sharing.length === 0) return undefined;
  return `marketDataUse is required, because with ${sharing.join(' and ')} one fetch of market data serves several callers: say 'own-use' or 'licensed', or share nothing, with cache: 'off' and without events; ${marketDataUsePage} says who decides.`;
}
