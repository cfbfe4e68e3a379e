/**
 * Fundamentals, auctions and footprints: the schema's answer for known symbols, under the instrument's own name.
 * Fundamentals are answered in any category.
 */

import { operations } from '../../../lib/catalogue/index.ts';
import type { Behaviour, Behaviours } from './behaviour.ts';
import { findAll, findAny, findInstrument, isRefusal } from './find.ts';
import { fromSchema } from './from-schema.ts';

const behaviour: Behaviour = (call, world) => {
  const { operation, query } = call;
  const { symbol, symbols = symbol! } = query;
  const found = findAll(symbols.split(','), (one) =>
    operation.group === 'fundamentals' ? findAny(world, one) : findInstrument(world, one, query.category),
  );
  if (isRefusal(found)) return found;
  if (symbol === undefined) return fromSchema(call, world);
  const { name, instrumentId } = found[0]!;
  const facts = { name, company_name: name, instrument_id: instrumentId };
  return fromSchema({ ...call, query: { ...query, ...facts } }, world);
};

const ids = ['getStockNoiiSnapshot', 'listStockNoiiBars', 'listStockFootprints'];

export const bySymbol: Behaviours = Object.fromEntries(
  operations
    .filter(({ id, group }) => group === 'fundamentals' || ids.includes(id))
    .map(({ id }) => [id, behaviour]),
);
