/** What can be read by event: the groups, and what does not go together with account data. */

import type * as v from 'valibot';
import { type Group, isAccountData } from '../../lib/catalogue/groups.ts';
import type { Mistakes } from '../mistakes.ts';
import type { EventsConfig, eventsSchema } from './lookups-config.ts';

/**
 * @param open the groups that the deployment opens
 * @param mistakes takes groups that are closed, and what would keep account data in the clear
 */
export function resolveEvents(
  { groups, ...given }: v.InferOutput<typeof eventsSchema>,
  open: readonly Group[],
  mistakes: Mistakes,
): EventsConfig {
  const closed = groups?.filter((group) => !open.includes(group)) ?? [];
  for (const group of closed)
    mistakes.add(`events.groups names ${group}, which is closed: open it with groups.${group}.`);
  const readable = open.filter((group) => (groups ? groups.includes(group) : !isAccountData(group)));
  if (readable.length === 0 && closed.length === 0)
    mistakes.add(
      'events leaves nothing to be read: groups of account data are readable by event only if events.groups names them.',
    );
  const { archiveDays, concurrency, reservedConcurrency = 2 * concurrency } = given;
  const account = readable.find(isAccountData);
  if (account && archiveDays)
    mistakes.add(
      `events.archiveDays cannot be kept beside ${account} in events.groups: the archive would hold requests, which name accounts, in the clear.`,
    );
  if (account && reservedConcurrency < 2 * concurrency)
    mistakes.add(
      `events.reservedConcurrency must be at least twice events.concurrency (${concurrency}) beside ${account} in events.groups: the bus has a queue of its own there.`,
    );
  return { ...given, groups: readable };
}
