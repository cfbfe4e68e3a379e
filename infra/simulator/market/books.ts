/**
 * Invented books of every instrument's company, in hundredths of its revenue. They follow from the base price, so that
 * price, earnings and dividends have the usual relations.
 */

import { money } from '../numbers-and-times.ts';
import { fraction, mix } from '../random.ts';
import { dayOf, dayText, quarterEnds, timeOf } from './calendar.ts';
import type { Instrument } from './instrument.ts';

/** Parses names with a whole number each. */
const parseTable = (text: string): readonly (readonly [name: string, part: number])[] =>
  text
    .trim()
    .split(/\s*,\s*/)
    .map((entry) => [entry.split(' ')[0]!, Number(entry.split(' ')[1])]);

/** Figures of a period; a year has the sum of its quarters. Every sum in this table and in the next is exact. */
const flows = parseTable(`
  total_revenue 100, revenue 100, cost_of_revenue 58, gross_profit 42, opex 20, sga_exp 12, rnd_exp 8, op_income 22,
  op_profit 22, other_net_income 0, inter_inc_expse_net_non_oper -2, unusual_expense_income 0,
  gain_loss_on_sale_of_assets 0, ebt 20, ebt_alt 20, income_tax 5, eat 15, eat_alt 15, ni_pre_extra 15, extra_items 0,
  net_income 15, ni_common_excl_extra 15, ni_common_incl_extra 15, diluted_ni 15, cfo 20, dna 5, deferred_tax 1,
  non_cash_items 1, wc_change -2, cfi -9, capex -6, other_cfi_items -3, cff -6, cff_items -4, net_stock_iss_ret -3,
  net_debt_iss_ret 1, fx_effects 0, net_change_cash 5, interest_paid 2, taxes_paid 5`);

/** Figures at a period's end. */
const balances = parseTable(`
  total_assets 400, total_cur_assets 160, cash_st_invest 80, cash 40, cash_equiv 16, st_invest 24, total_recv_net 40,
  ar_trade_net 40, total_inv 24, prepaid_expenses 6, other_cur_assets 10, total_non_cur_assets 240, ppe_gross 190,
  acc_depre -76, ppe_net 114, lt_invest 48, goodwill_net 36, intangibles_net 24, note_rece_long_term 2,
  other_lt_assets 16, total_liab 220, total_cur_liab 88, ap 40, notes_st_debt 13, cur_lt_debt_lease 4,
  accrued_expenses 18, other_cur_liab 13, total_non_cur_liab 132, total_lt_debt 105, lt_debt 92,
  capital_lease_obligations 13, total_debt 122, other_liab 27, minority_interest 0, non_redeemable_preferred_stock 0,
  total_equity 180, total_sh_equity 180, common_stock 4, apic 54, retained_earnings 128, other_equity -6,
  total_liab_sh_equity 400`);

const [netMargin, equityPart] = [0.15, 1.8];

/** Number between two bounds that belongs to an instrument and a purpose. */
export function trait({ noise }: Instrument, purpose: number, from: number, to: number): number {
  return from + (to - from) * fraction(mix(noise, purpose));
}

/** Hundredth of the revenue, in whole dollars, of the quarter that ended or will end on a day. */
function hundredth(instrument: Instrument, endDay: number): number {
  const { basePrice, sharesOutstanding, noise } = instrument;
  const usual = (basePrice * sharesOutstanding) / trait(instrument, 30, 9, 38) / 4 / netMargin / 100;
  return Math.round(usual * (0.9 + 0.2 * fraction(mix(mix(noise, 33), endDay))));
}

/** Days after a quarter's end when its books are published. */
const publishedAfter = ({ noise }: Instrument) => 20 + (mix(noise, 34) % 25);

/** Ends of the quarters whose books are published, the newest first. */
const publishedEnds = (instrument: Instrument, now: number, count: number) =>
  quarterEnds(dayOf(now) + 1 - publishedAfter(instrument), count);

/** Books of a quarter, or of the year with the given ends of quarters, the last first. */
function periodOf(instrument: Instrument, ends: readonly number[]) {
  const end = ends[0]!;
  const [last, whole] = [hundredth(instrument, end), sum(ends.map((day) => hundredth(instrument, day)))];
  const date = new Date(timeOf(end));
  const { sharesOutstanding: shares } = instrument;
  const eps = money(perShare(instrument, 100 * netMargin * whole));
  const publishDay = end + publishedAfter(instrument);
  const expected = 0.97 + 0.05 * fraction(mix(instrument.noise, end));
  const est = money(perShare(instrument, 100 * netMargin * whole * expected));
  return {
    fiscal_year: date.getUTCFullYear(),
    fiscal_period: ends.length > 1 ? 0 : Math.floor(date.getUTCMonth() / 3) + 1,
    end_date: dayText(end),
    publish_date: dayText(publishDay),
    expected_publish_date: dayText(publishDay),
    ...Object.fromEntries(flows.map(([name, part]) => [name, String(part * whole)])),
    ...Object.fromEntries(balances.map(([name, part]) => [name, String(part * last)])),
    diluted_avg_shares: String(shares),
    common_shares_out: String(shares),
    diluted_eps_excl_extra: eps,
    diluted_eps_incl_extra: eps,
    diluted_norm_eps: eps,
    dps: money(ends.length * quarterlyDividend(instrument)),
    ...{ actual: eps as string | null, eps_actual: eps as string | null, est, eps_est: est },
    rev_actual: String(100 * whole) as string | null,
    rev_est: String(Math.round(100 * whole * expected)),
    reported: true,
  };
}

type Period = ReturnType<typeof periodOf>;

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

/** Amount for each share, in cents. */
const perShare = ({ sharesOutstanding }: Instrument, amount: number) =>
  Math.max(1, Math.round((100 * amount) / sharesOutstanding));

/** Quarters whose books are published, the newest first. */
export const publishedQuarters = (instrument: Instrument, now: number, count: number): readonly Period[] =>
  publishedEnds(instrument, now, count).map((end) => periodOf(instrument, [end]));

/** Years whose books are published, the newest first. */
export function publishedYears(instrument: Instrument, now: number, count: number): readonly Period[] {
  const ends = publishedEnds(instrument, now, 4 * count + 3);
  const newest = ends.findIndex((end) => new Date(timeOf(end)).getUTCMonth() === 11);
  return Array.from({ length: count }, (_, back) =>
    periodOf(instrument, ends.slice(newest + 4 * back, newest + 4 * back + 4)),
  );
}

/** Quarter that is published next. */
export function nextQuarter(instrument: Instrument, now: number): Period {
  const [last] = publishedEnds(instrument, now, 1);
  // Any day of the quarter after the next one shows when the next one ends.
  const next = periodOf(instrument, [quarterEnds(last! + 95, 1)[0]!]);
  return { ...next, actual: null, eps_actual: null, rev_actual: null, reported: false };
}

/** Figures of a year that snapshots and rankings relate to the price: per share in cents, the rest in whole dollars. */
export function yearOf(instrument: Instrument, now: number) {
  const whole = sum(publishedEnds(instrument, now, 4).map((end) => hundredth(instrument, end)));
  return {
    eps: perShare(instrument, 100 * netMargin * whole),
    revenue: 100 * whole,
    equity: 25 * equityPart * whole,
    dividend: 4 * quarterlyDividend(instrument),
  };
}

/** Dividend of a share each quarter, in cents: between nearly nothing and eight percent a year. */
function quarterlyDividend(instrument: Instrument): number {
  const yearly = 0.002 + 0.078 * trait(instrument, 35, 0, 1) ** 2;
  return Math.max(1, Math.round(25 * instrument.basePrice * yearly));
}

/** Declared dividends, the newest first; the amount is in cents. */
export function dividendsOf(instrument: Instrument, now: number, count: number) {
  const [amount, after] = [quarterlyDividend(instrument), 30 + (mix(instrument.noise, 36) % 25)];
  return quarterEnds(dayOf(now) + 22 - after, count).map((end) => {
    const exDay = end + after;
    return { amount, declareDay: exDay - 21, exDay, payDay: exDay + 14 };
  });
}
