/** Functions as Lambda starts them, with the test's own log. */

import { gatewayPorts, lambdaHost } from '../../functions/aws/ports.ts';
import { group, start } from '../../functions/compose/functions.ts';
import type { GroupHandler, Offer } from '../../functions/compose/group.ts';
import type { Host } from '../../functions/compose/ports.ts';
import type { Log } from '../../functions/log/log.ts';
import type { Environment } from '../../functions/settings/environment.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';

export const hostWith = (log: Log, change: Partial<Host> = {}): Host => ({ ...lambdaHost(), log, ...change });

export const offerOf = (operations: readonly Operation[], more: Partial<Offer> = {}): Offer => ({
  operations,
  lookUps: [],
  listing: undefined,
  quotes: undefined,
  ...more,
});

/** The function of a group that offers these operations. */
export const startDeployed = (
  operations: readonly Operation[],
  env: Environment,
  log: Log,
  more?: Partial<Offer>,
): GroupHandler => start(group(offerOf(operations, more)), env, gatewayPorts(hostWith(log)));
