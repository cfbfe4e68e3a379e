/** Market data of options; an expired contract's stands still at its last moment. */

import { barsOf } from '../market/bars.ts';
import { type Contract, strikeText } from '../market/option-contracts.ts';
import {
  greeksOf,
  lastOptionTrade,
  multiplier,
  optionAsTraded,
  optionPriceOf,
  volatilityOf,
} from '../market/option-model.ts';
import { type Minute, momentAt, priceOf } from '../market/prices.ts';
import { partOfDay } from '../market/sessions.ts';
import { fixed, millisecondsText, money, ratio } from '../numbers-and-times.ts';
import { mix } from '../random.ts';
import { queryAsked, shownBar } from './bars.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { findAll, findOption, isRefusal } from './find.ts';

export const options: Behaviours = {
  getOptionSnapshots: ({ query, now }, world) => {
    const found = findAll(query.symbols!.split(','), (symbol) => findOption(world, symbol));
    return isRefusal(found) ? found : answer(found.map((contract) => snapshot(contract, now)));
  },

  listOptionBars: ({ query, now }, world) => {
    const found = findAll(query.symbols!.split(','), (symbol) => findOption(world, symbol));
    if (isRefusal(found)) return found;
    // The vendor's pages show an object around this list; live, the bare list was seen.
    return answer(
      found.map((contract) => ({
        symbol: contract.symbol,
        instrument_id: contract.instrumentId,
        result: barsOf(optionAsTraded(contract), queryAsked(query, now, false)).map(shownBar),
      })),
    );
  },

  listOptionTicks: ({ query, now }, world) => {
    const found = findOption(world, query.symbol!);
    if (isRefusal(found)) return found;
    const { symbol, instrumentId } = found;
    const traded = optionAsTraded(found);
    const result: object[] = [];
    for (
      let time = traded.lastTrade(now);
      result.length < Number(query.count) && time >= traded.from;
      time = traded.lastTrade(time - 1)
    ) {
      const price = traded.price(momentAt(time));
      const move = price - traded.price(momentAt(traded.lastTrade(time - 1)));
      result.push({
        time: millisecondsText(time),
        price: money(price),
        volume: String(1 + (mix(found.noise, Math.floor(time / 1000)) % 9)),
        side: move > 0 ? 'S' : move < 0 ? 'B' : 'N',
      });
    }
    // This answer alone was seen with names in two styles.
    return answer({ symbol, instrumentId, result });
  },
};

function snapshot(contract: Contract, now: number) {
  const time = lastOptionTrade(contract, now);
  const moment = momentAt(time);
  const dayStart = { day: moment.day, minute: 0 };
  const traded = optionAsTraded(contract);
  const price = traded.price(moment);
  const { high, low } = traded.range(dayStart, moment);
  const previousClose = optionPriceOf(contract, { day: moment.day - 1, minute: 1440 });
  const volume = traded.volume(dayStart, moment);
  const { bid, ask } = optionSides(price);
  const lots = (side: number) => String(1 + (mix(mix(contract.noise, side), Math.floor(time / 1000)) % 50));
  return {
    symbol: contract.symbol,
    instrument_id: contract.instrumentId,
    price: money(price),
    open: money(traded.price(dayStart)),
    high: money(high),
    low: money(low),
    close: money(price),
    pre_close: money(previousClose),
    volume: String(volume),
    change: money(price - previousClose),
    change_ratio: ratio(price - previousClose, previousClose),
    last_trade_time: time,
    quote_time: time,
    bid: money(bid),
    ask: money(ask),
    bid_size: lots(6),
    ask_size: lots(5),
    deal_amount: money(volume * multiplier * Math.round((high + low) / 2)),
    strike_price: strikeText(contract),
    open_interest: String(10 + (mix(contract.noise, 8) % 20_000)),
    ...(partOfDay(now) === 'during' ? sensitivities(contract, moment) : unreportedGreeks),
  };
}

function sensitivities(contract: Contract, moment: Minute) {
  const greeks = greeksOf(contract, priceOf(contract.underlying, moment), moment.day);
  const { delta, gamma, theta, vega, rho } = greeks;
  return {
    imp_vol: volatilityOf(contract).toFixed(4),
    gamma: fixed(gamma, 4),
    delta: fixed(delta, 4),
    theta: fixed(theta, 4),
    vega: fixed(vega, 4),
    rho: fixed(rho, 4),
  };
}

/** Values outside market hours; both forms of an absent number were seen live. */
const unreportedGreeks = { imp_vol: null, gamma: '', delta: '', theta: '', vega: '', rho: null };

/** Places bid and ask one percent, at least a cent, away from the price; a bid is never negative. */
function optionSides(price: number): { readonly bid: number; readonly ask: number } {
  const half = Math.max(1, Math.round(price / 100));
  return { bid: Math.max(0, price - half), ask: price + half };
}
