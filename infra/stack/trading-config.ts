/** What a deployer may configure of trading. */

import * as v from 'valibot';
import {
  areLimits,
  limitNames,
  noLimit,
  readLimits,
  type TradingLimits,
} from '../../lib/guard-rails/limits.ts';
import type { Mistakes } from '../mistakes.ts';
import { didYouMean } from '../nearest-name.ts';
import { type StopOnAlarmsConfig, stopOnAlarmsSchema } from './stop-on-alarms-config.ts';

export interface TradingConfig {
  /**
   * Limits of all trading through the gateway, until an operator sets others with `npm run trading`; or `none`. Required
   * where `groups.orders` opens to users: then with `max_order_notional` and `max_orders_per_minute` at least, or `none`.
   */
  readonly limits: TradingLimits | 'none';
  /** Alarms that stop the gateway's trading, until an operator resumes it; `{}` opens. Default none do. */
  readonly stopOnAlarms?: StopOnAlarmsConfig;
}

/** A function's environment holds 4 kB in all: a longer list belongs into the table. */
const maxLimitsLength = 1000;

const limitsFault = "takes an object of limits or 'none'";

export const tradingSchema = v.strictObject({
  limits: v.custom<TradingLimits | 'none'>(
    (given) => given === 'none' || (typeof given === 'object' && given !== null && !Array.isArray(given)),
    limitsFault,
  ),
  stopOnAlarms: v.optional(stopOnAlarmsSchema),
});

/** @param mistakes takes a sentence for each value that is no limit */
export function resolveTrading(
  given: Pick<TradingConfig, 'limits'> | undefined,
  mistakes: Mistakes,
): TradingLimits {
  if (!given || given.limits === 'none') return {};
  const read = readLimits(given.limits);
  if (areLimits(read)) {
    if (JSON.stringify(read).length > maxLimitsLength)
      mistakes.add(
        `trading.limits takes at most ${maxLimitsLength} characters as JSON: set longer lists with npm run trading, after the deployment.`,
      );
    return read;
  }
  for (const { name, detail } of read)
    mistakes.add(`trading.limits.${name} ${detail}.${suggestion(name, detail)}`);
  return {};
}

const suggestion = (name: string, detail: string) =>
  detail === noLimit ? didYouMean(name, [...limitNames, 'actions']) : '';
