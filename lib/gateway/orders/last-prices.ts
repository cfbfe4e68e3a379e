/** Last prices for pre-trade checks, from the snapshots that all instances share or from a read of the gateway's own. */

import { recordOfSymbol, type SnapshotReads } from '../../cache/snapshots/one-symbol.ts';
import { cutRecords, maxAnsweredRecords } from '../../cache/snapshots/records.ts';
import { snapshotPartition } from '../../cache/snapshots/store.ts';
import type { Operation } from '../../catalogue/operation.ts';
import { contractPriceIn, type LastPrices, type PriceIn, priceIn } from '../../guard-rails/last-price.ts';
import {
  createSharedLastPrices,
  maxAheadMs,
  type SharedLastPricesOptions,
  type UpstreamPrice,
  type UpstreamRead,
} from '../../guard-rails/shared-last-prices.ts';
import { dropOldest } from '../../kernel/bounded-map.ts';
import type { OptionsOf } from '../../kernel/options-of.ts';
import { createOwnReads, type OwnReads, type OwnReadsSeams, type OwnReadsWiring } from '../own-reads.ts';
import { isAboutCategory } from '../upstream-answer.ts';

export interface GatewayLastPricesWiring
  extends OwnReadsWiring,
    Required<Pick<SharedLastPricesOptions, 'reportFailure'>> {
  /** Opens the shared snapshots of one partition, as the snapshot cache names it. Default none: every price is read. */
  readonly snapshots: ((partition: string) => SnapshotReads) | undefined;
}

export type GatewayLastPricesOptions = OptionsOf<GatewayLastPricesWiring, 'upstreamBaseUrl' | 'secrets'> &
  OwnReadsSeams &
  Pick<SharedLastPricesOptions, 'after'>;

/** Kind of instrument that is priced. */
export type PricedKind = 'stock' | 'option';

interface PriceSource {
  /** Categories to try, the likeliest first: the upstream accepts one in a call. */
  readonly categories: readonly string[];
  readonly priceIn: PriceIn;
}

const sources: Readonly<Record<PricedKind, PriceSource>> = {
  // An order does not name its symbol's category; most symbols are stocks.
  stock: { categories: ['US_STOCK', 'US_ETF'], priceIn },
  option: { categories: ['US_OPTION'], priceIn: contractPriceIn },
};
/** Most symbols of the last category that an instance remembers, so that their next read takes one call. */
const maxRemembered = 1000;

/**
 * @param operation the operation that returns snapshots by symbol
 * @param kind the kind of instrument
 * @throws TypeError for options with which no request could be sent
 *
 * @example
 * const lastPrices = createGatewayLastPrices(getStockSnapshots, { upstreamBaseUrl, secrets, limiter });
 * await lastPrices.lastPrice('AAPL', 15_000, Date.now() + 2000);
 */
export function createGatewayLastPrices(
  operation: Operation,
  { snapshots, after, reportFailure, ...options }: GatewayLastPricesOptions,
  kind: PricedKind = 'stock',
): LastPrices {
  const { clock = Date.now } = options;
  const source = sources[kind];
  const reads = createOwnReads(operation, options);
  return createSharedLastPrices({
    clock,
    after,
    reportFailure,
    upstreamRead: upstreamReadOf(reads, source),
    ...(snapshots && {
      store: async (symbol, since) => {
        const account = await reads.account();
        if (account === undefined) return undefined;
        const shared = snapshots(snapshotPartition(account, operation));
        const found = await recordOfSymbol(shared, {
          symbol,
          categories: source.categories,
          since,
          until: clock() + maxAheadMs,
        });
        const price = found && source.priceIn(found.record);
        return price === undefined ? undefined : { price, at: found!.sentAt };
      },
    }),
  });
}

function upstreamReadOf(reads: OwnReads, { categories, priceIn: priceOf }: PriceSource): UpstreamRead {
  const ofLast = new Set<string>();
  const lastFirst = [...categories].reverse();
  return async (symbol, endBy, user): Promise<UpstreamPrice> => {
    for (const category of ofLast.has(symbol) ? lastFirst : categories) {
      const query = [['symbols', symbol] as const, ['category', category] as const];
      const answer = await reads.read(query, endBy, user);
      if (answer.kind === 'refused') {
        const { code } = answer.refusal;
        // The symbol may be of another category.
        if (code === 'upstream_rejected' && !isAboutCategory(answer.refusal)) continue;
        return { kind: 'failed', code };
      }
      const records = cutRecords(answer.body, maxAnsweredRecords);
      if (!records) return { kind: 'failed', code: 'upstream_broken_answer' };
      const record = records.get(symbol);
      const price = record && priceOf(record);
      if (price === undefined) continue;
      if (category !== categories[0]) ofLast.add(symbol);
      dropOldest(ofLast, maxRemembered);
      return { kind: 'found', found: { price, at: answer.sentAt } };
    }
    return { kind: 'unknown' };
  };
}
