/** How servers of this machine are reached: on loopback, unless another address is asked for. */

import { type AddressInfo, createServer, type Server } from 'node:net';

export const loopback = '127.0.0.1';

/** @returns the port; rejects with the original `EADDRINUSE` error when it is taken */
export async function listenOn(server: Server, port: number, host = loopback): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Closes a server together with the connections that it has, once.
 *
 * @param open those that are open, at any time
 */
export function closeWith(server: Server, open: Iterable<{ destroy(): unknown }>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const connection of open) connection.destroy();
    });
    return closing;
  };
}

/** Whether another server has the port. */
export async function isTaken(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await listenOn(server, port);
  } catch {
    return true;
  }
  await new Promise((resolve) => server.close(resolve));
  return false;
}
