/** What a deployer may configure of lookups by event. */

import * as v from 'valibot';

/** With nothing left open. */
export interface EventsConfig {
  readonly concurrency: number;
  readonly archiveDays?: number | undefined;
  readonly alarmTopic?: string | undefined;
}

const whole = (min: number, max: number) => {
  const message = `takes a whole number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
};

const topicFault = 'takes the ARN of an SNS topic';

export const events = v.strictObject({
  // Lambda takes no less than 2 for a queue.
  concurrency: v.optional(whole(2, 1000), 2),
  archiveDays: v.optional(whole(1, 3650)),
  alarmTopic: v.optional(
    v.pipe(v.string(topicFault), v.regex(/^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}$/, topicFault)),
  ),
});
