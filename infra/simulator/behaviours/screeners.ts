/** Rankings of actively traded instruments, at the prices that snapshots show at the same moment; sectors are invented. */

import type { Instrument } from '../market/instrument.ts';
import { lastTradeTime } from '../market/tape.ts';
import { answer, type Behaviour, type Behaviours } from './behaviour.ts';
import { type AnswerFacts, factualAnswer } from './from-schema.ts';
import { snapshot } from './market.ts';

const shownRows = 200;

/** Ranks by a member of the snapshot. A request for any window gets the change of the day, for any measure the usual one. */
const ranking =
  (measure: 'change_ratio' | 'volume'): Behaviour =>
  (call, world) => {
    const sign = call.query.direction === 'ASC' ? 1 : -1;
    const rows = world.universe
      .active()
      .filter(({ category }) => category === call.query.category)
      .map((one) => rowOf(one, call.now))
      .sort((a, b) => sign * (Number(a[measure]) - Number(b[measure])));
    return answer(factualAnswer(call, 0, {}, rows.slice(0, shownRows)));
  };

const rowOf = (instrument: Instrument, now: number): AnswerFacts => ({
  name: instrument.name,
  // Comes second, because V8 makes the object several times faster then.
  ...snapshot(instrument, lastTradeTime(instrument, now)),
  category: instrument.category,
  exchange_code: instrument.exchangeCode,
  currency: 'USD',
  currency_code: 'USD',
  ticker_symbol: instrument.symbol,
});

export const screeners: Behaviours = {
  listGainersLosers: ranking('change_ratio'),
  listTopActive: ranking('volume'),
  listHighDividendRank: ranking('change_ratio'),
  listWeek52HighLow: ranking('change_ratio'),
};
