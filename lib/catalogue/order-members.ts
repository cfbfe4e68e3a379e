/**
 * Checks the members in the body of a placement or a replacement. An upstream may read members that the catalogue does not
 * know: checks and journal would ignore them, and the order that it executes could differ from the checked one.
 */

import type { GenericSchema } from 'valibot';
import { type PlaceFault, toPointerPart } from './faults.ts';
import { isGuarded, type Operation } from './operation.ts';
import { itemOf, memberNames, memberOf } from './places.ts';

/** Names that other interfaces, and other versions of this one, have for a member. */
const synonyms: Readonly<Record<string, string>> = {
  qty: 'quantity',
  size: 'quantity',
  volume: 'quantity',
  order_quantity: 'quantity',
  order_qty: 'quantity',
  total_quantity: 'quantity',
  total_qty: 'quantity',
  amount: 'total_cash_amount',
  notional: 'total_cash_amount',
  cash_amount: 'total_cash_amount',
  total_amount: 'total_cash_amount',
  price: 'limit_price',
  order_price: 'limit_price',
  lmt_price: 'limit_price',
  aux_price: 'stop_price',
  stp_price: 'stop_price',
  trigger_price: 'stop_price',
  trailing_amount: 'trailing_stop_step',
  trailing_percent: 'trailing_stop_step',
  action: 'side',
  order_side: 'side',
  ticker: 'symbol',
  ticker_id: 'symbol',
  instrument_id: 'symbol',
  underlying: 'symbol',
  type: 'order_type',
  tif: 'time_in_force',
  session: 'support_trading_session',
  trading_session: 'support_trading_session',
  extended_hours_trading: 'support_trading_session',
  outside_regular_trading_hour: 'support_trading_session',
  asset_class: 'instrument_type',
  security_type: 'instrument_type',
  strike: 'strike_price',
  expiration_date: 'option_expire_date',
  expiry: 'option_expire_date',
  right: 'option_type',
  order_id: 'client_order_id',
  orders: 'new_orders',
  stock_order: 'new_orders',
};

const plainName = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z\d]/g, '');

/** Names of members that orders have: refused at other places, even if the operation itself has no such member. */
const orderNames = [
  ...Object.values(synonyms),
  'entrust_type',
  'combo_type',
  'option_type',
  'extended_hours',
  'event_outcome',
];

const plainSynonyms = new Map(
  [...Object.entries(synonyms), ...orderNames.map((name) => [name, name] as const)].map(([name, meant]) => [
    plainName(name),
    meant,
  ]),
);

/** Lists of orders: an order with such a member could be read as several orders. */
const orderLists = ['new_orders', 'batch_orders', 'modify_orders', 'legs'];

/** Names by operation: a body may have thousands of members, and collecting names walks through the whole schema. */
const knownNames = new WeakMap<Operation, ReadonlyMap<string, string>>();

function namesOf(operation: Operation): ReadonlyMap<string, string> {
  const known = knownNames.get(operation);
  if (known) return known;
  const names = [...(operation.body ? namesIn(operation.body) : []), ...orderLists];
  const made = new Map([...plainSynonyms, ...names.map((name) => [plainName(name), name] as const)]);
  knownNames.set(operation, made);
  return made;
}

/** Finds the member of an order as which a name could be read; undefined if there is none. */
export const meantMember = (operation: Operation, name: string): string | undefined =>
  namesOf(operation).get(plainName(name));

const namesIn = (schema: GenericSchema): readonly string[] =>
  memberNames(schema).flatMap((name) => {
    const part = memberOf(schema, name);
    const item = part && itemOf(part);
    return [name, ...(item ? namesIn(item) : [])];
  });

/** Whether a deployer can allow members of these names besides those of the catalogue. */
export const canBeAllowed = (names: readonly string[]): boolean =>
  names.length <= 20 && names.every((name) => /^[a-z][a-z0-9_]{0,39}$/.test(name));
export const allowedMembersWords = 'takes at most 20 names of members of an order, such as settlement_type';

const maxFaults = 20;

/**
 * Finds the members of a body that its operation does not name; none for an operation that places or replaces nothing.
 *
 * @param allowed names that are still accepted, with the values that `isAdmissible` allows
 */
export function orderMemberFaults(
  operation: Operation,
  body: unknown,
  allowed: readonly string[],
): readonly PlaceFault[] {
  const faults: PlaceFault[] = [];
  if (!isGuarded(operation) || !operation.body) return faults;
  const look = (schema: GenericSchema, value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      const item = itemOf(schema);
      if (item) for (const [index, one] of value.entries()) look(item, one, `${at}/${index}`);
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      if (faults.length >= maxFaults) return;
      const part = memberOf(schema, name);
      const place = `${at}/${toPointerPart(name)}`;
      if (part) look(part, member, place);
      else
        faults.push(
          ...unknownMember(operation, name, place, allowed.includes(name) && isAdmissible(operation, member)),
        );
    }
  };
  look(operation.body, body, '');
  return faults;
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Accepts a plain value, or a list of plain values and flat objects whose members cannot be read as members of an order. */
function isAdmissible(operation: Operation, value: unknown): boolean {
  const isPart = (one: unknown) =>
    isPlain(one) ||
    (!Array.isArray(one) &&
      Object.entries(one as object).every(
        ([name, member]) => isPlain(member) && meantMember(operation, name) === undefined,
      ));
  return isPlain(value) || (Array.isArray(value) && value.every(isPart));
}

function unknownMember(
  operation: Operation,
  name: string,
  place: string,
  isAllowed: boolean,
): readonly PlaceFault[] {
  const meant = meantMember(operation, name);
  if (meant === name) return [{ name: place, detail: 'belongs to another place of the request' }];
  if (meant !== undefined)
    return [{ name: place, detail: 'may be read as another member', allowed: `${meant}, where it belongs` }];
  return isAllowed ? [] : [{ name: place, detail: 'unknown member of an order' }];
}
