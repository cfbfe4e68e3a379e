/** Accounts: what belongs to the holder of the app key. */

import * as v from 'valibot';
import { inGroup } from './operation.ts';

const operation = inGroup('accounts');

export const listAccounts = operation({
  id: 'listAccounts',
  title: 'Accounts list',
  method: 'GET',
  path: '/trading/accounts/list',
  aliases: ['/openapi/account/list'],
  query: {},
  response: v.array(
    v.looseObject({
      account_id: v.string(),
      account_type: v.picklist(['MARGIN', 'CASH']),
      user_id: v.optional(v.string()),
      account_number: v.optional(v.string()),
      account_label: v.optional(
        v.picklist([
          'Individual Cash',
          'Individual Margin',
          'Roth IRA',
          'Traditional IRA',
          'Rollover IRA',
          'Managed Roth IRA',
          'Managed Traditional IRA',
          'Futures',
          'Crypto',
          'Events Cash',
        ]),
      ),
      account_class: v.optional(
        v.picklist([
          'INDIVIDUAL_CASH',
          'INDIVIDUAL_MARGIN',
          'ROTH_IRA',
          'TRADITIONAL_IRA',
          'ROLLOVER_IRA',
          'MANAGED_ROTH_IRA',
          'MANAGED_TRADITIONAL_IRA',
          'CRYPTO',
          'FUTURES',
          'EVENTS_CASH',
        ]),
      ),
    }),
  ),
  sources: {
    path: ['interface'],
    request: ['interface'],
    response: ['interface', 'vendor-docs', 'vendor-sdk'],
  },
  decisions: ['The alias is the path from before 2026-09-20.'],
});
