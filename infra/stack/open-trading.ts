/** What opening orders to users asks for: limits, or the word that there are none. */

import { isGuarded, type Operation } from '../../lib/catalogue/operation.ts';
import type { CountersignConfig, ResolvedConfig } from './config.ts';

/** Where a deployer reads what each limit bounds; a test follows the link. */
export const guardRailsPage = 'docs/orders.md#guard-rails';

/** @returns one sentence, when alarms are to stop trading where no operation trades */
export const stopOnAlarmsFault = (
  { trading }: Pick<CountersignConfig, 'trading'>,
  operations: readonly Operation[],
): string | undefined =>
  trading?.stopOnAlarms && !operations.some(isGuarded)
    ? 'trading.stopOnAlarms has nothing to stop, because no open operation places or replaces orders: open groups.orders, or leave it out.'
    : undefined;

const asked = ['max_order_notional', 'max_orders_per_minute'] as const;

/**
 * An AWS identity is a program of the operator's; users are others. Trading without bounds is not opened to them unseen.
 *
 * @param operations those that the stage opens
 * @returns one sentence, when users may place orders without limits, and the stage does not say so
 */
export function openTradingFault(
  { trading }: Pick<CountersignConfig, 'trading'>,
  access: ResolvedConfig['access'],
  operations: readonly Operation[],
): string | undefined {
  const mode = access.orders;
  if (mode === undefined || mode === 'iam' || !operations.some(isGuarded)) return undefined;
  const limits = trading?.limits;
  // Of another text it has been said that it is wrong.
  if (typeof limits === 'string') return undefined;
  const missing = asked.filter((name) => limits?.[name] === undefined);
  if (missing.length === 0) return undefined;
  return `trading.limits must have ${missing.join(' and ')}, because groups.orders opens trading to users with ${mode}: bound what one order and one minute can do, or say limits: 'none'; ${guardRailsPage} says what each limit bounds.`;
}
