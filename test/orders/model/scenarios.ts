/** The small models: which requests meet, and how much may go wrong in one history. */

import { operations } from '../../../lib/catalogue/index.ts';
import type { ModelRequest, Scenario } from './history.ts';
import { type Budget, nothing } from './variant.ts';

const operationOf = (id: string) => operations.find((one) => one.id === id)!;

export const order = (client_order_id: string, change = {}) => ({
  client_order_id,
  combo_type: 'NORMAL',
  instrument_type: 'EQUITY',
  symbol: 'AAPL',
  side: 'BUY',
  order_type: 'LIMIT',
  quantity: '1',
  limit_price: '10',
  ...change,
});

export const placing = (...new_orders: readonly unknown[]) => ({
  operation: operationOf('placeOrder'),
  body: JSON.stringify({ account_id: 'account', new_orders }),
});

export const batch = (...batch_orders: readonly unknown[]) => ({
  operation: operationOf('batchPlaceOrders'),
  body: JSON.stringify({ account_id: 'account', batch_orders }),
});

type Wanted = Pick<ModelRequest, 'operation' | 'body'>;

/** Two equal requests over two instances, the second with another app key, and a different one beside the first. */
const twoAndOne = (equal: Wanted, other: Wanted): readonly ModelRequest[] => [
  { name: 'A', instance: 0, ...equal },
  { name: 'B', instance: 1, credential: 'another key', ...equal },
  { name: 'C', instance: 0, ...other },
];

const x = order('order-x');
const y = order('order-y');
const single = twoAndOne(placing(x), placing({ ...x, quantity: '2' }));
const both = batch(x, y);
const twice = [
  { name: 'A', instance: 0, ...both },
  { name: 'B', instance: 1, ...both },
];
const overlapping = [
  { name: 'A', instance: 0, ...both },
  { name: 'C', instance: 1, ...batch(y, order('order-z')) },
];
const oddities = ['refuses_last', 'silent_of_last'] as const;
const combo = twoAndOne(
  placing({ ...x, combo_type: 'MASTER' }, { ...y, combo_type: 'STOP_LOSS' }),
  placing({ ...y, combo_type: 'NORMAL' }),
);

/** With time for two polls; or for all looks, also at an order that is under way elsewhere. */
const shortMs = 1500;
const longMs = 3400;

const subjects: Readonly<Record<string, Omit<Scenario, 'name' | 'budget' | 'patienceMs'>>> = {
  'an order': { requests: single },
  'a batch': { requests: twice, oddities },
  'overlapping batches': { requests: overlapping, oddities },
  'a combination': { requests: combo },
  'an order, and one that no look-up tells from it': {
    requests: twoAndOne(placing(x), placing({ ...x, time_in_force: 'GTC' })),
  },
  'an order whose id another app has used': {
    requests: single,
    before: [placing({ ...x, symbol: 'MSFT' }).body],
  },
  'an order whose id another app has used for more': {
    requests: single,
    before: [placing({ ...x, quantity: '3' }).body],
  },
  'a counted order': { requests: single.slice(0, 2), limit: '100' },
  'two counted orders, of which one is too much': { requests: [single[0]!, single[2]!], limit: '15' },
  'a counted order, and the settlement': {
    requests: single.slice(0, 2),
    limit: '100',
    beside: ['settlement'],
  },
  'a counted order, and an event': { requests: single.slice(0, 2), limit: '100', beside: ['event'] },
  'an order on clocks that differ': {
    requests: single.slice(0, 2),
    clocks: [30_000, -30_000],
  },
  'a batch of which another app has used an id': {
    requests: twice,
    before: [placing({ ...y, symbol: 'MSFT' }).body],
    oddities,
  },
  'a batch that another app has placed': { requests: twice, before: [both.body] },
  'a combination of which another app has used an id': { requests: combo, before: [placing(x).body] },
};

/** @param isPatient with a longer deadline, and many more states */
export const scenarioOf = (subject: string, budget: Partial<Budget>, isPatient = false): Scenario => ({
  name: `${subject}, ${JSON.stringify(budget)}${isPatient ? ', patient' : ''}`,
  ...subjects[subject]!,
  budget: { ...nothing, ...budget },
  patienceMs: isPatient ? longMs : shortMs,
});

export const subjectNames = Object.keys(subjects);

const counted = 'a counted order';
const settled = 'a counted order, and the settlement';

/** Small enough for every run of the tests. */
export const smallScenarios: readonly Scenario[] = [
  ...subjectNames.map((name) => scenarioOf(name, {})),
  scenarioOf('an order', {}, true),
  ...(['refusal', 'crash', 'net', 'long', 'store'] as const).flatMap((one) =>
    ['an order', 'a batch', 'overlapping batches', counted].map((name) => scenarioOf(name, { [one]: 1 })),
  ),
  scenarioOf('a combination', { net: 1 }),
  scenarioOf('an order, and one that no look-up tells from it', { refusal: 1 }, true),
  scenarioOf('a batch of which another app has used an id', { refusal: 1 }),
  scenarioOf('an order whose id another app has used for more', { net: 1 }),
  ...(['net', 'long'] as const).map((one) => scenarioOf(settled, { [one]: 1 })),
  scenarioOf('a counted order, and an event', { net: 1 }),
  scenarioOf(counted, { net: 1, long: 1, wrong: 2 }),
  scenarioOf('two counted orders, of which one is too much', { net: 1, long: 1, wrong: 1 }),
  scenarioOf('an order on clocks that differ', { net: 1, long: 1, wrong: 1 }),
  scenarioOf('an order on clocks that differ', { step: 1 }),
];

/** Two faults and a crash in one history. */
export const largeScenarios: readonly Scenario[] = [
  scenarioOf('an order', { crash: 1, store: 1, net: 1, late: 1, refusal: 1, long: 1 }),
  ...subjectNames.map((name) => scenarioOf(name, { crash: 1, store: 1, net: 1 })),
  ...subjectNames.map((name) => scenarioOf(name, { refusal: 2, net: 1, late: 1 })),
  ...(['refusal', 'crash', 'net', 'long', 'store'] as const).map((one) =>
    scenarioOf('an order', { [one]: 1 }, true),
  ),
  scenarioOf(settled, { refusal: 1 }),
  scenarioOf(settled, { net: 1, long: 1, wrong: 2 }),
  ...(['net', 'long', 'refusal'] as const).map((one) =>
    scenarioOf('an order on clocks that differ', { step: 1, [one]: 1 }),
  ),
];
