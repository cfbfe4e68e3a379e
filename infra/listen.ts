/** Listens and closes servers of this machine: on loopback, unless another address is given. */

import { type AddressInfo, createServer, type Server } from 'node:net';

export const loopback = '127.0.0.1';

/** @returns the port; rejects with the original `EADDRINUSE` error when it is in use */
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
 * @param open the connections that are open when it closes
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

/** Tells whether another server uses the port. */
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
