/** Financial statements and figures derived from them. */

import * as v from 'valibot';
import { category, symbol } from '../common.ts';
import { bothCategories, fromVendor, noSourceInText, oneLimit, ordinals } from '../decided.ts';
import { daily } from '../freshness.ts';
import { onPage } from '../notes.ts';
import { describe } from '../operation.ts';
import { choice, optional, whole } from '../parameters.ts';
import { day, decimal, joinMembers, ordinal } from '../schemas.ts';

const lastPeriods = {
  symbol,
  category,
  type: optional(
    choice(['ANNUAL', 'QUARTERLY'], { description: 'Yearly or quarterly figures, QUARTERLY when absent.' }),
  ),
  count: optional(whole({ description: 'Number of periods, 5 when absent.', minimum: 1, maximum: 20 })),
};

/** Members that name the period of a statement. */
const period = {
  fiscal_year: v.optional(ordinal),
  fiscal_period: v.optional(v.pipe(ordinal, v.description('0 full year, 1 to 4 quarters.'))),
  end_date: v.optional(day),
  publish_date: v.optional(day),
  currency: v.optional(v.string()),
};

export const getFinancialIndicators = describe({
  id: 'getFinancialIndicators',
  group: 'fundamentals',
  title: 'Financial indicators',
  method: 'GET',
  path: '/market-data/fundamentals/indicators/get',
  aliases: ['/openapi/fundamentals/financial/indicators'],
  query: lastPeriods,
  response: v.looseObject({
    currency: v.optional(v.string()),
    values: v.optional(
      v.pipe(
        v.record(
          v.string(),
          v.array(
            v.looseObject({
              fiscal_year: v.optional(ordinal),
              fiscal_period: v.optional(v.pipe(ordinal, v.description('0 full year, 1 to 4 quarters.'))),
              value: v.optional(decimal),
            }),
          ),
        ),
        v.description(
          'Keys: roa, roe, diluted_eps_incl_extra, net_margin, debt_to_assets, naps, ocf_ps, cap_surplus_ps.',
        ),
      ),
    ),
  }),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', type: 'QUARTERLY', count: '1' } },
  sources: fromVendor,
  notes: [onPage('values is a map from indicator to its periods, not a list.')],
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});

export const getIncomeStatement = describe({
  id: 'getIncomeStatement',
  group: 'fundamentals',
  title: 'Income',
  method: 'GET',
  path: '/market-data/fundamentals/income-statements/get',
  aliases: ['/openapi/fundamentals/financial/income'],
  query: lastPeriods,
  response: v.array(
    v.looseObject(
      joinMembers(period, {
        total_revenue: v.optional(decimal),
        revenue: v.optional(decimal),
        cost_of_revenue: v.optional(decimal),
        gross_profit: v.optional(decimal),
        opex: v.optional(decimal),
        sga_exp: v.optional(decimal),
        rnd_exp: v.optional(decimal),
        op_income: v.optional(decimal),
        other_net_income: v.optional(decimal),
        ebt: v.optional(decimal),
        income_tax: v.optional(decimal),
        eat: v.optional(decimal),
        ni_pre_extra: v.optional(decimal),
        extra_items: v.optional(decimal),
        net_income: v.optional(decimal),
        ni_common_excl_extra: v.optional(decimal),
        ni_common_incl_extra: v.optional(decimal),
        diluted_ni: v.optional(decimal),
        diluted_avg_shares: v.optional(decimal),
        diluted_eps_excl_extra: v.optional(decimal),
        diluted_eps_incl_extra: v.optional(decimal),
        dps: v.optional(decimal),
        diluted_norm_eps: v.optional(decimal),
        op_profit: v.optional(decimal),
        eat_alt: v.optional(decimal),
        ebt_alt: v.optional(decimal),
        unusual_expense_income: v.optional(decimal),
        inter_inc_expse_net_non_oper: v.optional(decimal),
        gain_loss_on_sale_of_assets: v.optional(decimal),
        minority_interest: v.optional(decimal),
      }),
    ),
  ),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', type: 'QUARTERLY', count: '1' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});

export const getCashFlowStatement = describe({
  id: 'getCashFlowStatement',
  group: 'fundamentals',
  title: 'Cashflow',
  method: 'GET',
  path: '/market-data/fundamentals/cash-flows/get',
  aliases: ['/openapi/fundamentals/financial/cash-flow'],
  query: lastPeriods,
  response: v.array(
    v.looseObject(
      joinMembers(period, {
        cfo: v.optional(decimal),
        net_income: v.optional(decimal),
        dna: v.optional(decimal),
        deferred_tax: v.optional(decimal),
        non_cash_items: v.optional(decimal),
        wc_change: v.optional(decimal),
        cfi: v.optional(decimal),
        capex: v.optional(decimal),
        other_cfi_items: v.optional(decimal),
        cff: v.optional(decimal),
        cff_items: v.optional(decimal),
        net_stock_iss_ret: v.optional(decimal),
        net_debt_iss_ret: v.optional(decimal),
        fx_effects: v.optional(decimal),
        net_change_cash: v.optional(decimal),
        interest_paid: v.optional(decimal),
        taxes_paid: v.optional(decimal),
      }),
    ),
  ),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', type: 'QUARTERLY', count: '1' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});

export const getBalanceSheet = describe({
  id: 'getBalanceSheet',
  group: 'fundamentals',
  title: 'Balance sheet',
  method: 'GET',
  path: '/market-data/fundamentals/balance-sheets/get',
  aliases: ['/openapi/fundamentals/financial/balance-sheet'],
  query: lastPeriods,
  response: v.array(
    v.looseObject(
      joinMembers(period, {
        total_assets: v.optional(decimal),
        total_cur_assets: v.optional(decimal),
        cash_st_invest: v.optional(decimal),
        cash: v.optional(decimal),
        cash_equiv: v.optional(decimal),
        st_invest: v.optional(decimal),
        total_recv_net: v.optional(decimal),
        ar_trade_net: v.optional(decimal),
        total_inv: v.optional(decimal),
        other_cur_assets: v.optional(decimal),
        total_non_cur_assets: v.optional(decimal),
        ppe_net: v.optional(decimal),
        ppe_gross: v.optional(decimal),
        acc_depre: v.optional(decimal),
        lt_invest: v.optional(decimal),
        other_lt_assets: v.optional(decimal),
        total_liab: v.optional(decimal),
        total_cur_liab: v.optional(decimal),
        ap: v.optional(decimal),
        notes_st_debt: v.optional(decimal),
        cur_lt_debt_lease: v.optional(decimal),
        other_cur_liab: v.optional(decimal),
        total_non_cur_liab: v.optional(decimal),
        total_lt_debt: v.optional(decimal),
        lt_debt: v.optional(decimal),
        total_debt: v.optional(decimal),
        other_liab: v.optional(decimal),
        total_equity: v.optional(decimal),
        total_sh_equity: v.optional(decimal),
        common_stock: v.optional(decimal),
        apic: v.optional(decimal),
        retained_earnings: v.optional(decimal),
        other_equity: v.optional(decimal),
        total_liab_sh_equity: v.optional(decimal),
        common_shares_out: v.optional(decimal),
        prepaid_expenses: v.optional(decimal),
        accrued_expenses: v.optional(decimal),
        goodwill_net: v.optional(decimal),
        intangibles_net: v.optional(decimal),
        note_rece_long_term: v.optional(decimal),
        capital_lease_obligations: v.optional(decimal),
        minority_interest: v.optional(decimal),
        non_redeemable_preferred_stock: v.optional(decimal),
      }),
    ),
  ),
  limit: 'market-data',
  freshness: daily,
  example: { query: { symbol: 'AAPL', category: 'US_STOCK', type: 'QUARTERLY', count: '1' } },
  sources: fromVendor,
  decisions: [noSourceInText, bothCategories, ordinals, oneLimit],
});
