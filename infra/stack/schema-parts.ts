/** What several parts of the configuration's schema are made of; each message completes a sentence of the error. */

import * as v from 'valibot';
import { type Numbers, wholeNumbers } from '../../lib/catalogue/numbers.ts';

export { ConfigError } from './config-error.ts';

export function oneOf<const V extends readonly string[]>(...values: V) {
  return v.picklist(values, `takes one of ${values.join(', ')}`);
}

/** @param fault what it takes */
export const matching = (pattern: RegExp, fault: string) => v.pipe(v.string(fault), v.regex(pattern, fault));

export const yesOrNo = v.boolean('takes true or false');

export const whole = (min: number, max: number) => {
  const message = `takes ${wholeNumbers([min, max]).words}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
};

export const number = ({ words, has }: Numbers) =>
  v.pipe(v.number(`takes ${words}`), v.check(has, `takes ${words}`));

/** Instances that Lambda's concurrency lets run at once, of one stack or of several. */
export const instanceCount = whole(1, 100_000);

export const faultless = (faultOf: (text: string) => string | undefined, otherwise: string) =>
  v.pipe(
    v.string(otherwise),
    v.check(
      (text) => faultOf(text) === undefined,
      (issue) => `${JSON.stringify(issue.input)} cannot be used: ${faultOf(String(issue.input))}`,
    ),
  );

/** Only lower-case letters and digits, because names become parts of CloudFormation's ids. */
const nameFault = 'takes a name of 1 to 32 lower-case letters and digits, beginning with a letter';
export const name = matching(/^[a-z][a-z0-9]{0,31}$/, nameFault);

/** What the CDK writes in place of a value that is known at deployment, such as `topic.topicArn` of the same app. */
const token = String.raw`\$\{Token\[[^\]]+\]\}`;
const arn = (pattern: string, fault: string) => matching(new RegExp(`^(?:${pattern}|${token})$`), fault);

const inAws = (service: string) => String.raw`arn:aws[a-z-]*:${service}:[a-z0-9-]+:\d{12}`;
export const topicArn = arn(String.raw`${inAws('sns')}:[\w-]{1,256}`, 'takes the ARN of an SNS topic');
export const secretArn = arn(
  String.raw`${inAws('secretsmanager')}:secret:[\w/+=.@-]{1,512}-[A-Za-z0-9]{6}`,
  'takes the whole ARN of a secret in Secrets Manager, with the six characters at its end',
);
export const keyArn = arn(
  String.raw`${inAws('kms')}:key/[\w-]{1,64}`,
  'takes the ARN of a key in KMS, not of an alias',
);
export const webAclArn = arn(
  String.raw`${inAws('wafv2')}:regional/webacl/[\w-]{1,128}/[\w-]{1,36}`,
  'takes the ARN of a Regional web ACL of AWS WAF',
);
export const firehoseArn = arn(
  String.raw`${inAws('firehose')}:deliverystream/[\w.-]{1,64}`,
  'takes the ARN of a Firehose stream',
);

export const email = matching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'takes an address for e-mail');

/** Of a function's instances. A reserved 0 is Lambda's way to stop a function; here its group is closed instead. */
export const reservation = v.lazy((given) =>
  typeof given === 'number'
    ? whole(1, 1000)
    : v.literal('none', 'takes a whole number from 1 to 1000, or none'),
);
