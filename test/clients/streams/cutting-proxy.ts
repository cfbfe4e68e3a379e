/** Stands between clients and the local run, and breaks their connections as networks do. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** How connections end: with a goodbye, with an error, or with a silence that nothing ends. */
export const cuts = ['closed', 'reset', 'silent'] as const;

export type Cut = (typeof cuts)[number];

export interface CuttingProxy {
  readonly url: string;
  /** All connections there are. @returns how many there were */
  cut(how: Cut): number;
  close(): void;
}

export async function startCuttingProxy(to: string): Promise<CuttingProxy> {
  const port = Number(new URL(to).port);
  const pairs = new Map<Socket, Socket>();
  const address = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const server = createServer((client) => {
    const gateway = connect(port, '127.0.0.1');
    pairs.set(client, gateway);
    // The local run answers to its own address alone.
    client.on('data', (sent) =>
      gateway.write(sent.toString('latin1').replaceAll(address(), `127.0.0.1:${port}`)),
    );
    gateway.pipe(client);
    const end = () => {
      pairs.delete(client);
      client.destroy();
      gateway.destroy();
    };
    for (const socket of [client, gateway]) socket.on('error', end).on('close', end);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://${address()}`,
    cut(how) {
      const all = [...pairs];
      for (const [client, gateway] of all) {
        if (how === 'closed') client.destroy();
        else if (how === 'reset') client.resetAndDestroy();
        else {
          gateway.unpipe(client);
          gateway.resume();
        }
      }
      return all.length;
    },
    close() {
      for (const client of pairs.keys()) client.destroy();
      server.close();
    },
  };
}
