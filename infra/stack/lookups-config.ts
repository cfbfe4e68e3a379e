/** What a deployer may configure of lookups by event. */

import * as v from 'valibot';
import { openable } from '../../lib/catalogue/exposure.ts';
import type { Group } from '../../lib/catalogue/groups.ts';
import { topicArn, whole } from './schema-parts.ts';

/** With nothing left open. */
export interface EventsConfig {
  /** Readable by event. */
  readonly groups: readonly Group[];
  readonly concurrency: number;
  readonly reservedConcurrency?: number | undefined;
  readonly archiveDays?: number | undefined;
  readonly alarmTopic?: string | undefined;
}

/** What a batch needs besides two attempts at the upstream: to be taken, kept, published and handed back. */
export const batchSeconds = 4;

export const eventsSchema = v.pipe(
  v.strictObject({
    groups: v.optional(
      v.pipe(
        v.array(v.picklist(openable, `takes a list of ${openable.join(', ')}`)),
        v.minLength(1, 'takes at least one group'),
      ),
    ),
    // Lambda takes no less than 2 for a queue.
    concurrency: v.optional(whole(2, 1000), 2),
    reservedConcurrency: v.optional(whole(2, 1000)),
    // A day less than requests are remembered: what is replayed later would be answered a second time.
    archiveDays: v.optional(whole(1, 14)),
    alarmTopic: v.optional(topicArn),
  }),
  // The queue would hand out messages that no function takes, and a message that comes six times is a dead letter.
  v.check(
    ({ concurrency, reservedConcurrency = concurrency }) => reservedConcurrency >= concurrency,
    'takes a reservedConcurrency of no less than its concurrency',
  ),
);
