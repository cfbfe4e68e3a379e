/** Filings, calendars and announcements of a company. */

import { dayText } from '../market/calendar.ts';
import { dividendsOf, nextQuarter, publishedQuarters, type Quarter } from '../market/companies.ts';
import { money } from '../numbers-and-times.ts';
import { answer, type Behaviours } from './behaviour.ts';
import { findAny, isRefusal } from './find.ts';

/** Two years of quarters. */
const reach = 8;

export const calendars: Behaviours = {
  listFilings: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    return answer({
      symbol: found.symbol,
      category: found.category,
      filings: publishedQuarters(found, now, reach).map(({ year, period, publishDay }) => ({
        title: period === 4 ? `Annual report ${year}` : `Quarterly report ${year} Q${period}`,
        url: `https://example.com/filings/${found.symbol.toLowerCase()}-${year}-q${period}.htm`,
        publish_date: dayText(publishDay),
      })),
    });
  },

  listEarningsCalendar: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    const past = publishedQuarters(found, now, reach).toReversed();
    const record = (quarter: Quarter, reported: boolean) => ({
      fiscal_year: quarter.year,
      fiscal_period: quarter.period,
      currency: 'USD',
      expected_publish_date: dayText(quarter.publishDay),
      eps_actual: reported ? money(quarter.eps) : null,
      eps_est: money(quarter.expectedEps),
      rev_actual: reported ? String(quarter.revenue) : null,
      rev_est: String(quarter.expectedRevenue),
    });
    return answer([...past.map((quarter) => record(quarter, true)), record(nextQuarter(found, now), false)]);
  },

  listDividendCalendar: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    return answer(
      dividendsOf(found, now, reach)
        .map(({ amount, declareDay, exDay, payDay }) => ({
          symbol: found.symbol,
          market: 'US',
          currency: 'USD',
          amount: money(amount),
          div_type: 'CASH_DIVIDEND',
          declare_date: dayText(declareDay),
          ex_div_date: dayText(exDay),
          record_date: dayText(exDay),
          pay_date: dayText(payDay),
        }))
        .toReversed(),
    );
  },

  getFinancialAlert: ({ query, now }, world) => {
    const found = findAny(world, query.symbol);
    if (isRefusal(found)) return found;
    const next = nextQuarter(found, now);
    const yearBefore = publishedQuarters(found, now, 5).find(
      ({ year, period }) => year === next.year - 1 && period === next.period,
    )!;
    return answer({
      start_date: dayText(next.publishDay),
      end_date: dayText(next.publishDay),
      fiscal_year: next.year,
      fiscal_period: next.period,
      currency: 'USD',
      eps_est: money(next.expectedEps),
      eps_ly: money(yearBefore.eps),
      rev_est: String(next.expectedRevenue),
      rev_ly: String(yearBefore.revenue),
    });
  },
};
