/** Runs the command, or a module of this repository, as a process of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from './bundle.ts';

export interface Ended {
  readonly code: number | null;
  /** Both streams. */
  readonly output: string;
}

/** The variable that names the command's bundle, where a run has one. */
export const bundledLauncher = 'COUNTERSIGN_LAUNCHER';

/** Where the command `countersign` begins in a clone, as `npm run` starts it. */
export const sourceLauncher = join(root, 'infra/commands/countersign.js');

/** Where it begins in the package, as `npx` starts it; in a clone where the run has no bundle. */
export const launcher = process.env[bundledLauncher] ?? sourceLauncher;

/** Environment of a process whose output is judged: Node adds no warnings to it. */
export const judged = { PATH: process.env.PATH, NODE_NO_WARNINGS: '1' } as const;

/** Runs `countersign` as a process of its own. */
export function runCountersign(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  input = '',
): Promise<Ended> {
  const child = spawn(process.execPath, [launcher, ...args], { env: { ...judged, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  // It may end before it reads.
  child.stdin.on('error', () => {}).end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

/** What a process writes as JSON when it is done; it has no other environment, and its errors go to ours. */
export async function resultOf<T>(path: string, env: NodeJS.ProcessEnv): Promise<T> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, path)], {
    env: { ...judged, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`a process ended with ${code}: ${output.slice(0, 300)}`);
  return JSON.parse(output) as T;
}
