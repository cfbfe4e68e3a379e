/** Accounts: their holders, their holdings, and the value of these. */

import { strikeText } from '../market/option-contracts.ts';
import { lastOptionTrade, multiplier, optionPriceOf, termsShown } from '../market/option-model.ts';
import { momentAt } from '../market/prices.ts';
import { money } from '../numbers-and-times.ts';
import { hashOf, identifier } from '../random.ts';
import { parameterError } from '../refusal.ts';
import {
  amountOf,
  decimalText,
  divide,
  dollarText,
  oneShare,
  quantityText,
  ratioText,
} from '../trading/amounts.ts';
import { type AssetLeg, currentPrice, stockAsset } from '../trading/order-asset.ts';
import type { ValuedPosition } from '../trading/portfolio.ts';
import type { Holder, World } from '../world.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { availableOf, fundsOf, ofAccount } from './order-checks.ts';

export const accounts: Behaviours = {
  listAccounts: (_call, world) => answer(world.accounts),

  getAccountBalance: ofAccount((account, { query, now }, world) =>
    (query.total_asset_currency ?? 'USD') === 'USD'
      ? answer(balance(account, world, now))
      : parameterError('total_asset_currency'),
  ),

  listAccountPositions: ofAccount((account, { now }, world) => {
    const positions = world.portfolios.get(account.account_id)!.valued(now);
    const total = positions.reduce((sum, { value }) => sum + value, 0n);
    return answer(positions.map((position) => shownPosition(position, total, account, world, now)));
  }),
};

function balance(account: Holder, world: World, now: number) {
  const funds = fundsOf(account, world, now);
  // Taken for the day's, too, so that no trades need be remembered.
  const dayProfit = dollarText(funds.profit);
  const cash = dollarText(funds.cash);
  const withdrawal = funds.cash - funds.reserved;
  const margin = account.account_type === 'MARGIN' && {
    used_margin: dollarText(funds.initialMargin),
    used_margin_for_open_order: dollarText(funds.reserved),
    init_margin: dollarText(funds.initialMargin),
    maintenance_margin: dollarText(funds.maintenanceMargin),
    intraday_margin: dollarText(funds.intradayMargin),
    margin_excess: dollarText(funds.netLiquidation - funds.initialMargin),
    margin_ratio: marginRatio(funds.netLiquidation, funds.marketValue),
  };
  return {
    total_asset_currency: 'USD',
    total_cash_balance: cash,
    total_market_value: dollarText(funds.marketValue),
    total_unrealized_profit_loss: dollarText(funds.profit),
    total_net_liquidation_value: dollarText(funds.netLiquidation),
    total_day_profit_loss: dayProfit,
    day_trades_left: 'UNLIMITED',
    open_margin_calls: [],
    ...margin,
    account_currency_assets: [
      {
        currency: 'USD',
        cash_balance: cash,
        settled_cash: cash,
        unsettled_cash: '0.00',
        market_value: dollarText(funds.marketValue),
        held_amount: '0.00',
        frozen_amount: dollarText(funds.reserved),
        buying_power: dollarText(funds.buyingPower),
        unrealized_profit_loss: dollarText(funds.profit),
        available_withdrawal: dollarText(withdrawal > 0n ? withdrawal : 0n),
        interests_unpaid: '0.00',
        net_liquidation_value: dollarText(funds.netLiquidation),
        option_buying_power: dollarText(funds.optionBuyingPower),
        day_buying_power: dollarText(funds.buyingPower),
        overnight_buying_power: dollarText(funds.overnightBuyingPower),
        night_trading_buying_power: dollarText(funds.overnightBuyingPower),
        day_profit_loss: dayProfit,
        ...margin,
      },
    ],
  };
}

/** Ratio of equity to the value of the holdings, at most 1. */
function marginRatio(equity: bigint, held: bigint): string {
  return held <= 0n || equity >= held ? '1.0000' : ratioText(equity, held);
}

function shownPosition(position: ValuedPosition, total: bigint, account: Holder, world: World, now: number) {
  const { asset, quantity, cost, price, value, profit } = position;
  const { underlying, kind, legs } = asset;
  const available = availableOf(asset, account, world);
  return {
    position_id: identifier(hashOf(underlying.noise, `${account.account_id} ${asset.key}`), 26),
    currency: 'USD',
    quantity: quantityText(quantity),
    available_quantity: quantityText(available),
    symbol: underlying.symbol,
    symbol_name: underlying.name,
    instrument_id:
      legs.length === 1 ? (legs[0]!.contract ?? underlying).instrumentId : underlying.instrumentId,
    exchange_code: underlying.exchangeCode,
    instrument_type: kind,
    option_strategy: strategyOf(legs),
    last_price: money(price),
    // Has four decimals, because an average price is seldom whole cents.
    cost_price: decimalText(divide(cost * 100n * oneShare, quantity * BigInt(asset.multiplier)), 4),
    market_value: dollarText(value),
    unrealized_profit_loss: dollarText(profit),
    unrealized_profit_loss_rate: ratioText(profit, cost < 0n ? -cost : cost),
    proportion: ratioText(value, total),
    ...(kind === 'OPTION' && { legs: legs.map((leg, at) => shownLeg(leg, at, position, now)) }),
  };
}

function shownLeg(
  { underlying, contract, ratio }: AssetLeg,
  at: number,
  { asset, quantity }: ValuedPosition,
  now: number,
) {
  const count = quantity * BigInt(ratio) * (contract ? 1n : BigInt(multiplier));
  const price = contract
    ? optionPriceOf(contract, momentAt(lastOptionTrade(contract, now)))
    : currentPrice(stockAsset(underlying), now);
  return {
    leg_id: identifier(hashOf(underlying.noise, `${asset.key} ${at}`), 10),
    symbol: underlying.symbol,
    quantity: quantityText(count),
    side: count > 0n ? 'BUY' : 'SELL',
    instrument_type: contract ? 'OPTION' : 'EQUITY',
    last_price: money(price),
    market_value: dollarText(amountOf(price, count, contract ? multiplier : 1)),
    ...(contract && { ...termsShown(contract), option_exercise_price: strikeText(contract) }),
  };
}

/** Names the strategy of the legs, roughly. */
const strategyOf = (legs: readonly AssetLeg[]): string =>
  ['SINGLE', legs.every(({ contract }) => contract) ? 'VERTICAL' : 'COVERED_STOCK'][legs.length - 1] ??
  'CONDOR';
