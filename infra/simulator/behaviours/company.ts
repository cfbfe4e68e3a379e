/** Fundamentals of a company: profile, analysts, forecasts, flows and peers. */

import { dayOf, dayText, timeOf } from '../market/calendar.ts';
import { nextQuarter, publishedQuarters, quarterlyDividend, trait, yearlyEps } from '../market/companies.ts';
import type { Instrument } from '../market/instrument.ts';
import { personOf, placeOf } from '../market/names.ts';
import { closeOf, priceAt } from '../market/prices.ts';
import { findSector } from '../market/sectors.ts';
import { lastTradeTime, usualVolume } from '../market/tape.ts';
import { fixed, money } from '../numbers-and-times.ts';
import { mix } from '../random.ts';
import type { World } from '../world.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { findAny, isRefusal } from './find.ts';
import { allFigures } from './statements.ts';

export const company: Behaviours = {
  getCompanyProfile: ({ query }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    const sector = findSector(found.sectorId)!.name;
    return answer({
      symbol: found.symbol,
      category: found.category,
      company_name: found.name,
      establish_date: dayText(dayOf(Date.UTC(1950, 0)) + (mix(found.noise, 61) % 22_000)),
      exhibition_code: found.exchangeCode,
      profile: `An invented business of the sector ${sector}.`,
      employees: String(50 + (mix(found.noise, 62) % 90_000)),
      address: placeOf(mix(found.noise, 63)),
      ceo: personOf(mix(found.noise, 64)),
      industries: [sector],
    });
  },

  /** Made anew each Monday around the price of that morning. */
  getAnalystTargetPrice: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    const monday = dayOf(now) - ((dayOf(now) + 3) % 7);
    const price = closeOf(found, monday - 1);
    const mean = Math.round(price * trait(found, 65, 0.95, 1.2));
    return answer({
      symbol: found.symbol,
      category: found.category,
      mean: money(mean),
      low: money(Math.round(mean * trait(found, 66, 0.7, 0.9))),
      high: money(Math.round(mean * trait(found, 67, 1.1, 1.35))),
      median: money(Math.round(mean * trait(found, 68, 0.97, 1.03))),
      currency: 'USD',
      effective_start_date: timeOf(monday),
    });
  },

  getAnalystRating: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    const monday = dayOf(now) - ((dayOf(now) + 3) % 7);
    const votes = [12, 18, 12, 4, 3].map((most, at) => mix(found.noise, 70 + at) % (most + 1));
    const [strongBuy, buy, hold, underPerform, sell] = votes.map(String);
    return answer({
      symbol: found.symbol,
      category: found.category,
      number: String(votes.reduce((sum, vote) => sum + vote, 0)),
      strong_buy: strongBuy,
      buy,
      hold,
      under_perform: underPerform,
      sell,
      effective_start_date: timeOf(monday),
    });
  },

  getForecastEps: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    const reported = publishedQuarters(found, now, 4).toReversed();
    const next = nextQuarter(found, now);
    return answer([
      ...reported.map(({ year, period, eps, expectedEps }) => ({
        fiscal_year: year,
        fiscal_period: period,
        actual: money(eps),
        est: money(expectedEps),
        reported: true,
      })),
      {
        fiscal_year: next.year,
        fiscal_period: next.period,
        actual: null,
        est: money(next.expectedEps),
        reported: false,
      },
    ]);
  },

  getCapitalFlow: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    const count = Number(query.count ?? 5);
    const today = dayOf(now);
    return answer(Array.from({ length: count }, (_, at) => flowsOf(found, today - count + at)));
  },

  getIndustryComparison: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    const measure = query.sort_by ?? 'EPS_TTM';
    const peers = peersOf(found, world).map((peer) => ({ peer, value: measures[measure]!(peer, now) }));
    // Of debt and of prices the lowest is the best.
    const sign = ['DEBT_TO_ASSETS', 'PE_TTM', 'PB_RATIO'].includes(measure) ? 1 : -1;
    peers.sort((a, b) => sign * (a.value - b.value));
    const [last] = publishedQuarters(found, now, 1);
    return answer({
      fiscal_year: last!.year,
      fiscal_period: last!.period,
      industry_name: findSector(found.sectorId)!.name,
      type: measure,
      data: peers.map(({ peer, value }, at) => ({
        symbol: peer.symbol,
        name: peer.name,
        rank: at + 1,
        value: fixed(value, 4),
      })),
    });
  },
};

/** What a day's trading brought in and out, by the size of orders; together it is all that was traded. */
function flowsOf(instrument: Instrument, day: number) {
  const traded = (usualVolume(instrument, day) * closeOf(instrument, day)) / 100;
  const [large, medium, small] = [0.2, 0.45, 0.35].map((part, at) => {
    const inward = 0.4 + 0.2 * (mix(mix(instrument.noise, 80 + at), day) / 2 ** 32);
    return [traded * part * inward, traded * part * (1 - inward)] as const;
  });
  return {
    date: dayText(day).replaceAll('-', ''),
    large_in: large![0].toFixed(0),
    large_out: large![1].toFixed(0),
    medium_in: medium![0].toFixed(0),
    medium_out: medium![1].toFixed(0),
    small_in: small![0].toFixed(0),
    small_out: small![1].toFixed(0),
  };
}

/** Twenty of the same sector and kind, the asked one among them. */
function peersOf(instrument: Instrument, { universe }: World): readonly Instrument[] {
  const others = [...universe.values()].filter(
    (one) =>
      one !== instrument && one.sectorId === instrument.sectorId && one.category === instrument.category,
  );
  return [instrument, ...others.slice(0, 19)];
}

const yearOf = (instrument: Instrument, now: number) =>
  allFigures(instrument, { quarters: publishedQuarters(instrument, now, 4) });

const dollars = (instrument: Instrument, now: number) =>
  priceAt(instrument, lastTradeTime(instrument, now)) / 100;

const measures: Readonly<Record<string, (instrument: Instrument, now: number) => number>> = {
  EPS_TTM: (one, now) => yearlyEps(one, now) / 100,
  NAPS: (one, now) => yearOf(one, now).total_equity! / one.sharesOutstanding,
  DPS_TTM: (one) => (4 * quarterlyDividend(one)) / 100,
  ROE: (one, now) => yearOf(one, now).net_income! / yearOf(one, now).total_equity!,
  DEBT_TO_ASSETS: (one, now) => yearOf(one, now).total_liab! / yearOf(one, now).total_assets!,
  NET_MARGIN: (one, now) => yearOf(one, now).net_income! / yearOf(one, now).revenue!,
  DIV_YIELD_TTM: (one, now) => (4 * quarterlyDividend(one)) / 100 / dollars(one, now),
  PE_TTM: (one, now) => (100 * dollars(one, now)) / yearlyEps(one, now),
  PB_RATIO: (one, now) => (dollars(one, now) * one.sharesOutstanding) / yearOf(one, now).total_equity!,
};
