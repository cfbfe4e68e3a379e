import assert from 'node:assert/strict';
import { test } from 'vitest';
import { previewOrder } from '../../lib/catalogue/index.ts';
import { cents, type Json, play } from './player.ts';
import { testTime } from './support.ts';
import { assertConsistent, balance, positions, refused, trade } from './trader.ts';

test('options: bought at the snapshot’s price, a hundred shares each, fees by the contract', () => {
  const player = play();
  const leg = (side: string, strike: string, quantity = '3') => ({
    side,
    market: 'US',
    instrument_type: 'OPTION',
    symbol: 'AAPL',
    quantity,
    strike_price: strike,
    option_expire_date: '2027-03-19',
    option_type: 'CALL',
  });
  const order = (more: object) => ({
    instrument_type: 'OPTION',
    symbol: 'AAPL',
    quantity: '3',
    option_strategy: 'SINGLE',
    ...more,
  });
  const snapshot = () =>
    player.ask('getOptionSnapshots', {
      symbols: 'AAPL270319C00250000,AAPL270319C00260000',
      category: 'US_OPTION',
    });
  const [near, far] = snapshot();
  const cash = cents(balance(player).total_cash_balance);
  const bought = trade(player, order({ legs: [leg('BUY', '250')] }));
  assert.equal(bought.filled_price, near.price);
  assert.equal(cents(balance(player).total_cash_balance), cash - 300 * cents(near.price) - 3 * 55);
  const position = positions(player).find((one) => one.legs?.[0].option_exercise_price === '250.00');
  assert.deepEqual(
    [position.quantity, position.last_price, position.instrument_id],
    ['3', snapshot()[0].price, near.instrument_id],
  );
  assertConsistent(player);

  const legs = [leg('BUY', '250'), leg('SELL', '260')];
  player.now = testTime;
  const spread = trade(player, order({ option_strategy: 'VERTICAL', legs }));
  assert.equal(cents(spread.filled_price), cents(near.price) - cents(far.price));
  assert.deepEqual(
    spread.legs.map(({ side, quantity }: Json) => [side, quantity]),
    [
      ['BUY', '3'],
      ['SELL', '3'],
    ],
  );
  // Sold the other way round, the position is closed.
  const isSpread = (one: Json) => one.option_strategy === 'VERTICAL' && one.symbol === 'AAPL';
  assert.equal(positions(player).filter(isSpread).length, 1);
  trade(
    player,
    order({ side: 'SELL', option_strategy: 'VERTICAL', legs: [leg('SELL', '250'), leg('BUY', '260')] }),
  );
  assert.equal(positions(player).filter(isSpread).length, 0);
  assertConsistent(player);

  for (const [wrong, code] of [
    [{ legs: undefined }, 'OPENAPI_PARAM_ERR'],
    [{ legs: [leg('SELL', '250')] }, 'OPENAPI_PARAM_ERR'],
    [{ legs: [leg('BUY', '250', '2')] }, 'OPENAPI_PARAM_ERR'],
    [{ quantity: '0.5', legs: [leg('BUY', '250', '0.5')] }, 'OPENAPI_PARAM_ERR'],
    [{ legs: [{ ...leg('BUY', '250'), option_expire_date: '2026-10-16' }] }, 'INVALID_SYMBOL'],
    [{ legs: [{ ...leg('BUY', '250'), symbol: 'NOPE9' }] }, 'INVALID_SYMBOL'],
    [{ side: 'SELL', quantity: '4', legs: [leg('SELL', '250', '4')] }, 'CAN_SELL_QTY_NOT_ENOUGH'],
  ] as const)
    assert.equal(refused(player, order(wrong)), code, JSON.stringify(wrong));
});

test('the example of a preview names an option that has years to go: whoever tries it tries it later', () => {
  const player = play();
  player.now = Date.UTC(2028, 10, 22, 15);
  player.ask('previewOrder', {}, previewOrder.example.body);
});
