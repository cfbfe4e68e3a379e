/** Computes an account's spending power, and the margins for holding its positions on credit. All in cents. */

import type { LiveOrder } from './order-life.ts';
import type { ValuedPosition } from './portfolio.ts';

export interface FundsAtHand {
  readonly cash: bigint;
  readonly marketValue: bigint;
  readonly netLiquidation: bigint;
  readonly profit: bigint;
  /** Amount that open buy orders reserve. */
  readonly reserved: bigint;
  readonly initialMargin: bigint;
  readonly maintenanceMargin: bigint;
  readonly intradayMargin: bigint;
  readonly buyingPower: bigint;
  readonly overnightBuyingPower: bigint;
  readonly optionBuyingPower: bigint;
}

export function fundsAtHand(
  kind: 'MARGIN' | 'CASH',
  cash: bigint,
  positions: readonly ValuedPosition[],
  open: readonly LiveOrder[],
  now: number,
): FundsAtHand {
  let [marketValue, profit, stocks, options, reserved] = [0n, 0n, 0n, 0n, 0n];
  for (const { asset, value, profit: own } of positions) {
    marketValue += value;
    profit += own;
    const size = value < 0n ? -value : value;
    if (asset.kind === 'EQUITY') stocks += size;
    else options += size;
  }
  for (const order of open) reserved += order.heldBack(now);
  const netLiquidation = cash + marketValue;
  // Margins on stocks are half of the value, and a quarter within the day; on options all of it.
  const margins = {
    initialMargin: stocks / 2n + options,
    maintenanceMargin: (stocks * 3n) / 10n + options,
    intradayMargin: stocks / 4n + options,
  };
  const free = (part: bigint) => (part > 0n ? part : 0n);
  const power =
    kind === 'CASH'
      ? {
          buyingPower: cash - reserved,
          overnightBuyingPower: cash - reserved,
          optionBuyingPower: cash - reserved,
        }
      : {
          buyingPower: 4n * (netLiquidation - margins.intradayMargin) - reserved,
          overnightBuyingPower: 2n * (netLiquidation - margins.initialMargin) - reserved,
          optionBuyingPower: netLiquidation - margins.initialMargin - reserved,
        };
  return {
    cash,
    marketValue,
    netLiquidation,
    profit,
    reserved,
    ...margins,
    buyingPower: free(power.buyingPower),
    overnightBuyingPower: free(power.overnightBuyingPower),
    optionBuyingPower: free(power.optionBuyingPower),
  };
}
