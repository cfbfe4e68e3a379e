/** Instruments: stocks and funds. */

import type { Instrument } from '../market/instrument.ts';
import type { Universe } from '../market/universe.ts';
import { pageOf } from '../paging.ts';
import { fraction, mix } from '../random.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { isRefusal } from './find.ts';

const pageSize = 1000;

export const instruments: Behaviours = {
  listStockInstruments: (call, { universe }) => {
    // Funds are found by sub-category or by symbol, because all records have the same category.
    const { symbols, sub_category: subCategory } = call.query;
    const records = select(universe, call.query, (one) =>
      symbols === undefined && subCategory !== undefined
        ? one.subCategory === subCategory
        : symbols !== undefined || one.category === 'US_STOCK',
    );
    const page = pageOf(call, pageSize, () => ({ records }));
    if (isRefusal(page)) return page;
    const { records: data, ...more } = page;
    return answer({ data: data.map(shownInstrument), ...more });
  },

  getStockInstrument: ({ query }, world) => {
    const { sub_category: subCategory, last_instrument_id: last, page_size: size } = query;
    const found = select(
      world.universe,
      query,
      (one) =>
        one.category === query.category && (subCategory === undefined || one.subCategory === subCategory),
    );
    // Identifiers rise in the list's order.
    const rest = last === undefined ? found : found.filter((one) => idOf(one) > idFrom(last));
    return answer(rest.slice(0, Number(size ?? 1000)).map(shownInstrument));
  },
};

const idOf = ({ instrumentId }: Instrument) => BigInt(instrumentId);

/** Sorts text that is no identifier before all identifiers. */
const idFrom = (text: string) => (/^\d+$/.test(text) ? BigInt(text) : -1n);

/** Selects instruments by symbol, or all of them; an unknown symbol gives no record. */
function select(
  universe: Universe,
  { symbols, status }: Readonly<Record<string, string>>,
  wanted: (instrument: Instrument) => boolean,
): readonly Instrument[] {
  const candidates =
    symbols === undefined
      ? [...universe.values()]
      : [...new Set(symbols.split(','))].flatMap((symbol) => universe.get(symbol) ?? []);
  return candidates.filter((one) => wanted(one) && (status === undefined || one.status === status));
}

function shownInstrument(instrument: Instrument) {
  const { noise, subCategory, status } = instrument;
  const plain = subCategory === 'COMMON_STOCK' || subCategory === 'ETF';
  return {
    name: instrument.name,
    instrument_id: instrument.instrumentId,
    exchange_code: instrument.exchangeCode,
    category: instrument.category,
    symbol: instrument.symbol,
    status,
    sub_category: subCategory,
    currency: 'USD',
    lot_size: '1',
    shortable: plain && status === 'OC',
    fractionable: plain,
    marginable: plain,
    overnight_trading_supported: plain,
    easy_to_borrow: plain && fraction(mix(noise, 21)) < 0.9,
    margin_requirement_long: '0.50',
    margin_requirement_short: '0.50',
    intraday_margin_long: '0.25',
    intraday_margin_short: '0.30',
    maintenance_margin_long: '0.30',
    maintenance_margin_short: '0.35',
    etf_leveraged_flag: 'NO',
    etf_leveraged_factor: '0',
    crypto_etf: false,
  };
}
