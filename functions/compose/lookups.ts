/**
 * Lookups by event: a queue, a bus and a table around a gateway like any other function's; or, in a function of its own,
 * direct calls of that gateway.
 */

import { limits } from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { symbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { accessStep } from '../../lib/gateway/who.ts';
import { createLowPriorityLimiter } from '../../lib/limiter/low-priority.ts';
import { createLookups } from '../../lib/lookups/index.ts';
import { createDirectHandler, createQueueHandler, type LookupHandler } from '../events/lookup-handler.ts';
import { describe } from '../log/log.ts';
import { createLookupMetrics } from '../log/lookup-metrics.ts';
import { type LookupSettings, readLookupSettings } from '../settings/lookup-settings.ts';
import { composeAccess } from './access.ts';
import { composeAppSecret, composeIdentity } from './credential.ts';
import { composeGateway, composeQuotes } from './gateway.ts';
import type { LookupPorts } from './ports.ts';
import { type Composition, fails } from './start.ts';

/** While less than half of the limit is left, all lookups together take one permit in this time. */
const pauseMs = 1000;

function composeLookups(settings: LookupSettings, ports: LookupPorts): LookupHandler {
  const { function: own, operations, instances, queues } = settings;
  const { log, clock, functionName } = ports;
  const failed = (event: string) => (error: unknown) => log({ level: 'error', event, ...describe(error) });
  const requests = ports.marketDataLimit?.requests ?? limits['market-data'].requests;
  const lowPriority = createLowPriorityLimiter({
    reserve: Math.floor((requests * (own.limiter?.share ?? 1)) / 2),
    pauseMs: pauseMs * instances,
    clock,
  });
  const identity = own.access && composeIdentity(own.access.identityKeySecretId, ports);
  const access = identity && own.access && accessStep(composeAccess(own.access, identity, ports, undefined));
  const gateway = composeGateway(own, ports, {
    operations,
    lookUps: [],
    lowPriority,
    secrets: composeAppSecret(own.secretId, ports),
    access,
    cache: composeQuotes(symbolListing, own, ports),
    orders: undefined,
  });
  const parts = {
    gateway,
    operations,
    clock,
    ages: own.cache?.tuning,
    report: createLookupMetrics(log, { functionName, clock }),
  };
  if (!queues) return createDirectHandler(parts);
  const lookups = createLookups({
    ...parts,
    names: identity?.names,
    store: ports.lookupStore(queues.tableName, identity?.sealer),
    queue: ports.queue(queues, failed('lookup_not_put_back')),
    bus: ports.bus(queues.busName, failed('lookup_not_published')),
  });
  return createQueueHandler(lookups, queues, clock);
}

/**
 * With a wrong environment no message is done: each comes back, and finally goes to the dead letters, from where the
 * operator redrives it when the deployment is right.
 *
 * @param catalogue every operation that a deployer can open
 */
export const lookups = (
  catalogue: readonly Operation[],
): Composition<LookupSettings, LookupPorts, LookupHandler> => ({
  read: (env) => readLookupSettings(env, catalogue),
  compose: composeLookups,
  wrong: fails,
});
