/** The package as `npm run build` makes it, in a folder of the caller's; without the functions' bundles. */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { finishPackage } from '../../infra/package/finish.ts';
import { root } from './bundle.ts';

export async function buildPackage(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-p', 'tsconfig.build.json', '--outDir', join(folder, 'dist')], { cwd: root });
  await finishPackage(folder);
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
}
