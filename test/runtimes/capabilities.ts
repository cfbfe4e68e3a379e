/** Which runtimes the table runs in, where each one comes from, and how it is called. */

import { join } from 'node:path';

export interface Runtime {
  readonly name: string;
  readonly binary: string;
  /** Its answer to `--version` begins or goes on with this. */
  readonly version: RegExp;
  /** Arguments, relative to this folder. */
  readonly args: readonly string[];
}

/** How to get what is missing. */
export const install = 'npm ci --prefix test/runtimes';

const here = import.meta.dirname;
const modules = join(here, 'node_modules');
const exe = process.platform === 'win32' ? '.exe' : '';
const script = 'runners/script.mjs';

export const runtimes: readonly Runtime[] = [
  {
    name: `Node ${process.versions.node} (this one)`,
    binary: process.execPath,
    version: /^v\d+\./,
    args: [script],
  },
  { name: 'Node 20', binary: join(modules, `oldest/bin/node${exe}`), version: /^v20\./, args: [script] },
  { name: 'Node 22', binary: join(modules, `node22/bin/node${exe}`), version: /^v22\./, args: [script] },
  { name: 'Node 24', binary: join(modules, `node24/bin/node${exe}`), version: /^v24\./, args: [script] },
  {
    name: 'the newest Node',
    binary: join(modules, `newest/bin/node${exe}`),
    version: /^v\d\d\./,
    args: [script],
  },
  {
    name: 'workerd',
    binary: join(modules, `workerd/bin/workerd${exe}`),
    version: /^workerd /,
    args: ['test', '--verbose', 'runners/workerd.capnp'],
  },
  // Without a permission: the signer needs none.
  {
    name: 'Deno',
    binary: join(modules, `deno/deno${exe}`),
    version: /^deno /,
    args: ['run', '--no-prompt', script],
  },
  { name: 'Bun', binary: join(modules, 'bun/bin/bun.exe'), version: /^\d+\./, args: [script] },
];
