/** Lookups by event: what a deployer may configure of them, and what does not go together with account data. */

import * as v from 'valibot';
import { openable } from '../../lib/catalogue/exposure.ts';
import { type Group, isAccountData } from '../../lib/catalogue/groups.ts';
import type { Mistakes } from '../mistakes.ts';
import { topicArn, whole } from './schema-parts.ts';

export interface EventsConfig {
  /**
   * The open groups whose operations can be read by event. Default those of market facts. A group of account data is
   * readable by event only if it is named: then each source needs a grant of an operator, replies with account data
   * are on the bus in the clear for its consumers, and `archiveDays` is refused.
   */
  readonly groups?: readonly Group[];
  /** Functions that work on the queue at once. Default 2, which is the minimum. */
  readonly concurrency?: number;
  /**
   * How many instances Lambda keeps free for lookups, which are also the maximum: those of the queue and those
   * that are invoked directly. No less than `concurrency`. Default none.
   */
  readonly reservedConcurrency?: number;
  /** Keeps requests so many days, 14 at most, to be replayed. Default none: an archive costs by what lies in it. */
  readonly archiveDays?: number;
  /** The ARN of the SNS topic that dead letters are reported to. Default none: the alarm exists all the same. */
  readonly alarmTopic?: string;
}

/** With nothing left open. */
export interface ResolvedEvents extends Readonly<Omit<v.InferOutput<typeof eventsSchema>, 'groups'>> {
  /** Readable by event. */
  readonly groups: readonly Group[];
}

/** Instances that work on one queue: Lambda takes no less. */
const minQueueConcurrency = 2;

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
    concurrency: v.optional(whole(minQueueConcurrency, 1000), minQueueConcurrency),
    reservedConcurrency: v.optional(whole(minQueueConcurrency + 1, 1000)),
    // A day less than requests are remembered: what is replayed later would be answered a second time.
    archiveDays: v.optional(whole(1, 14)),
    alarmTopic: v.optional(topicArn),
  }),
  // The queue would hand out messages that no function takes, and a message that comes six times is a dead letter. None
  // for direct calls would refuse them all.
  v.check(
    ({ concurrency, reservedConcurrency }) =>
      reservedConcurrency === undefined || reservedConcurrency > concurrency,
    'takes a reservedConcurrency above its concurrency: the rest is for direct calls',
  ),
);

/**
 * @param open the groups that the deployment opens
 * @param mistakes takes groups that are closed, and what would keep account data in the clear
 */
export function resolveEvents(
  { groups, ...given }: v.InferOutput<typeof eventsSchema>,
  open: readonly Group[],
  mistakes: Mistakes,
): ResolvedEvents {
  const closed = groups?.filter((group) => !open.includes(group)) ?? [];
  for (const group of closed)
    mistakes.add(`events.groups names ${group}, which is closed: open it with groups.${group}.`);
  const readable = open.filter((group) => (groups ? groups.includes(group) : !isAccountData(group)));
  if (readable.length === 0 && closed.length === 0)
    mistakes.add(
      'events leaves nothing to be read: groups of account data are readable by event only if events.groups names them.',
    );
  const { archiveDays, concurrency, reservedConcurrency } = given;
  const account = readable.find(isAccountData);
  if (account && archiveDays)
    mistakes.add(
      `events.archiveDays cannot be kept beside ${account} in events.groups: the archive would hold requests, which name accounts, in the clear.`,
    );
  if (account && reservedConcurrency !== undefined && reservedConcurrency <= 2 * concurrency)
    mistakes.add(
      `events.reservedConcurrency must be above twice events.concurrency (${concurrency}) beside ${account} in events.groups: the bus has a queue of its own there.`,
    );
  return { ...given, groups: readable };
}
