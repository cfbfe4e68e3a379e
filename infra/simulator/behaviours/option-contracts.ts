/** List of option contracts. */

import { dayNumber, dayText } from '../market/calendar.ts';
import type { Instrument } from '../market/instrument.ts';
import {
  type Contract,
  contractOf,
  endOfTrading,
  findContract,
  listedExpiries,
  listedStrikes,
  type OptionType,
  strikeText,
} from '../market/option-contracts.ts';
import { multiplier } from '../market/option-model.ts';
import type { Universe } from '../market/universe.ts';
import { readCursor, writeCursor } from '../paging.ts';
import { mix } from '../random.ts';
import { parameterError } from '../refusal.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { isRefusal } from './find.ts';

type ContractsQuery = Readonly<Record<string, string>>;

const pageSize = 100;

export const optionContracts: Behaviours = {
  listOptionContracts: (call, { universe }) => {
    const { query, now } = call;
    const cursor = readCursor(call);
    if (cursor && isRefusal(cursor)) return cursor;
    const moment = cursor?.now ?? now;
    const after = cursor && findContract(universe, cursor.after);
    if (cursor && !after) return parameterError('pagination_key');
    const data: object[] = [];
    let last = '';
    let hasPassed = cursor === undefined;
    for (const contract of contractsFor(query, moment, universe, after?.underlying)) {
      if (!hasPassed) {
        // A cursor of another query may name a contract that this query's list lacks.
        if (query.option_symbols === undefined && contract.underlying !== after!.underlying) break;
        hasPassed = contract.symbol === after!.symbol;
        continue;
      }
      if (data.length === pageSize)
        return answer({ data, pagination_key: writeCursor({ now: moment, after: last }) });
      data.push(shownContract(contract, moment, query));
      last = contract.symbol;
    }
    return hasPassed ? answer({ data }) : parameterError('pagination_key');
  },
};

/** Yields contracts by underlying, expiry, type and strike, one after the other, because there are millions. */
function* contractsFor(
  query: ContractsQuery,
  now: number,
  universe: Universe,
  from: Instrument | undefined,
): Generator<Contract> {
  if (query.option_symbols !== undefined) {
    for (const symbol of new Set(query.option_symbols.split(','))) {
      const contract = findContract(universe, symbol);
      if (contract && matches(contract, query, now)) yield contract;
    }
    return;
  }
  // All listed contracts can be traded, and are of the American style.
  if (query.status === 'DELISTING' || query.style === 'EUROPEAN') return;
  let reached = from === undefined;
  const expiries = listedExpiries(now).filter((day) => matchesDay(day, query));
  for (const underlying of underlyings(query, universe)) {
    reached ||= underlying === from;
    if (!reached || !matchesUnderlying(underlying, query)) continue;
    const strikes = listedStrikes(underlying).filter((strike) => matchesStrike(strike, query));
    for (const day of expiries)
      for (const type of ['CALL', 'PUT'] as const)
        if (matchesType(type, query))
          for (const strike of strikes) yield contractOf(underlying, day, type, strike);
  }
}

function underlyings(
  { underlying_symbols: symbols }: ContractsQuery,
  universe: Universe,
): readonly Instrument[] {
  if (symbols === undefined) return [...universe.values()];
  return [...new Set(symbols.split(','))].flatMap((symbol) => universe.get(symbol) ?? []);
}

function matches(contract: Contract, query: ContractsQuery, now: number): boolean {
  const { underlying, expiryDay, type, strike } = contract;
  const status = endOfTrading(contract) >= now ? 'LISTING' : 'DELISTING';
  const wantedSymbols = query.underlying_symbols?.split(',');
  return (
    status === (query.status ?? 'LISTING') &&
    query.style !== 'EUROPEAN' &&
    (wantedSymbols === undefined || wantedSymbols.includes(underlying.symbol)) &&
    matchesUnderlying(underlying, query) &&
    matchesDay(expiryDay, query) &&
    matchesType(type, query) &&
    matchesStrike(strike, query)
  );
}

/** Filters by expiry as the catalogue states: start_date is the only expiry, end_date the earliest. */
function matchesDay(day: number, { start_date: exact, end_date: earliest }: ContractsQuery): boolean {
  return (
    (exact === undefined || day === dayNumber(exact)) &&
    (earliest === undefined || day >= dayNumber(earliest))
  );
}

function matchesUnderlying(underlying: Instrument, { root_symbol: root, ppind }: ContractsQuery): boolean {
  return (
    (root === undefined || root === underlying.symbol) &&
    (ppind === undefined || ppind === String(inPennyProgram(underlying)))
  );
}

const matchesType = (type: OptionType, { option_type: wanted }: ContractsQuery) =>
  wanted === undefined || wanted === type;

function matchesStrike(
  strike: number,
  { strike_price_gte: least, strike_price_lte: most }: ContractsQuery,
): boolean {
  return strike >= 1000 * Number(least ?? 0) && strike <= 1000 * Number(most ?? Infinity);
}

const inPennyProgram = ({ noise }: Instrument) => mix(noise, 22) % 3 > 0;

function shownContract(contract: Contract, now: number, { show_deliverables: deliverables }: ContractsQuery) {
  const { underlying, type, symbol } = contract;
  const price = strikeText(contract);
  return {
    instrument_id: contract.instrumentId,
    symbol,
    name: `${underlying.symbol} ${dayText(contract.expiryDay)} ${price} ${type === 'CALL' ? 'Call' : 'Put'}`,
    status: endOfTrading(contract) >= now ? 'LISTING' : 'DELISTING',
    tradable_status: underlying.status,
    expiration_date: dayText(contract.expiryDay),
    root_symbol: underlying.symbol,
    underlying_symbol: underlying.symbol,
    underlying_instrument_id: underlying.instrumentId,
    underlying_type: `${underlying.category === 'US_ETF' ? 'ETF' : 'EQUITY'}_${type}_OPTION`,
    option_type: type,
    style: 'AMERICAN',
    strike_price: price,
    multiplier: String(multiplier),
    settlement_method: 'PHYSICAL',
    expired_cycle: 'MONTHLY',
    ppind: inPennyProgram(underlying),
    currency: 'USD',
    def_type: 'STANDARD',
    listed_exchanges: ['CBOE', 'PHLX'],
    ...(deliverables === 'true' && {
      deliverables: [
        {
          asset_type: 'EQUITY',
          symbol: underlying.symbol,
          instrument_id: underlying.instrumentId,
          amount: String(multiplier),
          allocation_percentage: '100',
          settlement_type: 'T_1',
          settlement_method: 'CCC',
          settlement_status: 'REGULAR',
        },
      ],
    }),
  };
}
