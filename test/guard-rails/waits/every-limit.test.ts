/**
 * A limit that can be set is checked, for every kind of order that can be placed or replaced, and told: one that nothing
 * looks at, or that passes over a kind, would compile, and let those orders pass.
 */

import assert from 'node:assert/strict';
import type { GenericSchema } from 'valibot';
import { describe, test } from 'vitest';
import type { Answer } from '../../../lib/answer.ts';
import { batchPlaceOrders, operations, placeOrder, replaceOrder } from '../../../lib/catalogue/index.ts';
import { isGuarded, type Operation } from '../../../lib/catalogue/operation.ts';
import { itemOf, memberNames, memberOf } from '../../../lib/catalogue/places.ts';
import { checkNames, limitNames, type TradingLimits } from '../../../lib/guard-rails/limits.ts';
import { createHandOver } from '../../../lib/orders/hand-over.ts';
import { createMemoryOrderJournal } from '../../../lib/orders/index.ts';
import { firstColumn } from '../../docs/pages.ts';
import { leg, limited, option } from '../guarded.ts';
import { createFloor } from '../hand-over-rules.ts';

type CheckName = (typeof checkNames)[number];
type Order = Readonly<Record<string, unknown>>;

/** For each check limits that the second of two equal requests fails, and that check alone, with so many orders in each. */
const failing: Readonly<Record<CheckName, (orders: number) => TradingLimits>> = {
  restricted_symbols: () => ({ restricted_symbols: ['AAPL'] }),
  allowed_symbols: () => ({ allowed_symbols: ['MSFT'] }),
  allowed_sides: () => ({ allowed_sides: [] }),
  allowed_order_types: () => ({ allowed_order_types: [] }),
  allowed_sessions: () => ({ allowed_sessions: [] }),
  max_order_quantity: () => ({ max_order_quantity: '0.01' }),
  price_collar: () => ({ price_collar: '1' }),
  max_order_notional: () => ({ max_order_notional: '0.01' }),
  max_orders_per_minute: (orders) => ({ max_orders_per_minute: orders }),
  max_duplicative_orders: () => ({ max_duplicative_orders: { orders: 1, seconds: 60 } }),
  max_open_notional: () => ({ max_open_notional: '0.01' }),
};

/** These count requests: the first of the two passes. */
const letsFirstPass: readonly CheckName[] = ['max_orders_per_minute', 'max_duplicative_orders'];
/** These look at the orders of a request together, and name one of them. */
const namesOne: readonly CheckName[] = [...letsFirstPass, 'max_open_notional'];

/** Kinds of orders that a check leaves out, as docs/orders.md says. */
function isLeftOut(check: CheckName, { operation, orders, placed }: Kind): boolean {
  if (check === 'max_duplicative_orders') return operation === replaceOrder;
  const all = placed ?? orders;
  return (
    check === 'price_collar' &&
    !all.some((one) => one.instrument_type === 'EQUITY' && (one.limit_price ?? one.stop_price))
  );
}

interface Kind {
  readonly operation: Operation;
  /** As they are placed, under ids of their own, or what is changed of those before. */
  readonly orders: readonly Order[];
  /** The orders that are replaced. */
  readonly placed?: readonly Order[];
  /** By another program: the gateway reads them from the upstream. */
  readonly isElsewhere?: true;
}

const places = (...orders: readonly Order[]): Kind => ({ operation: placeOrder, orders });
const batches = (...orders: readonly Order[]): Kind => ({ operation: batchPlaceOrders, orders });
const replaces = (placed: readonly Order[], ...orders: readonly Order[]): Kind => ({
  operation: replaceOrder,
  orders,
  placed,
});

const plain = (more: object = {}) => limited('', '10', '2', more);
/** Of a combination, in which no two are alike. */
const part = (combo_type: string, more: object = {}) => plain({ combo_type, ...more });
const unpriced = plain({ order_type: 'MARKET', limit_price: undefined, quantity: undefined });
const sale = { side: 'SELL' };
const call = option('', '10', '2');
const spread = option('', '10', '2', {
  option_strategy: 'VERTICAL',
  legs: [leg({ quantity: '2' }), leg({ ...sale, quantity: '2', strike_price: '250' })],
});
const more = { quantity: '3', limit_price: '11' };

const shapes: Readonly<Record<string, Kind>> = {
  'an order of stock': places(plain()),
  'one of a fraction': places(plain({ quantity: '0.5' })),
  'one by amount': places({ ...unpriced, entrust_type: 'AMOUNT', total_cash_amount: '25' }),
  'one at the market': places({ ...unpriced, quantity: '2' }),
  'one with a stop price': places({ ...unpriced, quantity: '2', order_type: 'STOP_LOSS', stop_price: '10' }),
  'an option': places(call),
  'an option that its leg alone names': places({
    ...call,
    instrument_type: null,
    symbol: null,
    market: null,
  }),
  'a combination of options': places(spread),
  'shares with a call against them': places(
    option('', '10', '2', {
      option_strategy: 'COVERED_STOCK',
      legs: [
        { side: 'BUY', market: 'US', instrument_type: 'EQUITY', symbol: 'AAPL', quantity: '200' },
        leg({ ...sale, quantity: '2' }),
      ],
    }),
  ),
  'a bracket': places(part('MASTER'), part('STOP_PROFIT', sale), part('STOP_LOSS', sale)),
  'one that triggers another': places(part('MASTER'), part('OTO', sale)),
  'one that cancels another': places(part('OCO', sale), part('OCO', { ...sale, quantity: '1' })),
  'one that triggers two that cancel each other': places(
    part('MASTER'),
    part('OTOCO', sale),
    part('OTOCO', { ...sale, quantity: '1' }),
  ),
  'a batch': batches(plain(), plain({ quantity: '3' })),
  'another price and quantity': replaces([plain()], more),
  'another price': replaces([plain()], { limit_price: '11' }),
  'another quantity': replaces([plain()], { quantity: '3' }),
  'another type': replaces([plain()], { order_type: 'STOP_LOSS_LIMIT', stop_price: '12' }),
  'another quantity of an option': replaces([call], more),
  'another quantity of a combination of options': replaces([spread], more),
  'another quantity of two': replaces([plain(), plain({ quantity: '1' })], more, more),
  'another quantity of an exit': replaces([part('MASTER'), part('STOP_PROFIT', sale)], more, more),
  'one that another program placed': { ...replaces([plain()], more), isElsewhere: true },
};

const listOf = ({ body }: Operation): readonly [list: string, item: GenericSchema] => {
  for (const list of ['new_orders', 'batch_orders', 'modify_orders']) {
    const item = itemOf(memberOf(body!, list) ?? body!);
    if (item) return [list, item];
  }
  assert.fail('an operation that places or replaces orders in a list that is not known here');
};

interface Choice {
  readonly options?: readonly unknown[];
  readonly pipe?: readonly Choice[];
  readonly wrapped?: Choice;
}

const wordsOf = ({ options, pipe, wrapped }: Choice): readonly string[] =>
  options?.filter((one) => typeof one === 'string') ?? wordsOf(pipe?.[0] ?? wrapped ?? { options: [] });

/** An order for each word that the catalogue has for a member of an order. */
const worded: readonly (readonly [name: string, kind: Kind])[] = operations
  .filter(isGuarded)
  .flatMap((operation) => {
    const [, item] = listOf(operation);
    return memberNames(item).flatMap((name) =>
      wordsOf(memberOf(item, name) as unknown as Choice).map((word) => {
        const kind =
          operation === replaceOrder
            ? replaces([plain()], { ...more, [name]: word })
            : { operation, orders: [plain({ [name]: word })] };
        return [`${operation.id} with ${name} ${word}`, kind] as const;
      }),
    );
  });

const prices = { lastPrice: async () => ({ price: '1', at: 0 }) };

async function outcomeOf(check: CheckName, kind: Kind): Promise<string> {
  const { operation, orders, placed = [], isElsewhere } = kind;
  const floor = createFloor(
    { createHandOver, createMemoryOrderJournal },
    {},
    {
      lastPrices: prices,
      optionPrices: prices,
    },
  );
  const [list] = listOf(operation);
  const placedId = (index: number) => `placed-before-${index}`;
  const named = placed.map((one, index) => ({ ...one, client_order_id: placedId(index) }));
  if (isElsewhere)
    floor.state.elsewhere = Object.fromEntries(
      named.map((one) => [one.client_order_id, JSON.stringify(one)]),
    );
  else if (named.length > 0)
    assert.equal(told(await floor.request(placeOrder, { new_orders: named })), 'sent');
  floor.controls.set('stack', { limits: failing[check](orders.length) });
  floor.state.now += 10_000;
  const send = (nth: string) => {
    const own = (index: number) => (operation === replaceOrder ? placedId(index) : `${nth}-${index}-of-two`);
    return floor.request(operation, {
      [list]: orders.map((one, index) => ({ ...one, client_order_id: own(index) })),
    });
  };
  const first = told(await send('first'));
  if (first !== 'sent' && letsFirstPass.includes(check)) return `the first of two: ${first}`;
  return told(await send('second'));
}

/** `sent`, or which checks hold which orders back, or another refusal. */
function told(answer: Answer): string {
  if (answer.kind !== 'refused') return 'sent';
  const { code, errors = [] } = answer.refusal;
  if (code !== 'order_blocked') return code;
  return errors.map(({ check, name }) => `${check} ${name.split('/').at(-1)}`).join(', ');
}

describe('each limit blocks', () => {
  for (const [name, kind] of [...Object.entries(shapes), ...worded])
    test(name, async () => {
      for (const check of checkNames) {
        const outcome = await outcomeOf(check, kind);
        const all = kind.orders.map((_, index) => `${check} ${index}`);
        if (isLeftOut(check, kind)) assert.equal(outcome, 'sent', check);
        else if (namesOne.includes(check)) assert.match(outcome, new RegExp(`^(${check} \\d(, )?)+$`), check);
        else assert.equal(outcome, all.join(', '), check);
      }
    });
});

test('docs/orders.md says what each limit bounds', () => {
  const page = firstColumn('docs/orders.md', 'Guard rails');
  for (const name of checkNames) assert.ok(page.includes(name), name);
  assert.ok(limitNames.length > checkNames.length);
});
