/**
 * What the guard lets pass and counts, against a calculation of its own in whole cents: what each order, replaced or not,
 * can cost or bring in when it is executed at the quotes and the margin besides. `ORDERS=1000000` before it runs more.
 */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { createGuard } from '../../../lib/guard-rails/guard.ts';
import { newOrder } from '../../support/orders.ts';

const limit = 2_000_00n;
const marginPercent = 5n;
/** In cents; a symbol that is not there has no fresh quote. */
const quotes: Readonly<Record<string, bigint>> = {
  AAPL: 230_00n,
  MSFT: 5_00n,
  AAPL290119C00240000: 1_50n,
  AAPL290119P00240000: 63_31n,
  MSFT290119C00005000: 1n,
};
const stocks = ['AAPL', 'MSFT', 'F'];
const contracts = [
  ...Object.keys(quotes).filter((symbol) => symbol.length > 5),
  'F290119C00010000',
  'AAPL1290119C00240000',
];

interface Terms {
  /** Cents. */
  readonly limit?: bigint | undefined;
  readonly stop?: bigint | undefined;
  readonly quantity: bigint;
}

interface Intent {
  readonly instrument: 'EQUITY' | 'OPTION' | 'CRYPTO' | 'EVENT' | 'FUTURES';
  readonly side: 'BUY' | 'SELL' | 'SHORT';
  readonly orderType: 'MARKET' | 'LIMIT' | 'STOP_LOSS' | 'STOP_LOSS_LIMIT';
  readonly legs: readonly string[];
  /** Its side of an event, which orders of other instruments may name without meaning. */
  readonly outcome: 'yes' | 'no' | undefined;
  /** An option order that names instrument, market and symbol in its legs alone. */
  readonly ofLegs: boolean;
  readonly terms: Terms;
  readonly changes: readonly (Partial<Terms> & { readonly orderType?: Intent['orderType'] })[];
}

const cents = fc.oneof(fc.bigInt(1n, 300n), fc.bigInt(1n, 100_000n));
const quantity = fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 90_000n));
const orderType = fc.constantFrom('MARKET', 'LIMIT', 'LIMIT', 'STOP_LOSS', 'STOP_LOSS_LIMIT');
const intents: fc.Arbitrary<Intent> = fc
  .constantFrom('EQUITY', 'EQUITY', 'OPTION', 'OPTION', 'CRYPTO', 'EVENT', 'FUTURES')
  .chain((instrument) =>
    fc.record({
      instrument: fc.constant(instrument),
      side: fc.constantFrom('BUY', 'SELL', 'SHORT'),
      orderType,
      legs: fc.uniqueArray(fc.constantFrom(...(instrument === 'OPTION' ? contracts : stocks)), {
        minLength: 1,
        maxLength: instrument === 'OPTION' ? 3 : 1,
      }),
      outcome: fc.constantFrom('yes', 'no', undefined),
      ofLegs: fc.boolean(),
      terms: fc.record({ limit: cents, stop: cents, quantity }),
      changes: fc.array(fc.record({ limit: cents, stop: cents, quantity, orderType }, { requiredKeys: [] }), {
        maxLength: 3,
      }),
    }),
  ) as fc.Arbitrary<Intent>;

const isLimited = (type: Intent['orderType']) => type === 'LIMIT' || type === 'STOP_LOSS_LIMIT';

/** In hundredths of a cent; undefined where no quote says it. */
function worst(
  { instrument, side, legs, outcome }: Intent,
  type: Intent['orderType'],
  terms: Terms,
): bigint | undefined {
  const size = instrument === 'OPTION' ? 100n : 1n;
  const own = isLimited(type) ? (terms.limit ?? 0n) * 100n : 0n;
  if (instrument === 'FUTURES' || legs.some((symbol) => symbol.startsWith('AAPL1'))) return undefined;
  if (side === 'BUY' && isLimited(type) && legs.length === 1) return own * terms.quantity * size;
  // A contract of an event pays one dollar at most.
  if (instrument === 'EVENT' && outcome && legs.length === 1) {
    const most = terms.quantity * 10_000n;
    return own * terms.quantity > most ? own * terms.quantity : most;
  }
  if (instrument === 'CRYPTO' || instrument === 'EVENT') return undefined;
  let each = 0n;
  for (const symbol of legs) {
    const quote = quotes[symbol];
    if (quote === undefined) return undefined;
    const triggered =
      !isLimited(type) && legs.length === 1 && (terms.stop ?? 0n) > quote ? terms.stop! : quote;
    each += triggered * (100n + marginPercent);
  }
  return (each > own ? each : own) * terms.quantity * size;
}

const money = (value: bigint) => `${value / 100n}.${String(value % 100n).padStart(2, '0')}`;
const wire = ({ limit, stop, quantity, orderType }: Intent['changes'][number]) => ({
  ...(limit !== undefined && { limit_price: money(limit) }),
  ...(stop !== undefined && { stop_price: money(stop) }),
  ...(quantity !== undefined && { quantity: String(quantity) }),
  ...(orderType !== undefined && { order_type: orderType }),
});

const prices = {
  lastPrice: async (symbol: string) =>
    quotes[symbol] === undefined ? undefined : { price: money(quotes[symbol]), at: 0 },
};
const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
const question = { credential: 'app', account: 'a', endBy: Number.MAX_SAFE_INTEGER };
/** @param open of all orders, in cents */
const guardOf = (open: bigint) =>
  createGuard({
    controls: {
      read: async () =>
        new Map([
          [
            'stack',
            { version: 1, limits: { max_order_notional: money(limit), max_open_notional: money(open) } },
          ],
        ]),
    },
    lastPrices: prices,
    optionPrices: prices,
    names,
    clock: () => 1_800_000_000_000,
  });

const jsonOf = ({ instrument, side, legs, terms, orderType, outcome, ofLegs }: Intent) =>
  JSON.stringify(
    newOrder({
      side,
      ...(instrument === 'OPTION' && ofLegs
        ? { instrument_type: undefined, symbol: undefined, market: undefined }
        : { instrument_type: instrument, symbol: legs[0] }),
      ...(outcome && { event_outcome: outcome }),
      ...wire({ ...terms, orderType }),
      ...(instrument === 'OPTION' && {
        legs: legs.map((symbol, at) => ({
          symbol,
          side: at % 2 && terms.quantity % 2n ? 'SELL' : 'BUY',
          instrument_type: 'OPTION',
        })),
      }),
    }),
  );

type Exposures = Extract<
  Awaited<ReturnType<ReturnType<typeof createGuard>['verdict']>>,
  { kind: 'allowed' }
>['exposures'];

/** In hundredths of a cent. */
function countedIn(exposure: Exposures[number]): bigint {
  const [whole = '0', part = ''] = (Object.values(exposure?.counted ?? {})[0] ?? '0').split('.');
  return BigInt(whole + part.padEnd(4, '0').slice(0, 4));
}

const numRuns = Number(process.env.ORDERS ?? 2000);

test('no order that passes, and none that is counted, can come to more than the guard says', async () => {
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(intents, async (intent) => {
      const guard = guardOf(1_000_000_000_000_00n);
      const { terms } = intent;
      const json = jsonOf(intent);
      const verdictOf = (replaced?: object, exposure?: Parameters<typeof JSON.stringify>[0]) =>
        guard.verdict({
          ...question,
          orders: [{ json, at: '/0', ...(replaced && { replaced: JSON.stringify(replaced), exposure }) }],
        });
      let now = { ...terms, orderType: intent.orderType };
      let verdict = await verdictOf();
      for (const change of [undefined, ...intent.changes]) {
        const before = verdict.kind === 'allowed' ? verdict.exposures[0] : undefined;
        if (change) {
          verdict = await verdictOf(wire(change), before);
          now = { ...now, ...change };
        }
        if (verdict.kind !== 'allowed') return;
        passed++;
        const most = worst(intent, now.orderType, now);
        assert.ok(most !== undefined && most <= limit * 100n, `${json} ${most}`);
        const counted = countedIn(verdict.exposures[0]);
        assert.ok(counted >= most, `${json} counts ${counted}`);
      }
    }),
    { numRuns, seed: 34 },
  );
  assert.ok(passed > 100, `${passed} passed`);
  if (process.env.ORDERS) console.log(`${passed} orders and replacements passed, none beyond the limit`);
});

test('of a batch that passes all together can come to no more than what may be open', async () => {
  let passed = 0;
  const small = intents.map((one) => ({
    ...one,
    terms: { ...one.terms, quantity: 1n + (one.terms.quantity % 20n) },
  }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(small, { minLength: 2, maxLength: 5 }),
      fc.bigInt(1n, 3n),
      async (batch, times) => {
        const open = times * limit;
        const orders = batch.map((one, index) => ({ json: jsonOf(one), at: `/${index}` }));
        const verdict = await guardOf(open).verdict({ ...question, orders });
        if (verdict.kind !== 'allowed') return;
        passed += batch.length;
        let all = 0n;
        for (const [index, one] of batch.entries()) {
          const most = worst(one, one.orderType, one.terms);
          assert.ok(most !== undefined && most <= limit * 100n, orders[index]?.json);
          assert.ok(countedIn(verdict.exposures[index]) >= most, orders[index]?.json);
          all += most;
        }
        assert.ok(all <= open * 100n, `${all} of ${open}`);
      },
    ),
    { numRuns, seed: 34 },
  );
  assert.ok(passed > 20, `${passed} passed`);
  if (process.env.ORDERS) console.log(`${passed} orders of batches passed, none beyond the limits`);
});
