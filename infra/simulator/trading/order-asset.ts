/**
 * Asset of an order, a stock or options that are traded together, and its valuation: before a fill, and by the average of
 * the fills.
 */

import { dayNumber, dayOf } from '../market/calendar.ts';
import type { Instrument } from '../market/instrument.ts';
import { type Contract, contractOf, endOfTrading, findContract } from '../market/option-contracts.ts';
import { lastOptionTrade, multiplier, optionPriceOf } from '../market/option-model.ts';
import { farthest } from '../market/price-path.ts';
import { type HighLow, type Minute, momentAt, priceOf } from '../market/prices.ts';
import { lastTradeTime } from '../market/tape.ts';
import type { Universe } from '../market/universe.ts';
import { parameterError, type Rejection, refuse } from '../refusal.ts';
import { amountOf, decimalText, divide, dollarText, type Quantity } from './amounts.ts';
import type { NewOrder } from './stored-order.ts';

export interface AssetLeg {
  readonly underlying: Instrument;
  /** Contract of an option; absent for a leg of stock. */
  readonly contract?: Contract;
  /** Number in one of the asset; negative for a leg that is sold when the asset is bought. */
  readonly ratio: number;
}

export interface Asset {
  /** Key of the position that an order changes. */
  readonly key: string;
  readonly kind: 'EQUITY' | 'OPTION';
  readonly underlying: Instrument;
  readonly legs: readonly AssetLeg[];
  /** Number of shares in one of the asset. */
  readonly multiplier: number;
  /** Unix milliseconds until which it is traded. */
  readonly until: number;
  /** Bounds, in cents, that its price never passes. */
  readonly bounds: HighLow;
  /** Price in cents. Legs that are sold with the asset count against it, so that it can be negative. */
  price(moment: Minute): number;
  lastTrade(now: number): number;
}

/** Price that snapshots show at a time. */
export function currentPrice(asset: Asset, now: number): number {
  return asset.price(momentAt(asset.lastTrade(now)));
}

export function stockAsset(instrument: Instrument): Asset {
  const factor = farthest(instrument);
  const base = instrument.basePrice * 100;
  return {
    key: instrument.symbol,
    kind: 'EQUITY',
    underlying: instrument,
    legs: [{ underlying: instrument, ratio: 1 }],
    multiplier: 1,
    until: Infinity,
    bounds: { low: base / factor, high: base * factor },
    price: (moment) => priceOf(instrument, moment),
    lastTrade: (now) => lastTradeTime(instrument, now),
  };
}

function optionAsset(legs: readonly AssetLeg[]): Asset {
  const names = legs.map(
    ({ underlying, contract, ratio }) => `${ratio} ${contract?.symbol ?? underlying.symbol}`,
  );
  const contracts = legs.flatMap(({ contract }) => contract ?? []);
  const until = Math.min(...contracts.map(endOfTrading));
  // An expired contract keeps its last price.
  const atMost = (moment: Minute): Minute =>
    moment.day > dayOf(until) ? { day: dayOf(until), minute: 1440 } : moment;
  return {
    key: names.sort().join(' '),
    kind: 'OPTION',
    underlying: legs[0]!.underlying,
    legs,
    multiplier,
    until,
    bounds: { low: -Infinity, high: Infinity },
    price: (moment) => {
      const at = atMost(moment);
      let price = 0;
      for (const { underlying, contract, ratio } of legs)
        price += ratio * (contract ? optionPriceOf(contract, at) : priceOf(underlying, at));
      return price;
    },
    lastTrade: (now) => Math.max(...contracts.map((contract) => lastOptionTrade(contract, now))),
  };
}

/** Finds the asset of an order, or refuses an unknown one. */
export function assetOf(order: NewOrder, universe: Universe, now: number): Asset | Rejection {
  const { instrument_type: type, symbol } = order;
  const underlying = universe.get(symbol) ?? findContract(universe, symbol)?.underlying;
  // The simulator does not play futures, crypto and events.
  if (
    !underlying ||
    (type !== 'EQUITY' && type !== 'OPTION') ||
    (type === 'EQUITY' && underlying.symbol !== symbol)
  )
    return refuse(417, 'INVALID_SYMBOL', `Symbol not known, ${symbol}`);
  return type === 'EQUITY' ? stockAsset(underlying) : optionOrderAsset(order, universe, now);
}

/**
 * The legs of an order say what is bought and sold when it is executed. The legs of a sell order are reversed, because its
 * asset is what it sells: a buy order then opens the position that a sell order closes.
 */
function optionOrderAsset(order: NewOrder, universe: Universe, now: number): Asset | Rejection {
  const direction = order.side === 'BUY' ? 1 : -1;
  const legs: AssetLeg[] = [];
  for (const [at, leg] of (order.legs ?? []).entries()) {
    const place = `legs.${at}`;
    const each = leg.instrument_type === 'EQUITY' ? multiplier : 1;
    const ratio = leg.quantity === undefined ? 1 : Number(leg.quantity) / Number(order.quantity) / each;
    if (!Number.isInteger(ratio) || ratio < 1) return parameterError(`${place}.quantity`);
    const signed = (leg.side === 'BUY' ? ratio : -ratio) * direction;
    const underlying = universe.get(leg.symbol);
    if (leg.instrument_type === 'EQUITY') {
      if (!underlying) return refuse(417, 'INVALID_SYMBOL', `Symbol not known, ${leg.symbol}`);
      legs.push({ underlying, ratio: signed });
      continue;
    }
    const contract = contractOfLeg(leg, universe);
    if (!contract) return refuse(417, 'INVALID_SYMBOL', `Contract not known, ${place}`);
    if (endOfTrading(contract) < now) return refuse(417, 'INVALID_SYMBOL', `Contract expired, ${place}`);
    legs.push({ underlying: contract.underlying, contract, ratio: signed });
  }
  if (!legs.some(({ contract }) => contract)) return parameterError('legs');
  if (legs.length === 1 && legs[0]!.ratio < 0) return parameterError('legs.0.side');
  return optionAsset(legs);
}

/** Finds a leg's contract by underlying, strike, day and type, or by its own symbol. */
function contractOfLeg(leg: NonNullable<NewOrder['legs']>[number], universe: Universe): Contract | undefined {
  const { symbol, strike_price: strike, option_expire_date: day, option_type: type } = leg;
  const underlying = universe.get(symbol);
  if (!underlying || strike === undefined || day === undefined || type === undefined)
    return findContract(universe, symbol);
  const thousandths = Math.round(Number(strike) * 1000);
  const expiryDay = dayNumber(day);
  return thousandths > 0 && thousandths < 1e8 && expiryDay > 0
    ? contractOf(underlying, expiryDay, type, thousandths)
    : undefined;
}

/** Cost in cents, never negative: an order cannot spend what its options will bring in. */
export function costOf(asset: Asset, quantity: Quantity, price: number): bigint {
  const cost = amountOf(price, quantity, asset.multiplier);
  return cost > 0n ? cost : 0n;
}

/** Price in cents: the order's own, or the one that snapshots show. */
export function priceAskedFor(
  { terms, asset }: { readonly terms: NewOrder; readonly asset: Asset },
  now: number,
): number {
  const own = terms.limit_price ?? terms.stop_price;
  return own === undefined ? currentPrice(asset, now) : Math.round(centsOf(own));
}

/** Converts dollars to cents for comparing prices; hundredths of a cent are the finest that count. */
export function centsOf(dollars: string | undefined): number {
  return Math.round(Number(dollars ?? Number.NaN) * 10_000) / 100;
}

/** Average of at least one fill, weighted by quantity, in dollars; with four decimals if cents are not exact. */
export function averagePrice(
  fills: readonly { readonly quantity: Quantity; readonly price: number }[],
): string {
  const quantity = fills.reduce((total, fill) => total + fill.quantity, 0n);
  const sum = fills.reduce((total, fill) => total + BigInt(fill.price) * fill.quantity, 0n);
  const tenThousandths = divide(sum * 100n, quantity);
  return tenThousandths % 100n === 0n ? dollarText(tenThousandths / 100n) : decimalText(tenThousandths, 4);
}
