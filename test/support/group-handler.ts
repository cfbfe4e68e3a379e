/** The handler of a group in front of a gateway with options of the test's own. */

import { createProxyHandler } from '../../functions/aws/proxy-handler.ts';
import type { GroupHandler } from '../../functions/compose/group.ts';
import { createGateway, type GatewayOptions } from '../../lib/gateway/index.ts';

export type { GroupHandler };

export const createGroupHandler = (options: GatewayOptions): GroupHandler =>
  createProxyHandler(createGateway(options), {
    ...(options.clock && { clock: options.clock }),
  });
