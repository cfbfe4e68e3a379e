/** Finds the instruments that a call names, or refuses unknown ones. */

import type { Instrument } from '../market/instrument.ts';
import { type Contract, findContract } from '../market/option-contracts.ts';
import { type Rejection, refuse } from '../refusal.ts';
import type { World } from '../world.ts';
import { type ApiCall, type ApiReply, answer, type Behaviour } from './behaviour.ts';

/** Finds an instrument for market data: the symbol must be of the call's category. */
export function findInstrument(
  { universe }: World,
  symbol: string,
  category: string | undefined,
): Instrument | Rejection {
  const instrument = universe.get(symbol);
  return instrument?.category === category ? instrument! : unknownSymbol(symbol);
}

/** Answers for the instrument that a call of market data names, or refuses an unknown one. */
export const ofInstrument =
  (told: (found: Instrument, call: ApiCall, world: World) => object): Behaviour =>
  (call, world) => {
    const found = findInstrument(world, call.query.symbol!, call.query.category);
    return isRefusal(found) ? found : replyOf(told(found, call, world));
  };

/** Answers for each instrument that a call names, or refuses the first unknown one. */
export const ofInstruments =
  (told: (found: Instrument, call: ApiCall) => object): Behaviour =>
  (call, world) => {
    const { symbols = '', category } = call.query;
    const found = findAll(symbols.split(','), (symbol) => findInstrument(world, symbol, category));
    return isRefusal(found) ? found : answer(found.map((one) => told(one, call)));
  };

const replyOf = (told: object): ApiReply => (isRefusal(told) ? told : answer(told));

/** Finds an instrument for fundamentals in any category, because the interface asks for funds with US_STOCK, too. */
export function findAny({ universe }: World, symbol: string | undefined): Instrument | Rejection {
  return universe.get(symbol!) ?? unknownSymbol(symbol!);
}

export function findOption({ universe }: World, symbol: string): Contract | Rejection {
  return findContract(universe, symbol) ?? unknownSymbol(symbol);
}

/** Finds all of them, or refuses the first that is unknown. */
export function findAll<T extends object>(
  symbols: readonly string[],
  find: (symbol: string) => T | Rejection,
): readonly T[] | Rejection {
  const found: T[] = [];
  for (const symbol of symbols) {
    const one = find(symbol);
    if (isRefusal(one)) return one;
    found.push(one);
  }
  return found;
}

export function isRefusal(found: object): found is Rejection {
  return 'error_code' in found;
}

function unknownSymbol(symbol: string): Rejection {
  return refuse(417, 'INVALID_SYMBOL', `Symbol not known, ${symbol}`);
}
