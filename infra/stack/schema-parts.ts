/** What several parts of the configuration's schema are made of; each message completes a sentence of the error. */

import * as v from 'valibot';

export { ConfigError } from './config-error.ts';

export function oneOf<const V extends readonly string[]>(...values: V) {
  return v.picklist(values, `takes one of ${values.join(', ')}`);
}

/** @param fault what it takes */
export const matching = (pattern: RegExp, fault: string) => v.pipe(v.string(fault), v.regex(pattern, fault));

export const yesOrNo = v.boolean('takes true or false');

export const whole = (min: number, max: number) => {
  const message = `takes a whole number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
};

/** Only lower-case letters and digits, because names become parts of CloudFormation's ids. */
const nameFault = 'takes a name of 1 to 32 lower-case letters and digits, beginning with a letter';
export const name = matching(/^[a-z][a-z0-9]{0,31}$/, nameFault);

const topicFault = 'takes the ARN of an SNS topic';
export const topicArn = matching(/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/, topicFault);

/** Of a function's instances. A reserved 0 is Lambda's way to stop a function; here its group is closed instead. */
export const reservation = v.lazy((given) =>
  typeof given === 'number'
    ? whole(1, 1000)
    : v.literal('none', 'takes a whole number from 1 to 1000, or none'),
);
