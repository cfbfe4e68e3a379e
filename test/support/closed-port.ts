/**
 * A port of this machine on which no process listens, and which none gets by chance: it is below those that systems give
 * to whom any port will do, and another test that asks for one would have it a moment later.
 */

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export async function closedPort(): Promise<number> {
  const port = randomInt(20_000, 30_000);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return closedPort();
  }
  server.close();
  await once(server, 'close');
  return port;
}
