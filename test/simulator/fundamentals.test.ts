import assert from 'node:assert/strict';
import { test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import { type Json, play } from './player.ts';
import { testTime } from './support.ts';

const player = play();
const ask = (id: string, symbol: string, more: Record<string, string> = {}): Json =>
  player.ask(id, { symbol, category: 'US_STOCK', ...more });
const fundamentals = operations.filter(({ group }) => group === 'fundamentals').map(({ id }) => id);

test('every symbol is answered in either category, a later year too; an unknown one is refused', () => {
  assert.ok(fundamentals.length > 20);
  for (const id of fundamentals) {
    for (const symbol of ['QQQ', 'KO'])
      for (const category of ['US_STOCK', 'US_ETF']) assert.ok(player.ask(id, { symbol, category }));
    assert.equal(player.refused(id, { symbol: 'NOPE9', category: 'US_STOCK' }), 'INVALID_SYMBOL', id);
  }
  player.now = Date.UTC(2027, 0, 2);
  for (const id of fundamentals) assert.ok(ask(id, 'AAPL'), id);
  player.now = testTime;
});

test('count has an effect; symbols differ; the pages of a list of days end', () => {
  const flows = ask('getCapitalFlow', 'AAPL', { count: '3' });
  assert.equal(flows.length, 3);
  for (const type of ['ANNUAL', 'QUARTERLY'])
    assert.equal(ask('getIncomeStatement', 'AAPL', { type, count: '3' }).length, 3);
  for (const id of ['listFilings', 'listDividendCalendar', 'listEarningsCalendar'])
    assert.ok(JSON.stringify(ask(id, 'AAPL')) !== JSON.stringify(ask(id, 'MSFT')), id);
  const values = ask('getFundNetValues', 'QQQ', { count: '6' });
  assert.deepEqual(
    values.map(({ date }: Json) => date),
    ['2026-11-16', '2026-11-15', '2026-11-14', '2026-11-13', '2026-11-12', '2026-11-11'],
  );
  assert.deepEqual(ask('getFundNetValues', 'QQQ', { count: '6', last_date: values.at(-1).date }), []);
  assert.ok(player.pages('getFundDividends', { symbol: 'QQQ', category: 'US_STOCK' }).count > 1);
});
