/** What a deployer may configure of trading: limits, and stops that alarms set. */

import * as v from 'valibot';
import { allowedMembersWords, canBeAllowed } from '../../lib/catalogue/order-members.ts';
import {
  areLimits,
  limitNames,
  noLimit,
  readLimits,
  type TradingLimits,
} from '../../lib/guard-rails/limits.ts';
import type { Mistakes } from '../mistakes.ts';
import { didYouMean } from '../nearest-name.ts';
import { matching, yesOrNo } from './schema-parts.ts';

export interface StopOnAlarmsConfig {
  /**
   * Names of CloudWatch alarms in the account and Region of the stack, composite ones too: each that is raised stops the
   * gateway's trading. Default none: an alarm can name the function as its action all the same.
   */
  readonly names?: readonly string[];
  /**
   * Whether such a stop cancels all open orders of all accounts, too, those that other programs placed among them. Default
   * false: they stay open.
   */
  readonly cancelOpen?: boolean;
}

/** With nothing left open. */
export interface ResolvedStopOnAlarms {
  readonly names: readonly string[];
  readonly cancelOpen: boolean;
  /** Instances that Lambda keeps free for the stop. */
  readonly reservedConcurrency?: number;
}

/** EventBridge holds a rule's pattern to 2,048 characters. */
const maxNamesLength = 1500;

const nameFault = 'takes the name of a CloudWatch alarm, of 1 to 255 visible characters, and not its ARN';

const stopOnAlarmsSchema = v.strictObject({
  names: v.optional(
    v.pipe(
      v.array(matching(/^(?!arn:)(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}]{1,255}$/u, nameFault)),
      v.check((names) => new Set(names).size === names.length, 'has the same alarm twice'),
      v.check(
        (names) => JSON.stringify(names).length <= maxNamesLength,
        'takes names that fit 1,500 characters as JSON, because one rule has them: make a composite alarm of several',
      ),
    ),
    [],
  ),
  cancelOpen: v.optional(yesOrNo, false),
});

/** One instance is enough: a second event of the kind finds that trading is stopped. */
const reserved = 1;

/** @param reservesNone as `functions.reservedConcurrency` says for all or for orders, where an account has too few instances */
export const resolveStopOnAlarms = (
  given: v.InferOutput<typeof stopOnAlarmsSchema>,
  reservesNone: boolean,
): ResolvedStopOnAlarms => ({ ...given, ...(!reservesNone && { reservedConcurrency: reserved }) });

export interface TradingConfig {
  /**
   * Limits of all trading through the gateway, until an operator sets others with `countersign trading`; or `none`. Required
   * where `groups.orders` opens to users: then with `max_order_notional` and `max_orders_per_minute` at least, or `none`.
   */
  readonly limits: TradingLimits | 'none';
  /**
   * Members that an order may have besides those of the catalogue: no check knows what they say. Default none, and an order
   * with another member is refused.
   */
  readonly orderMembers?: readonly string[];
  /** Alarms that stop the gateway's trading, until an operator resumes it; `{}` opens. Default none do. */
  readonly stopOnAlarms?: StopOnAlarmsConfig;
}

const limitsFault = "takes an object of limits or 'none'";

export const tradingSchema = v.strictObject({
  limits: v.custom<TradingLimits | 'none'>(
    (given) => given === 'none' || (typeof given === 'object' && given !== null && !Array.isArray(given)),
    limitsFault,
  ),
  orderMembers: v.optional(
    v.pipe(
      v.array(v.string(allowedMembersWords)),
      v.check((names) => canBeAllowed(names), allowedMembersWords),
    ),
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
  if (areLimits(read)) return read;
  for (const { name, detail } of read)
    mistakes.add(`trading.limits.${name} ${detail}.${suggestion(name, detail)}`);
  return {};
}

const suggestion = (name: string, detail: string) =>
  detail === noLimit ? didYouMean(name, [...limitNames, 'actions']) : '';
