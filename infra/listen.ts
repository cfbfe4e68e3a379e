/** How servers of this machine are reached: on loopback alone. */

import type { AddressInfo, Server } from 'node:net';

/** @returns the port; rejects with the original `EADDRINUSE` error when it is taken */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}
