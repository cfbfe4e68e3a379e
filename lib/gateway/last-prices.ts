/** Last prices for pre-trade checks: out of the snapshots that all instances share, or of one read of the gateway's own. */

import { recordOfSymbol, type SnapshotReads } from '../cache/snapshots/one-symbol.ts';
import { cutRecords, maxAnsweredRecords } from '../cache/snapshots/records.ts';
import { snapshotPartition } from '../cache/snapshots/store.ts';
import type { Operation } from '../catalogue/operation.ts';
import { contractPriceIn, type LastPrices, type PriceIn, priceIn } from '../guard-rails/last-price.ts';
import {
  createSharedLastPrices,
  maxAheadMs,
  type SharedLastPricesOptions,
  type UpstreamPrice,
  type UpstreamRead,
} from '../guard-rails/shared-last-prices.ts';
import { dropOldest } from '../kernel/bounded-map.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import type { Refusal } from '../problem.ts';
import { stemOf } from '../upstream/upstream-code.ts';
import { createOwnReads, type OwnReads, type OwnReadsSeams, type OwnReadsWiring } from './own-reads.ts';

export interface GatewayLastPricesWiring
  extends OwnReadsWiring,
    Required<Pick<SharedLastPricesOptions, 'reportFailure'>> {
  /** Of one operation of one account, as the cache of snapshots names them. Default none: nothing is shared. */
  readonly snapshots: ((partition: string) => SnapshotReads) | undefined;
}

export type GatewayLastPricesOptions = OptionsOf<GatewayLastPricesWiring, 'upstreamBaseUrl' | 'secrets'> &
  OwnReadsSeams &
  Pick<SharedLastPricesOptions, 'after'>;

/** What is priced. */
export type PricedKind = 'stock' | 'option';

interface PriceSource {
  /** Of which the upstream takes one in a call, the likeliest first. */
  readonly categories: readonly string[];
  readonly priceIn: PriceIn;
}

const sources: Readonly<Record<PricedKind, PriceSource>> = {
  // An order does not say of which its symbol is: most are stocks.
  stock: { categories: ['US_STOCK', 'US_ETF'], priceIn },
  option: { categories: ['US_OPTION'], priceIn: contractPriceIn },
};
/** Symbols of the second category that an instance remembers, so that the next read of one takes one call. */
const maxRemembered = 1000;

/**
 * @param operation gives snapshots by symbol
 * @param kind of what
 * @throws TypeError for options that no request could be sent with
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
        if (isAboutSymbol(answer.refusal)) continue;
        return { kind: 'failed', code: answer.refusal.code };
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

/** A refusal of the category as a whole says nothing of the symbol. */
const isAboutSymbol = ({ code, upstream }: Refusal): boolean =>
  code === 'upstream_rejected' &&
  upstream?.status !== 403 &&
  stemOf(upstream?.errorCode) !== 'UNSUPPORTED_CATEGORY';
