/**
 * Holds the unit tests to what makes them an inner loop: no process is started, and no connection leaves this
 * machine. A test that needs either belongs to another project of `vitest.config.ts`.
 */

import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

const loopback = /^(localhost|127\.|::1$)/;

const refuse = (what: string) => () => {
  throw new Error(`A unit test ${what}: see vitest.config.ts for where it belongs`);
};

const connect = Socket.prototype.connect as (this: Socket, ...rest: unknown[]) => Socket;

if (!('holdsInnerLoop' in connect)) {
  const held = function (this: Socket, ...rest: unknown[]): Socket {
    // As Node calls it itself: one list of normalised arguments, with the options first.
    const [first, second] = rest.flat();
    const options = typeof first === 'object' && first ? (first as { host?: string; path?: string }) : {};
    const host = options.host ?? (typeof second === 'string' ? second : 'localhost');
    if (!options.path && !loopback.test(host)) refuse(`connects to ${host}`)();
    return connect.apply(this, rest);
  };
  Socket.prototype.connect = Object.assign(held, { holdsInnerLoop: true }) as Socket['connect'];
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const)
    Object.assign(childProcess, { [name]: refuse(`starts a process (${name})`) });
  syncBuiltinESMExports();
}
