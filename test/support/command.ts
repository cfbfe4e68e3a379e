/**
 * The command as the package has it, bundled once for all files of a run: it starts with a quarter of the work that its
 * sources take. test/local-run/main.test.ts starts it from its sources, too.
 */

import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { bundleCommand } from '../../infra/package/command-bundle.ts';
import { root } from './bundle.ts';
import { bundledLauncher, sourceLauncher } from './process.ts';

/** Before the first file. @returns what ends it, after the last one */
export async function setup(): Promise<() => void> {
  // Another project of the same run may have it already; another run's is another's.
  const home = join(root, '.build', `command-${process.pid}`);
  if (process.env[bundledLauncher]?.startsWith(home)) return () => {};
  await packCommand(home);
  process.env[bundledLauncher] = launcherIn(home);
  return () => rmSync(home, { recursive: true, force: true });
}

export const launcherIn = (home: string): string => join(home, 'infra/commands/countersign.js');

/** Puts into a folder what the package has of the command. @returns what is in each part of its bundle */
export async function packCommand(home: string): Promise<Metafile> {
  mkdirSync(dirname(launcherIn(home)), { recursive: true });
  copyFileSync(sourceLauncher, launcherIn(home));
  copyFileSync(join(root, 'package.json'), join(home, 'package.json'));
  return bundleCommand(join(home, 'dist/command'));
}
