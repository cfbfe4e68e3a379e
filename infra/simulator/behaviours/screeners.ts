/** Rankings of actively traded instruments, at the prices that snapshots show at the same moment; sectors are invented. */

import type { Instrument } from '../market/instrument.ts';
import { dayPricesAt } from '../market/prices.ts';
import { lastTradeTime } from '../market/tape.ts';
import { ratio } from '../numbers-and-times.ts';
import type { Behaviour, Behaviours } from './behaviour.ts';
import { answer } from './behaviour.ts';
import { type AnswerFacts, factualAnswer } from './from-schema.ts';
import { snapshot } from './market.ts';

const shownRows = 200;

export const screeners: Behaviours = {
  listGainersLosers: ranking('CHANGE_RATIO'),
  listTopActive: ranking('VOLUME'),
  listHighDividendRank: ranking('YIELD'),
  listWeek52HighLow: ranking('CHANGE_RATIO_52W', 'ASC'),
};

/** Ranks the instruments that are highest by the measure. A request for any window gets the change of the day. */
function ranking(usualMeasure: string, usualDirection = 'DESC'): Behaviour {
  return (call, world) => {
    const {
      category,
      rank_type: rank,
      direction = usualDirection,
      sort_by: measure = usualMeasure,
    } = call.query;
    const extreme = rank?.endsWith('LOW') ? 'fifty_two_wk_low' : 'fifty_two_wk_high';
    const rows = world.universe
      .active()
      .filter((one) => one.category === category)
      .map((one) => rowOf(one, call.now, extreme));
    return answer(factualAnswer(call, 0, {}, sortBy(rows, measure, direction).slice(0, shownRows)));
  };
}

function rowOf(
  instrument: Instrument,
  now: number,
  extreme: 'fifty_two_wk_high' | 'fifty_two_wk_low',
): AnswerFacts {
  const time = lastTradeTime(instrument, now);
  const figures = snapshot(instrument, time);
  const { high, low, previousClose } = dayPricesAt(instrument, time);
  const price52w = Number(figures[extreme]);
  return {
    name: instrument.name,
    // Comes second, because V8 makes the object several times faster then.
    ...figures,
    category: instrument.category,
    exchange_code: instrument.exchangeCode,
    currency: 'USD',
    currency_code: 'USD',
    ticker_symbol: instrument.symbol,
    turnover: String(Math.round((Number(figures.volume) * (high + low)) / 200)),
    turnover_rate: figures.turnover,
    amplitude: ratio(high - low, previousClose),
    relative_volume_10d: '1.00',
    pe_ttm: figures.pe_ratio,
    dividend: (Number(figures.yield) * Number(figures.price)).toFixed(2),
    price_52w: figures[extreme],
    change_ratio_52w: ratio(Number(figures.price) - price52w, price52w),
  };
}

/** Sorts by a measure, whose name in lower case is the member's; equal records keep their order. */
function sortBy(records: readonly AnswerFacts[], measure: string, direction: string): readonly AnswerFacts[] {
  const sign = direction === 'ASC' ? 1 : -1;
  const name = measure.toLowerCase();
  const keyed = records.map((record) => ({ record, amount: sign * Number(record[name]) }));
  return keyed.sort((a, b) => a.amount - b.amount).map(({ record }) => record);
}
