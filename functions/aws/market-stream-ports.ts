/** Ports on AWS for the listener of the market stream, in a file of its own because no other function loads an MQTT library. */

import type { Host, MarketStreamPorts } from '../compose/ports.ts';
import { withLimit } from './dynamo-client.ts';
import { DynamoLeases } from './dynamo-leases.ts';
import { createMqttTransport } from './mqtt-transport.ts';
import { newClient, quotePorts } from './ports.ts';

/** Time limit of one operation with all its attempts, in milliseconds; a lease lasts longer. */
const timeoutMs = 3000;

export function marketStreamPorts(host: Host): MarketStreamPorts {
  const client = newClient(host);
  return {
    ...quotePorts(host, client),
    marketStream: (url) => createMqttTransport({ url }),
    leases: (tableName) => new DynamoLeases(withLimit(client(), { timeoutMs, attempts: 3 }), tableName),
  };
}
