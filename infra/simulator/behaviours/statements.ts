/** Financial statements and the figures made from them. */

import { dayText } from '../market/calendar.ts';
import { publishedQuarters, type Quarter, quarterlyDividend } from '../market/companies.ts';
import type { Instrument } from '../market/instrument.ts';
import { balanceOf, cashFlowOf, type Figures, incomeOf, sumOf } from '../market/statements.ts';
import { fixed, money } from '../numbers-and-times.ts';
import { answer, type Behaviour, type Behaviours, type Call } from './behaviour.ts';
import { findAny, isRefusal } from './find.ts';

/** A quarter, or the four of a year, the newest first. */
interface Period {
  readonly year: number;
  /** 0 for a year. */
  readonly period: number;
  readonly quarters: readonly Quarter[];
}

export const statements: Behaviours = {
  getIncomeStatement: statement((instrument, { quarters }) => {
    const figures = sumOf(quarters.map((quarter) => incomeOf(instrument, quarter)));
    const eps = money(quarters.reduce((sum, quarter) => sum + quarter.eps, 0));
    return {
      ...textOf(figures),
      diluted_avg_shares: String(instrument.sharesOutstanding),
      diluted_eps_excl_extra: eps,
      diluted_eps_incl_extra: eps,
      diluted_norm_eps: eps,
      dps: money(quarters.length * quarterlyDividend(instrument)),
    };
  }),

  getCashFlowStatement: statement((instrument, { quarters }) => {
    const paid = Math.round((instrument.sharesOutstanding * quarterlyDividend(instrument)) / 100);
    return textOf(sumOf(quarters.map((quarter) => cashFlowOf(instrument, quarter, paid))));
  }),

  getBalanceSheet: statement((instrument, { quarters }) => textOf(balanceOf(instrument, quarters[0]!))),

  getFinancialIndicators: (call, world) => {
    const found = findAny(world, call.query.symbol);
    if (isRefusal(found)) return found;
    const periods = periodsFor(found, call);
    const series = (value: (period: Period) => string) =>
      periods.map((period) => ({
        fiscal_year: period.year,
        fiscal_period: period.period,
        value: value(period),
      }));
    const per = (whole: string, part: string, decimals = 4) =>
      series((period) => {
        const figures = allFigures(found, period);
        return fixed(figures[part]! / figures[whole]!, decimals);
      });
    return answer({
      currency: 'USD',
      values: {
        roa: per('total_assets', 'net_income'),
        roe: per('total_equity', 'net_income'),
        diluted_eps_incl_extra: series(({ quarters }) =>
          money(quarters.reduce((sum, { eps }) => sum + eps, 0)),
        ),
        net_margin: per('revenue', 'net_income'),
        debt_to_assets: per('total_assets', 'total_liab'),
        naps: per('common_shares_out', 'total_equity', 2),
        ocf_ps: per('common_shares_out', 'cfo', 2),
        cap_surplus_ps: per('common_shares_out', 'apic', 2),
      },
    });
  },
};

function statement(figures: (instrument: Instrument, period: Period) => object): Behaviour {
  return (call, world) => {
    const found = findAny(world, call.query.symbol);
    if (isRefusal(found)) return found;
    return answer(
      periodsFor(found, call).map((period) => ({
        fiscal_year: period.year,
        fiscal_period: period.period,
        end_date: dayText(period.quarters[0]!.endDay),
        publish_date: dayText(period.quarters[0]!.publishDay),
        currency: 'USD',
        ...figures(found, period),
      })),
    );
  };
}

/** The newest first. */
function periodsFor(instrument: Instrument, { query, now }: Call): readonly Period[] {
  const count = Number(query.count ?? 5);
  if (query.type !== 'ANNUAL') {
    return publishedQuarters(instrument, now, count).map((quarter) => ({ ...quarter, quarters: [quarter] }));
  }
  const quarters = publishedQuarters(instrument, now, 4 * count + 4);
  const newest = quarters.findIndex(({ period }) => period === 4);
  return Array.from({ length: count }, (_, back) => {
    const ofYear = quarters.slice(newest + 4 * back, newest + 4 * back + 4);
    return { year: ofYear[0]!.year, period: 0, quarters: ofYear };
  });
}

export function allFigures(instrument: Instrument, { quarters }: Pick<Period, 'quarters'>): Figures {
  return {
    ...sumOf(quarters.map((quarter) => incomeOf(instrument, quarter))),
    ...sumOf(quarters.map((quarter) => cashFlowOf(instrument, quarter, 0))),
    ...balanceOf(instrument, quarters[0]!),
  };
}

const textOf = (figures: Figures) =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, String(value)]));
