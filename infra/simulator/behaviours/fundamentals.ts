/**
 * Fundamentals of companies and funds; every symbol is answered as if it were either. This file has the facts by which one
 * would notice an invented answer; the schemas pick from them, and chance adds the rest.
 */

import { dividendsOf, nextQuarter, publishedQuarters, publishedYears, trait } from '../market/books.ts';
import { dayNumber, dayOf, dayText, quarterEnds, timeOf } from '../market/calendar.ts';
import type { Instrument } from '../market/instrument.ts';
import { closeOf } from '../market/prices.ts';
import { findSector } from '../market/sectors.ts';
import { marketStart } from '../market/tape.ts';
import { fixed, money } from '../numbers-and-times.ts';
import { pageOf } from '../paging.ts';
import { hashOf, mix } from '../random.ts';
import type { Rejection } from '../refusal.ts';
import type { World } from '../world.ts';
import { type ApiCall, answer, type Behaviour, type Behaviours } from './behaviour.ts';
import { findAny, isRefusal } from './find.ts';
import { type AnswerFacts, factualAnswer } from './from-schema.ts';

const firstDay = dayOf(marketStart);

/** Facts of the outermost list's records, or of the answer beside them. */
type TellFacts = (
  about: Instrument,
  call: ApiCall,
  world: World,
) => readonly AnswerFacts[] | AnswerFacts | Rejection;

/** Figures of which an indicator is made, by the indicator's name. */
const indicators: Readonly<Record<string, readonly [part: string, whole: string, decimals: number]>> = {
  roa: ['net_income', 'total_assets', 4],
  roe: ['net_income', 'total_equity', 4],
  net_margin: ['net_income', 'revenue', 4],
  debt_to_assets: ['total_liab', 'total_assets', 4],
  naps: ['total_equity', 'common_shares_out', 2],
  ocf_ps: ['cfo', 'common_shares_out', 2],
  cap_surplus_ps: ['apic', 'common_shares_out', 2],
  diluted_eps_incl_extra: ['net_income', 'common_shares_out', 2],
};

const ratios = ['ROE', 'DEBT_TO_ASSETS', 'NET_MARGIN', 'DIV_YIELD_TTM'];

const periods = (about: Instrument, { query, now }: ApiCall) =>
  (query.type === 'ANNUAL' ? publishedYears : publishedQuarters)(about, now, Number(query.count ?? 5));

const tellers: Readonly<Record<string, TellFacts>> = {
  getCompanyProfile: () => ({}),
  getAnalystTargetPrice: () => ({}),
  getAnalystRating: () => ({}),
  getIncomeStatement: periods,
  getCashFlowStatement: periods,
  getBalanceSheet: periods,

  getFinancialIndicators: (about, call) => {
    const periodFacts: readonly AnswerFacts[] = periods(about, call);
    const values = Object.entries(indicators).map(([name, [part, whole, decimals]]) => [
      name,
      periodFacts.map((one) => ({
        fiscal_year: one.fiscal_year,
        fiscal_period: one.fiscal_period,
        value: fixed(Number(one[part]) / Number(one[whole]), decimals),
      })),
    ]);
    return { values: Object.fromEntries(values) };
  },

  listFilings: (about, { now }) => publishedQuarters(about, now, 8),
  listEarningsCalendar: (about, { now }) => reports(about, now, 8),
  getForecastEps: (about, { now }) => reports(about, now, 4),

  getFinancialAlert: (about, { now }) => {
    const [before, next] = [publishedQuarters(about, now, 4)[3]!, nextQuarter(about, now)];
    return {
      ...next,
      start_date: next.publish_date,
      end_date: next.publish_date,
      eps_ly: before.eps_actual,
      rev_ly: before.rev_actual,
    };
  },

  listDividendCalendar: (about, { now }) =>
    dividendsOf(about, now, 8)
      .map(({ amount, declareDay, exDay, payDay }) => ({
        amount: money(amount),
        div_type: 'CASH_DIVIDEND',
        declare_date: dayText(declareDay),
        ex_div_date: dayText(exDay),
        record_date: dayText(exDay),
        pay_date: dayText(payDay),
      }))
      .toReversed(),

  getCapitalFlow: (_about, { query, now }) => {
    const count = Number(query.count ?? 5);
    return Array.from({ length: count }, (_, at) => ({
      date: dayText(dayOf(now) - count + at).replaceAll('-', ''),
    }));
  },

  /** Compares twenty of the same sector and kind, the requested one among them. */
  getIndustryComparison: (about, { query, now }, { universe }) => {
    const type = query.sort_by ?? 'EPS_TTM';
    const others = [...universe.values()].filter(
      (one) => one !== about && one.sectorId === about.sectorId && one.category === about.category,
    );
    // The lowest debt and the lowest price are the best.
    const sign = ['DEBT_TO_ASSETS', 'PE_TTM', 'PB_RATIO'].includes(type) ? 1 : -1;
    const peers = [about, ...others.slice(0, 19)].map((one) => ({
      one,
      value: trait(one, hashOf(0, type), 0.05, ratios.includes(type) ? 0.75 : 40),
    }));
    const data = peers
      .sort((a, b) => sign * (a.value - b.value))
      .map(({ one: { symbol, name }, value }, at) => ({
        symbol,
        name,
        rank: at + 1,
        value: fixed(value, 4),
      }));
    return { ...publishedQuarters(about, now, 1)[0], type, data };
  },

  getFundAllocations: (fund, { now }) => {
    const [date] = quarterEnds(dayOf(now), 1).map(dayText);
    const aum = assetsOf(fund, now);
    const percents = { cash: 2, bond: 1, preferred: 1, convertible: 1, other: 1, stock: 94 };
    const parts = Object.entries(percents).map(([name, part]) => [
      name,
      { value: String((aum / 100) * part), ratio: `${part}.00` },
    ]);
    return [{ date, aum: String(aum), ...Object.fromEntries(parts) }];
  },

  getFundBrief: () =>
    ['Lead manager', 'Manager'].map((title) => ({
      name: `The ${title.toLowerCase()}`,
      title,
      end_date: null,
      is_incumbent: 1,
    })),

  getFundDividends: (fund, call) => {
    const page = pageOf(call, 10, (moment) => ({ records: dividendsOf(fund, moment, 24) }));
    if (isRefusal(page)) return page;
    const data = page.records.map(({ amount, declareDay, exDay, payDay }) => ({
      share_date: timeOf(exDay),
      publish_date: timeOf(declareDay),
      pay_date: timeOf(payDay),
      record_date: timeOf(exDay),
      dps: money(amount),
    }));
    return { data, pagination_key: page.pagination_key };
  },

  getFundFiles: () => ({}),

  getFundHoldings: (fund, _call, { universe }) => {
    const stocks = universe.active().filter((one) => one.category === 'US_STOCK' && one !== fund);
    // Ten short steps do not go once around the list, so they lead to ten different stocks.
    const start = mix(fund.noise, 97) % stocks.length;
    return Array.from({ length: 10 }, (_, at) => {
      const { symbol, name } = stocks[(start + at * 7) % stocks.length]!;
      return {
        target_symbol: symbol,
        stock_name: name,
        share_held_pct: money(900 - 70 * at),
        maturity_date: null,
      };
    });
  },

  /** Lists values from the newest, before `last_date` if given; a day's value is known when the day is over. */
  getFundNetValues: (fund, { query, now }) => {
    const yesterday = dayOf(now) - 1;
    const last = query.last_date === undefined ? yesterday : dayNumber(query.last_date) - 1;
    const newest = Math.min(last, yesterday);
    const count = Math.min(Number(query.count ?? 5), newest - firstDay + 1);
    return Array.from({ length: Math.max(0, count) }, (_, back) => ({
      date: dayText(newest - back),
      net_value: money(closeOf(fund, newest - back)),
    }));
  },

  getFundPerformance: () => ({}),
  getFundRatings: () => ({}),

  /** Splits lie before the first day with a price, so that prices need no correction. */
  getFundSplits: (fund) => [
    { split_date: timeOf(launchOf(fund) + 300), split_type: 'SPLIT', split_ratio: '1:2', from: '1', to: '2' },
  ],
};

/** Published reports, the oldest first, and then the next one. */
const reports = (about: Instrument, now: number, count: number): readonly AnswerFacts[] => [
  ...publishedQuarters(about, now, count).toReversed(),
  nextQuarter(about, now),
];

/** Facts that answers contain for any company or fund beside their own. */
function factsOf(one: Instrument, now: number): AnswerFacts {
  const monday = dayOf(now) - ((dayOf(now) + 3) % 7);
  const mean = Math.round(closeOf(one, monday - 1) * trait(one, 65, 0.95, 1.2));
  const sector = findSector(one.sectorId)!.name;
  const votes = [12, 18, 12, 4, 3].map((most, at) => mix(one.noise, 70 + at) % (most + 1));
  const [strong_buy, buy, hold, under_perform, sell] = votes.map(String);
  return {
    symbol: one.symbol,
    category: one.category,
    market: 'US',
    currency: 'USD',
    name: one.name,
    company_name: one.name,
    exhibition_code: one.exchangeCode,
    industries: [sector],
    industry_name: sector,
    mean: money(mean),
    low: money(Math.round(mean * trait(one, 66, 0.7, 0.9))),
    high: money(Math.round(mean * trait(one, 67, 1.1, 1.35))),
    median: money(Math.round(mean * trait(one, 68, 0.97, 1.03))),
    effective_start_date: timeOf(monday),
    number: String(votes.reduce((all, vote) => all + vote, 0)),
    ...{ strong_buy, buy, hold, under_perform, sell },
    launch_date: dayText(launchOf(one)),
    aum: String(assetsOf(one, now)),
  };
}

/** Day of the launch, years before the simulated market's first day. */
const launchOf = ({ noise }: Instrument) => firstDay - 400 - (mix(noise, 90) % 6000);

/** Value of all shares at yesterday's close, in whole hundreds of dollars. */
const assetsOf = (fund: Instrument, now: number) =>
  100 * Math.round((closeOf(fund, dayOf(now) - 1) * fund.sharesOutstanding) / 10_000);

const behaviour =
  (tell: TellFacts): Behaviour =>
  (call, world) => {
    const about = findAny(world, call.query.symbol);
    if (isRefusal(about)) return about;
    const facts = tell(about, call, world);
    if (isRefusal(facts)) return facts;
    const common = factsOf(about, call.now);
    return answer(
      Array.isArray(facts)
        ? factualAnswer(call, about.noise, common, facts)
        : factualAnswer(call, about.noise, { ...common, ...facts }),
    );
  };

export const fundamentals: Behaviours = Object.fromEntries(
  Object.entries(tellers).map(([id, tell]) => [id, behaviour(tell)]),
);
