/** Ports on AWS of the function of streams of trade events. */

import type { Host, OrderStreamPorts } from '../compose/ports.ts';
import { createDynamoEventHistory } from './dynamo-event-history.ts';
import { createDynamoStreamStore } from './dynamo-stream-store.ts';
import { gatewayPorts, newClient } from './ports.ts';

export function orderStreamPorts(host: Host): OrderStreamPorts {
  const client = newClient(host);
  return {
    ...gatewayPorts(host, client),
    eventHistory: (tableName, sealer) => createDynamoEventHistory({ client: client(), tableName, sealer }),
    streams: (tableName, partition) => createDynamoStreamStore({ client: client(), tableName, partition }),
  };
}
