/** Fundamentals of funds. Every symbol is answered as if it were one. */

import { dayNumber, dayOf, dayText, quarterEnds, timeOf } from '../market/calendar.ts';
import { dividendsOf, trait } from '../market/companies.ts';
import type { Instrument } from '../market/instrument.ts';
import { personOf } from '../market/names.ts';
import { closeOf } from '../market/prices.ts';
import { marketStart } from '../market/tape.ts';
import { fixed, money } from '../numbers-and-times.ts';
import { pageByCount, readCursor } from '../paging.ts';
import { mix } from '../random.ts';
import type { World } from '../world.ts';
import { answer, type Behaviours, type Call, type Reply } from './behaviour.ts';
import { findAny, isRefusal } from './find.ts';

const firstDay = dayOf(marketStart);

/** Every answer begins with finding the fund. */
const ofFund =
  (tell: (fund: Instrument, call: Call, world: World) => Reply) =>
  (call: Call, world: World): Reply => {
    const found = findAny(world, call.query.symbol);
    return isRefusal(found) ? found : tell(found, call, world);
  };

export const funds: Behaviours = {
  getFundAllocations: ofFund((fund, { now }) => {
    const [end] = quarterEnds(dayOf(now), 1);
    const assets = assetsOf(fund, end!);
    // Percent, in hundredths, so that the parts are a hundred together.
    const parts = {
      cash: 20 + (mix(fund.noise, 91) % 80),
      bond: 10,
      preferred: 5,
      convertible: 5,
      other: 10,
    };
    const stock = 10_000 - Object.values(parts).reduce((sum, part) => sum + part, 0);
    const shares = Object.entries({ ...parts, stock }).map(([name, part]) => [
      name,
      { value: ((assets * part) / 10_000).toFixed(0), ratio: money(part) },
    ]);
    return answer([{ date: dayText(end!), aum: assets.toFixed(0), ...Object.fromEntries(shares) }]);
  }),

  getFundBrief: ofFund((fund, { now }) => {
    const managers = [1, 2].map((at) => {
      const start = dayOf(Date.UTC(2016, 0)) + (mix(fund.noise, 92 + at) % 3000);
      const days = Math.max(0, dayOf(now) - start);
      return {
        name: personOf(mix(fund.noise, 95 + at)),
        title: at === 1 ? 'Lead manager' : 'Manager',
        start_date: dayText(start),
        end_date: null,
        is_incumbent: 1,
        tenure_return: returnSince(fund, start, dayOf(now) - 1),
        tenure_years: fixed(days / 365.25, 1),
        tenure_days: days,
      };
    });
    const [stem] = fund.name.split(' ');
    return answer({
      name: fund.name,
      launch_date: dayText(launchOf(fund)),
      benchmark: `${stem} Total Market Index`,
      investment_objective: 'To follow the index before fees.',
      aum: assetsOf(fund, dayOf(now) - 1).toFixed(0),
      issuer: `${stem} Asset Management`,
      custodian: `${stem} Custody Bank`,
      managers,
    });
  }),

  getFundDividends: ofFund((fund, { operation, query, now }) => {
    const cursor = readCursor(operation, query, now);
    if (cursor && isRefusal(cursor)) return cursor;
    const moment = cursor?.now ?? now;
    const page = pageByCount(dividendsOf(fund, moment, 24), 10, moment, cursor);
    if (isRefusal(page)) return page;
    const { records, ...more } = page;
    return answer({
      data: records.map(({ amount, declareDay, exDay, payDay }) => ({
        share_date: timeOf(exDay),
        publish_date: timeOf(declareDay),
        pay_date: timeOf(payDay),
        record_date: timeOf(exDay),
        dps: money(amount),
      })),
      ...more,
    });
  }),

  getFundFiles: ofFund((fund, { now }) =>
    answer(
      (
        [
          ['Prospectus', 1],
          ['Annual report', 4],
          ['Semi-annual report', 5],
          ['Factsheet', 52],
        ] as const
      ).map(([name, type], at) => {
        const [published] = quarterEnds(dayOf(now) - 90 * at, 1);
        return {
          publish_date: dayText(published!),
          url: `https://example.com/funds/${fund.symbol.toLowerCase()}/${name.toLowerCase().replaceAll(' ', '-')}.pdf`,
          file_name: name,
          type,
        };
      }),
    ),
  ),

  getFundHoldings: ofFund((fund, { now }, { universe }) => {
    const stocks = universe.active(now).filter((one) => one.category === 'US_STOCK' && one !== fund);
    // Ten short steps do not go once around, so they lead to ten different ones.
    const start = mix(fund.noise, 97) % stocks.length;
    const held = Array.from({ length: 10 }, (_, at) => stocks[(start + at * 7) % stocks.length]!);
    const [end] = quarterEnds(dayOf(now), 1);
    return answer(
      held.map((stock, at) => ({
        target_symbol: stock.symbol,
        stock_name: stock.name,
        share_held_pct: money(900 - 70 * at - (mix(fund.noise, 98 + at) % 50)),
        share_held_chg_pct: money((mix(fund.noise, 120 + at) % 81) - 40),
        maturity_date: null,
        update_time: timeOf(end!),
      })),
    );
  }),

  /** The newest first, each a day before the one to continue from; today's is known when the day is over. */
  getFundNetValues: ofFund((fund, { query, now }) => {
    const yesterday = dayOf(now) - 1;
    const last = query.last_date === undefined ? yesterday : dayNumber(query.last_date) - 1;
    const newest = Math.min(last, yesterday);
    const count = Math.min(Number(query.count ?? 5), newest - firstDay + 1);
    return answer(
      Array.from({ length: Math.max(0, count) }, (_, back) => ({
        date: dayText(newest - back),
        currency: 'USD',
        net_value: money(closeOf(fund, newest - back)),
      })),
    );
  }),

  getFundPerformance: ofFund((fund, { now }) => {
    const end = dayOf(now) - 1;
    const monthsBack = (months: number) => {
      const date = new Date(timeOf(end));
      return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, date.getUTCDate()));
    };
    const back = { '1m': 1, '3m': 3, '6m': 6, '1y': 12, '3y': 36, '5y': 60, '10y': 120 };
    const returns = Object.entries(back).map(([name, months]) => [
      `return_${name}`,
      returnSince(fund, monthsBack(months), end),
    ]);
    return answer({
      currency: 'USD',
      end_date: dayText(end),
      ...Object.fromEntries(returns),
      return_si: returnSince(fund, firstDay, end),
    });
  }),

  getFundRatings: ofFund((fund, { now }) => {
    const [end] = quarterEnds(dayOf(now), 1);
    return answer(
      ['0', '3', '5', '10'].map((cycle, at) => ({
        rating_date: dayText(end!),
        rating_agency: 'Example Ratings',
        rating_cycle: cycle,
        rating_results: 1 + (mix(fund.noise, 130 + at) % 5),
      })),
    );
  }),

  getFundSplits: ofFund((fund) => {
    const parts = 2 + (mix(fund.noise, 140) % 3);
    return answer([
      {
        // Before the first day that has a price, so that prices need no correction.
        split_date: timeOf(launchOf(fund) + 300),
        split_type: 'SPLIT',
        split_ratio: `1:${parts}`,
        from: '1',
        to: String(parts),
      },
    ]);
  }),
};

/** Years before the simulated market's first day. */
const launchOf = (fund: Instrument) => firstDay - 400 - (mix(fund.noise, 90) % 6000);

/** In dollars: a part of all that the fund's shares are worth. */
function assetsOf(fund: Instrument, day: number): number {
  return Math.round((closeOf(fund, day) / 100) * fund.sharesOutstanding * trait(fund, 99, 0.8, 1));
}

/** In percent, from the end of one day to that of another. */
function returnSince(fund: Instrument, from: number, to: number): string {
  const start = closeOf(fund, Math.max(from, firstDay));
  return fixed((100 * (closeOf(fund, to) - start)) / start, 2);
}
