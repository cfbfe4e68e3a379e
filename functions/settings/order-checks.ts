/** The settings of guard rails, for the functions alone that have them. */

import { getOptionSnapshots } from '../../lib/catalogue/market-data/option-snapshots.ts';
import { getStockSnapshots } from '../../lib/catalogue/market-data/snapshots.ts';
import { allowedMembersWords, canBeAllowed } from '../../lib/catalogue/order-members.ts';
import { areLimits, readLimits, type TradingLimits } from '../../lib/guard-rails/limits.ts';
import { type Environment, type OrderChecks, readJson } from './environment.ts';
import type { GuardSettings } from './settings.ts';

function readGuard(env: Environment, faults: string[]): GuardSettings | undefined {
  const { TRADING_CONTROLS_TABLE: tableName, TRADING_LIMITS: text, ORDER_MEMBERS: members } = env;
  if (!tableName) {
    if (text) faults.push('TRADING_CONTROLS_TABLE: not set, but TRADING_LIMITS is');
    return undefined;
  }
  const limits = limitsIn(text || '{}');
  const orderMembers = (members ?? '').split(',').filter(Boolean);
  if (!canBeAllowed(orderMembers)) faults.push(`ORDER_MEMBERS: ${allowedMembersWords}`);
  if (limits) return { tableName, limits, orderMembers };
  faults.push('TRADING_LIMITS: not limits of trading, as JSON');
  return undefined;
}

function limitsIn(text: string): TradingLimits | undefined {
  const read = readLimits(readJson(text));
  return areLimits(read) ? read : undefined;
}

export const orderChecks: OrderChecks = {
  quotes: { stock: getStockSnapshots, option: getOptionSnapshots },
  readGuard,
};
