/** Market data of options; an expired contract's stands still at its last moment. */

import { barsOf } from '../market/bars.ts';
import { type Contract, strikeText } from '../market/option-contracts.ts';
import { lastOptionTrade, multiplier, optionAsTraded, optionPriceOf } from '../market/option-model.ts';
import { momentAt } from '../market/prices.ts';
import { millisecondsText, money, ratio } from '../numbers-and-times.ts';
import { mix } from '../random.ts';
import type { World } from '../world.ts';
import { queryAsked, shownBar } from './bars.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { findAll, findOption, isRefusal } from './find.ts';

export const options: Behaviours = {
  getOptionSnapshots: ({ query, now }, world) => {
    const found = findAll(query.symbols!.split(','), (symbol) => findOption(world, symbol));
    return isRefusal(found) ? found : answer(found.map((contract) => snapshot(contract, world, now)));
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

function snapshot(contract: Contract, world: World, now: number) {
  const time = lastOptionTrade(contract, now);
  const moment = momentAt(time);
  const dayStart = { day: moment.day, minute: 0 };
  const traded = optionAsTraded(contract);
  const price = traded.price(moment);
  const { high, low } = traded.range(dayStart, moment);
  const previousClose = optionPriceOf(contract, { day: moment.day - 1, minute: 1440 });
  const volume = traded.volume(dayStart, moment);
  // One percent, at least a cent, on both sides of the price; a bid is never negative.
  const half = Math.max(1, Math.round(price / 100));
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
    bid: money(Math.max(0, price - half)),
    ask: money(price + half),
    bid_size: '10',
    ask_size: '10',
    deal_amount: money(volume * multiplier * Math.round((high + low) / 2)),
    strike_price: strikeText(contract),
    open_interest: '1000',
    ...(world.partOfDay(now) === 'during' ? greeksOf(contract) : unreportedGreeks),
  };
}

/** Greeks within market hours: the same for every contract of a type, because nothing is calculated from them. */
const greeksOf = ({ type }: Contract) => ({
  imp_vol: '0.3000',
  gamma: '0.0200',
  delta: type === 'CALL' ? '0.5000' : '-0.5000',
  theta: '-0.0500',
  vega: '0.1000',
  rho: type === 'CALL' ? '0.0500' : '-0.0500',
});

/** Values outside market hours; both forms of an absent number were seen live. */
const unreportedGreeks = { imp_vol: null, gamma: '', delta: '', theta: '', vega: '', rho: null };
