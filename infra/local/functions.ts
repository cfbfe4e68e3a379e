/**
 * The functions of a deployment in this process: the same compositions, with ports in memory. A function starts when it is
 * asked first, as Lambda starts one.
 */

import type { SQSBatchResponse } from 'aws-lambda';
import { group, lookups, start } from '../../functions/compose/functions.ts';
import { offerOf } from '../../functions/compositions.ts';
import { functionsOf, groupOf, operationsIn } from '../../functions/rows.ts';
import { readsOf } from '../../functions/settings/lookup-settings.ts';
import type { Environment } from '../../functions/settings/parts.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { type Group, operations, routesOf } from '../../lib/catalogue/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { eventNames } from '../../lib/events/names.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import { type BusEvent, envelopeOf, type LocalBus } from './bus.ts';
import { names } from './environment.ts';
import type { MemoryPlatform, MemoryPorts } from './memory-ports.ts';
import type { LocalRoute } from './options.ts';
import { createLocalQueue, type SettledMessage } from './queue.ts';

export interface FunctionParts {
  readonly platform: MemoryPlatform;
  /** For what a function asks the upstream for; closed for account data. */
  readonly env: (asked: readonly Operation[], isClosed: boolean) => Environment;
}

export interface CalledParts extends FunctionParts {
  /** The platform's, of one function: what it fetches is noted. */
  readonly portsOf: (name: string) => MemoryPorts;
}

/** The routes of the opened groups. */
export function groupRoutes(
  openGroups: readonly Group[],
  { portsOf, env }: CalledParts,
): readonly LocalRoute[] {
  return openGroups.flatMap(functionsOf).flatMap((name) => {
    const offer = offerOf(name);
    if (!offer) return [];
    const asked = [...offer.operations, ...offer.lookUps, ...Object.values(offer.checks?.quotes ?? {})];
    const made = onDemand(() => start(group(offer), env(asked, isAccountData(groupOf(name))), portsOf(name)));
    const handler: LocalRoute['handler'] = (event, context) => made()(event, context);
    return routesOf(operationsIn(name, operations)).map(({ method, path, operation: { headers } }) => ({
      method,
      path,
      headers,
      handler,
    }));
  });
}

export interface LocalLookups {
  /** What becomes of a request. @returns undefined for an event that was not on the bus now, or is no request */
  settled(eventId: string): Promise<SettledMessage> | undefined;
  close(): void;
}

/** As the stack's rule: what it does not take, no function hears of. */
const requests: readonly string[] = Object.values(eventNames).map(({ requested }) => requested);

/**
 * Lookups by event: the bus's rule, the queue, and the function behind it.
 *
 * @returns undefined where no group of market facts is open
 */
export function startLookups(
  openGroups: readonly Group[],
  { platform, env, portsOf }: CalledParts,
): LocalLookups | undefined {
  const reads = readsOf(
    operations,
    openGroups.filter((one) => !isAccountData(one)),
  );
  if (reads.length === 0) return undefined;
  const queue = createLocalQueue({
    // For records of a queue it answers which of them come again.
    invoke: async (event, context) => (await handler(event, context)) as SQSBatchResponse,
  });
  const handler = start(lookups(operations), env(reads, false), {
    ...portsOf('quote-lookup'),
    queue: () => queue.port,
  });
  return followed(
    platform.bus(names.lookupBus),
    (event) => queue.send(envelopeOf(event)),
    () => queue.close(),
  );
}

function followed(
  bus: LocalBus,
  send: (event: BusEvent) => Promise<SettledMessage>,
  closed: () => void,
): LocalLookups {
  const pending = new Map<string, Promise<SettledMessage>>();
  const unsubscribe = bus.subscribe((event) => {
    const { id, detailType } = event;
    if (!requests.includes(detailType)) return;
    pending.set(
      id,
      send(event).finally(() => pending.delete(id)),
    );
  });
  return {
    settled: (eventId) => pending.get(eventId),
    close() {
      unsubscribe();
      closed();
    },
  };
}
