/** The handler of a group in front of a gateway with options of the test's own. */

import { type GroupHandler, groupHandler } from '../../functions/compose/group.ts';
import { fitsLambda } from '../../functions/events/payload.ts';
import { createGateway, type GatewayOptions } from '../../lib/gateway/index.ts';

export type { GroupHandler };

export const createGroupHandler = (options: GatewayOptions): GroupHandler =>
  groupHandler(
    createGateway({ canCarry: fitsLambda, ...options }),
    { corsOrigins: [], cache: undefined },
    { clock: options.clock ?? Date.now },
  );
