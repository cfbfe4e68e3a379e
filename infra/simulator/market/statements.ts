/** Financial statements, in whole dollars: every sum in them is exact. */

import { type Quarter, trait } from './companies.ts';
import type { Instrument } from './instrument.ts';

export type Figures = Readonly<Record<string, number>>;

const share = (whole: number, part: number) => Math.round(whole * part);

/** From what was earned upwards: tax, profit before it, expenses, and what is left of revenue is cost. */
export function incomeOf(instrument: Instrument, { revenue, netIncome }: Quarter): Figures {
  const incomeTax = share(netIncome, 0.25);
  const beforeTax = netIncome + incomeTax;
  const interest = share(revenue, -0.004);
  const operatingIncome = beforeTax - interest;
  const expenses = share(revenue, trait(instrument, 41, 0.08, 0.25));
  const grossProfit = operatingIncome + expenses;
  const selling = share(expenses, 0.6);
  return {
    total_revenue: revenue,
    revenue,
    cost_of_revenue: revenue - grossProfit,
    gross_profit: grossProfit,
    opex: expenses,
    sga_exp: selling,
    rnd_exp: expenses - selling,
    op_income: operatingIncome,
    op_profit: operatingIncome,
    other_net_income: 0,
    inter_inc_expse_net_non_oper: interest,
    unusual_expense_income: 0,
    gain_loss_on_sale_of_assets: 0,
    ebt: beforeTax,
    ebt_alt: beforeTax,
    income_tax: incomeTax,
    eat: netIncome,
    eat_alt: netIncome,
    minority_interest: 0,
    ni_pre_extra: netIncome,
    extra_items: 0,
    net_income: netIncome,
    ni_common_excl_extra: netIncome,
    ni_common_incl_extra: netIncome,
    diluted_ni: netIncome,
  };
}

/** What the business brought, what was spent on it, and what went to owners and lenders. */
export function cashFlowOf(
  instrument: Instrument,
  { revenue, netIncome }: Quarter,
  dividends: number,
): Figures {
  const depreciation = share(revenue, trait(instrument, 42, 0.02, 0.07));
  const deferredTax = share(netIncome, 0.02);
  const other = share(netIncome, 0.05);
  const workingCapital = share(revenue, trait(instrument, 43, -0.03, 0.02));
  const operations = netIncome + depreciation + deferredTax + other + workingCapital;
  const capital = -share(depreciation, trait(instrument, 44, 0.8, 1.5));
  const investments = share(revenue, trait(instrument, 45, -0.05, 0.03));
  const shares = -share(netIncome, trait(instrument, 46, 0, 0.5));
  const debt = share(netIncome, trait(instrument, 47, -0.2, 0.2));
  const financing = shares + debt - dividends;
  return {
    cfo: operations,
    net_income: netIncome,
    dna: depreciation,
    deferred_tax: deferredTax,
    non_cash_items: other,
    wc_change: workingCapital,
    cfi: capital + investments,
    capex: capital,
    other_cfi_items: investments,
    cff: financing,
    cff_items: -dividends,
    net_stock_iss_ret: shares,
    net_debt_iss_ret: debt,
    fx_effects: 0,
    net_change_cash: operations + capital + investments + financing,
    interest_paid: share(revenue, 0.004),
    taxes_paid: share(netIncome, 0.23),
  };
}

/** Both sides of the balance are built from their parts; retained earnings make them equal. */
export function balanceOf(instrument: Instrument, { revenue }: Quarter): Figures {
  const assets = share(revenue, trait(instrument, 51, 3, 7));
  const currentAssets = share(assets, trait(instrument, 52, 0.3, 0.5));
  const cash = share(currentAssets, 0.25);
  const cashEquivalents = share(currentAssets, 0.1);
  const shortInvestments = share(currentAssets, 0.15);
  const receivables = share(currentAssets, 0.25);
  const inventory = share(currentAssets, 0.15);
  const prepaid = share(currentAssets, 0.04);
  const fixedAssets = assets - currentAssets;
  const gross = share(fixedAssets, 0.8);
  const depreciated = -share(gross, 0.4);
  const investments = share(fixedAssets, 0.2);
  const goodwill = share(fixedAssets, 0.15);
  const intangibles = share(fixedAssets, 0.1);
  const notes = share(fixedAssets, 0.01);
  const liabilities = share(assets, trait(instrument, 53, 0.4, 0.75));
  const currentLiabilities = share(liabilities, 0.4);
  const payable = share(currentLiabilities, 0.45);
  const shortDebt = share(currentLiabilities, 0.15);
  const currentLease = share(currentLiabilities, 0.05);
  const accrued = share(currentLiabilities, 0.2);
  const longLiabilities = liabilities - currentLiabilities;
  const longDebt = share(longLiabilities, 0.7);
  const leases = share(longLiabilities, 0.1);
  const equity = assets - liabilities;
  const stock = share(equity, 0.02);
  const paidIn = share(equity, 0.3);
  const otherEquity = -share(equity, 0.03);
  return {
    total_assets: assets,
    total_cur_assets: currentAssets,
    cash_st_invest: cash + cashEquivalents + shortInvestments,
    cash,
    cash_equiv: cashEquivalents,
    st_invest: shortInvestments,
    total_recv_net: receivables,
    ar_trade_net: receivables,
    total_inv: inventory,
    prepaid_expenses: prepaid,
    other_cur_assets:
      currentAssets - cash - cashEquivalents - shortInvestments - receivables - inventory - prepaid,
    total_non_cur_assets: fixedAssets,
    ppe_gross: gross,
    acc_depre: depreciated,
    ppe_net: gross + depreciated,
    lt_invest: investments,
    goodwill_net: goodwill,
    intangibles_net: intangibles,
    note_rece_long_term: notes,
    other_lt_assets: fixedAssets - gross - depreciated - investments - goodwill - intangibles - notes,
    total_liab: liabilities,
    total_cur_liab: currentLiabilities,
    ap: payable,
    notes_st_debt: shortDebt,
    cur_lt_debt_lease: currentLease,
    accrued_expenses: accrued,
    other_cur_liab: currentLiabilities - payable - shortDebt - currentLease - accrued,
    total_non_cur_liab: longLiabilities,
    total_lt_debt: longDebt + leases,
    lt_debt: longDebt,
    capital_lease_obligations: leases,
    total_debt: longDebt + leases + shortDebt + currentLease,
    other_liab: longLiabilities - longDebt - leases,
    minority_interest: 0,
    non_redeemable_preferred_stock: 0,
    total_equity: equity,
    total_sh_equity: equity,
    common_stock: stock,
    apic: paidIn,
    other_equity: otherEquity,
    retained_earnings: equity - stock - paidIn - otherEquity,
    total_liab_sh_equity: assets,
    common_shares_out: instrument.sharesOutstanding,
  };
}

/** Member by member, for the figures of a year. */
export function sumOf(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, all.reduce((sum, figures) => sum + figures[name]!, 0)]),
  );
}
