/** A server of one test, on a port of its own. */

import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import type { TestContext } from 'vitest';

/** Its connections end with the test. @returns its port on the loopback interface */
export async function portFor(
  t: TestContext,
  server: Server & { closeAllConnections(): void },
): Promise<number> {
  server.listen(0, '127.0.0.1');
  t.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The same. @returns its address, as a client of HTTP has it */
export const urlFor = async (...given: Parameters<typeof portFor>): Promise<string> =>
  `http://127.0.0.1:${await portFor(...given)}`;
