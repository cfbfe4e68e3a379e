/** What a deployer may configure of stops that alarms set. */

import * as v from 'valibot';

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

export const stopOnAlarmsSchema = v.strictObject({
  names: v.optional(
    v.pipe(
      v.array(
        v.pipe(v.string(nameFault), v.regex(/^(?!arn:)(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}]{1,255}$/u, nameFault)),
      ),
      v.check((names) => new Set(names).size === names.length, 'has the same alarm twice'),
      v.check(
        (names) => JSON.stringify(names).length <= maxNamesLength,
        'takes names that fit 1,500 characters as JSON, because one rule has them: make a composite alarm of several',
      ),
    ),
    [],
  ),
  cancelOpen: v.optional(v.boolean('takes true or false'), false),
});

/** One instance is enough: a second event of the kind finds that trading is stopped. */
const reserved = 1;

/** @param reservesNone as `functions.reservedConcurrency` says for all or for orders, where an account has too few instances */
export const resolveStopOnAlarms = (
  given: v.InferOutput<typeof stopOnAlarmsSchema>,
  reservesNone: boolean,
): ResolvedStopOnAlarms => ({ ...given, ...(!reservesNone && { reservedConcurrency: reserved }) });
