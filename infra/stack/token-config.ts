/** What a deployer may configure of the scheduled check of the access token. */

import * as v from 'valibot';
import { topicArn, whole } from './schema-parts.ts';

export interface AccessTokenConfig {
  /** Default 6. */
  readonly checkEveryHours?: number;
  /** How many days before the token's end the alarm is raised. Default 3, at most 7, which is half of its life. */
  readonly alarmDaysBefore?: number;
  /** The ARN of the SNS topic that hears of the alarms. Default none: the alarms exist all the same. */
  readonly alarmTopic?: string;
}

/** With nothing left open. */
export type ResolvedAccessToken = v.InferOutput<typeof accessTokenSchema>;

export const accessTokenSchema = v.strictObject({
  checkEveryHours: v.optional(whole(1, 24), 6),
  alarmDaysBefore: v.optional(whole(1, 7), 3),
  alarmTopic: v.optional(topicArn),
});
