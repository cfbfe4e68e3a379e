import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import { each } from '../support/each.ts';
import { cents, type Json, play } from './player.ts';
import { testTime } from './support.ts';

const player = play();
const all = [...player.world.universe.values()];
const companies = fc.constantFrom(...all);
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

test('statements add up, for every period', () => {
  for (const type of ['ANNUAL', 'QUARTERLY']) {
    const numbers = (id: string): Record<string, number>[] =>
      ask(id, 'AAPL', { type, count: '3' }).map((record: Json) =>
        Object.fromEntries(Object.entries(record).map(([name, value]) => [name, Number(value)])),
      );
    const [income, cash, balance] = [
      numbers('getIncomeStatement'),
      numbers('getCashFlowStatement'),
      numbers('getBalanceSheet'),
    ];
    assert.deepEqual([income.length, cash.length, balance.length], [3, 3, 3]);
    for (const [at, one] of income.entries()) {
      assert.equal(one.gross_profit, one.revenue! - one.cost_of_revenue!);
      assert.equal(one.op_income, one.gross_profit! - one.opex!);
      assert.equal(one.opex, one.sga_exp! + one.rnd_exp!);
      assert.equal(one.ebt, one.op_income! + one.inter_inc_expse_net_non_oper!);
      assert.equal(one.net_income, one.ebt! - one.income_tax!);
      assert.ok(one.cost_of_revenue! > 0 && one.net_income! > 0);
      assert.equal(one.fiscal_period === 0, type === 'ANNUAL');
      const flow = cash[at]!;
      assert.equal(flow.net_income, one.net_income);
      assert.equal(
        flow.cfo,
        flow.net_income! + flow.dna! + flow.deferred_tax! + flow.non_cash_items! + flow.wc_change!,
      );
      assert.equal(flow.cfi, flow.capex! + flow.other_cfi_items!);
      assert.equal(flow.cff, flow.net_stock_iss_ret! + flow.net_debt_iss_ret! + flow.cff_items!);
      assert.equal(flow.net_change_cash, flow.cfo! + flow.cfi! + flow.cff!);
      const sheet = balance[at]!;
      assert.equal(sheet.total_assets, sheet.total_cur_assets! + sheet.total_non_cur_assets!);
      assert.equal(sheet.total_assets, sheet.total_liab! + sheet.total_equity!);
      assert.equal(sheet.total_liab, sheet.total_cur_liab! + sheet.total_non_cur_liab!);
      assert.equal(
        sheet.total_equity,
        sheet.common_stock! + sheet.apic! + sheet.retained_earnings! + sheet.other_equity!,
      );
      assert.equal(sheet.ppe_net, sheet.ppe_gross! + sheet.acc_depre!);
      assert.equal(
        sheet.total_cur_assets,
        sheet.cash_st_invest! +
          sheet.total_recv_net! +
          sheet.total_inv! +
          sheet.prepaid_expenses! +
          sheet.other_cur_assets!,
      );
    }
  }
});

test('a year is its four quarters', () => {
  const [year] = ask('getIncomeStatement', 'AAPL', { type: 'ANNUAL', count: '1' });
  const quarters = ask('getIncomeStatement', 'AAPL', { count: '20' }).filter(
    (one: Json) => one.fiscal_year === year.fiscal_year,
  );
  assert.equal(quarters.length, 4);
  const sum = quarters.reduce((total: number, one: Json) => total + Number(one.net_income), 0);
  assert.equal(Number(year.net_income), sum);
  assert.equal(ask('getIncomeStatement', 'AAPL').length, 5);
});

test('earnings are the same in forecasts, calendar, statements, announcement and ranking', () => {
  const forecast = ask('getForecastEps', 'AAPL');
  const calendar = ask('listEarningsCalendar', 'AAPL');
  const income = ask('getIncomeStatement', 'AAPL', { count: '4' });
  const alert = ask('getFinancialAlert', 'AAPL');
  assert.deepEqual(
    forecast.map(({ reported }: Json) => reported),
    [true, true, true, true, false],
  );
  const period = (one: Json) => [one.fiscal_year, one.fiscal_period];
  assert.deepEqual(forecast.map(period), calendar.slice(-5).map(period));
  assert.deepEqual(
    forecast.map(({ actual }: Json) => actual),
    calendar.slice(-5).map((one: Json) => one.eps_actual),
  );
  assert.deepEqual(
    forecast.slice(0, 4).map(({ actual }: Json) => actual),
    income.map((one: Json) => one.diluted_eps_incl_extra).toReversed(),
  );
  assert.deepEqual([alert.eps_est, ...period(alert)], [forecast[4].est, ...period(forecast[4])]);
  assert.ok(alert.start_date > '2026-11-17' && calendar.at(-2).expected_publish_date <= '2026-11-17');

  const [ranked] = player.ask('listTopActive', { category: 'US_STOCK' });
  const eps = ask('getForecastEps', ranked.symbol).slice(0, 4);
  const yearly = eps.reduce((sum: number, { actual }: Json) => sum + cents(actual), 0);
  assert.ok(Math.abs(Number(ranked.pe_ttm) - cents(ranked.price) / yearly) <= 0.005);
});

test('a quarter that ended is told of only when its books are published', () => {
  player.now = Date.UTC(2026, 9, 8);
  const forecast = ask('getForecastEps', 'AAPL');
  assert.deepEqual([forecast[4].fiscal_year, forecast[4].fiscal_period, forecast[4].actual], [2026, 3, null]);
  for (const id of ['getIncomeStatement', 'getBalanceSheet', 'listFilings']) {
    const answer = ask(id, 'AAPL');
    const [newest] = answer.filings ?? answer;
    assert.ok(newest.publish_date <= '2026-10-08', id);
  }
  player.now = testTime;
  assert.equal(ask('getForecastEps', 'AAPL')[3].fiscal_period, 3);
});

test('what a company is and what analysts say stands around its price', () => {
  fc.assert(
    fc.property(companies, ({ symbol, category }) => {
      const [{ price }] = player.ask('getStockSnapshots', { symbols: symbol, category });
      const { low, mean, median, high } = ask('getAnalystTargetPrice', symbol);
      assert.ok(cents(low) < cents(mean) && cents(mean) < cents(high));
      assert.ok(cents(low) < cents(median) && cents(median) < cents(high));
      assert.ok(cents(low) < 1.2 * cents(price) && cents(high) > 0.8 * cents(price));
      const { number, ...votes } = ask('getAnalystRating', symbol);
      const sum = ['strong_buy', 'buy', 'hold', 'under_perform', 'sell'].reduce(
        (total, name) => total + Number(votes[name]),
        0,
      );
      assert.equal(Number(number), sum);
      const peers = ask('getIndustryComparison', symbol, { sort_by: 'PE_TTM' });
      assert.equal(peers.industry_name, ask('getCompanyProfile', symbol).industries[0]);
      assert.ok(peers.data.length <= 20 && peers.data.some((one: Json) => one.symbol === symbol));
      assert.deepEqual(
        peers.data.map(({ rank }: Json) => rank),
        peers.data.map((_: Json, at: number) => at + 1),
      );
    }),
    { numRuns: 60 },
  );
});

test('count and sort_by have an effect; days are in order', () => {
  const flows = ask('getCapitalFlow', 'AAPL', { count: '3' });
  assert.deepEqual(
    flows.map(({ date }: Json) => date),
    ['20261114', '20261115', '20261116'],
  );
  assert.equal(ask('getCapitalFlow', 'AAPL').length, 5);
  const indicators = ask('getFinancialIndicators', 'AAPL', { type: 'ANNUAL', count: '2' }).values;
  for (const series of Object.values<Json[]>(indicators)) assert.equal(series.length, 2);
  const order = (sort_by: string) =>
    ask('getIndustryComparison', 'AAPL', { sort_by }).data.map(({ symbol }: Json) => symbol);
  assert.notDeepEqual(order('ROE'), order('PB_RATIO'));
  for (const id of ['listFilings', 'listDividendCalendar', 'listEarningsCalendar'])
    assert.ok(JSON.stringify(ask(id, 'AAPL')) !== JSON.stringify(ask(id, 'MSFT')), id);
});

test('funds: values per share are closing prices, day after day without end or gap', () => {
  const seen: Json[] = [];
  let more: Record<string, string> = {};
  for (let page = 0; page < 4; page++) {
    seen.push(...ask('getFundNetValues', 'QQQ', { count: '6', ...more }));
    more = { last_date: seen.at(-1).date };
  }
  const bars = player.ask('getStockBars', {
    real_time_required: 'false',
    symbol: 'QQQ',
    category: 'US_ETF',
    timespan: 'D',
    count: '24',
  });
  assert.deepEqual(
    each(seen, 'date', 'net_value'),
    bars.toReversed().map(({ time, close }: Json) => [new Date(time).toISOString().slice(0, 10), close]),
  );
  const start = ask('getFundNetValues', 'QQQ', { last_date: '2016-01-06', count: '20' });
  assert.deepEqual(
    start.map(({ date }: Json) => date),
    ['2016-01-05', '2016-01-04'],
  );
  assert.deepEqual(ask('getFundNetValues', 'QQQ', { last_date: '2016-01-04' }), []);
});

test('funds: dividends page by page, shares of a hundred, ten holdings that exist', () => {
  const { records, count } = player.pages('getFundDividends', { symbol: 'QQQ', category: 'US_STOCK' });
  assert.equal(count, 3);
  assert.equal(new Set(records.map(({ share_date: day }) => day)).size, records.length);
  const [{ date: _date, aum, ...parts }] = ask('getFundAllocations', 'QQQ');
  const sum = (name: string) =>
    Object.values<Json>(parts).reduce((total, part) => total + Number(part[name]), 0);
  assert.equal(sum('ratio').toFixed(2), '100.00');
  assert.ok(Math.abs(sum('value') - Number(aum)) <= 6);
  const holdings = ask('getFundHoldings', 'QQQ');
  assert.equal(new Set(holdings.map((one: Json) => one.target_symbol)).size, 10);
  for (const { target_symbol: symbol, stock_name: name } of holdings)
    assert.equal(player.world.universe.get(symbol)?.name, name);
  const held = holdings.map((one: Json) => Number(one.share_held_pct));
  assert.deepEqual(
    held,
    [...held].sort((a, b) => b - a),
  );
});
