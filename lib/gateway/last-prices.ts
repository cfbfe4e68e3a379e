/** Last prices for pre-trade checks: out of the snapshots that all instances share, or of one read of the gateway's own. */

import { recordOfSymbol, type SnapshotReads } from '../cache/snapshots/one-symbol.ts';
import { cutRecords, maxAnsweredRecords } from '../cache/snapshots/records.ts';
import { snapshotPartition } from '../cache/snapshots/store.ts';
import type { Operation } from '../catalogue/operation.ts';
import { type LastPrices, priceIn } from '../guard-rails/last-price.ts';
import {
  createSharedLastPrices,
  maxAheadMs,
  type SharedLastPricesOptions,
  type UpstreamPrice,
  type UpstreamRead,
} from '../guard-rails/shared-last-prices.ts';
import type { Refusal } from '../problem.ts';
import { stemOf } from '../upstream-code.ts';
import { createOwnReads, type OwnReads, type OwnReadsOptions } from './own-reads.ts';

export interface GatewayLastPricesOptions
  extends OwnReadsOptions,
    Pick<SharedLastPricesOptions, 'after' | 'reportFailure'> {
  /** Of one operation of one account, as the cache of snapshots names them. Default none: nothing is shared. */
  readonly snapshots?: (partition: string) => SnapshotReads;
}

/** The upstream takes one category in a call. An order does not say of which its symbol is: most are stocks. */
const stocksFirst: readonly string[] = ['US_STOCK', 'US_ETF'];
const fundsFirst: readonly string[] = ['US_ETF', 'US_STOCK'];
/** Funds that an instance remembers, so that the next read of one takes one call. */
const maxFunds = 1000;

/**
 * @param operation gives snapshots by symbol
 * @throws TypeError for options that no request could be sent with
 *
 * @example
 * const lastPrices = createGatewayLastPrices(getStockSnapshots, { upstreamBaseUrl, secrets, limiter });
 * await lastPrices.lastPrice('AAPL', 15_000, Date.now() + 2000);
 */
export function createGatewayLastPrices(
  operation: Operation,
  { snapshots, after, reportFailure, ...options }: GatewayLastPricesOptions,
): LastPrices {
  const { clock = Date.now } = options;
  const reads = createOwnReads(operation, options);
  return createSharedLastPrices({
    clock,
    ...(after && { after }),
    ...(reportFailure && { reportFailure }),
    upstreamRead: upstreamReadOf(reads),
    ...(snapshots && {
      store: async (symbol, since) => {
        const account = await reads.account();
        if (account === undefined) return undefined;
        const shared = snapshots(snapshotPartition(account, operation));
        const found = await recordOfSymbol(shared, {
          symbol,
          categories: stocksFirst,
          since,
          until: clock() + maxAheadMs,
        });
        const price = found && priceIn(found.record);
        return price === undefined ? undefined : { price, at: found!.sentAt };
      },
    }),
  });
}

function upstreamReadOf(reads: OwnReads): UpstreamRead {
  const funds = new Set<string>();
  return async (symbol, endBy): Promise<UpstreamPrice> => {
    for (const category of funds.has(symbol) ? fundsFirst : stocksFirst) {
      const query = [['symbols', symbol] as const, ['category', category] as const];
      const answer = await reads.read(query, endBy);
      if (answer.kind === 'refused') {
        if (isAboutSymbol(answer.refusal)) continue;
        return { kind: 'failed', code: answer.refusal.code };
      }
      const records = cutRecords(answer.body, maxAnsweredRecords);
      if (!records) return { kind: 'failed', code: 'upstream_broken_answer' };
      const record = records.get(symbol);
      const price = record && priceIn(record);
      if (price === undefined) continue;
      if (category === fundsFirst[0]) funds.add(symbol);
      if (funds.size > maxFunds) funds.delete(funds.values().next().value!);
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
