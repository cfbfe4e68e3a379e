/** The package as `npm run build` makes it, in a folder of the caller's. */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { declareEntries } from '../../infra/package/entry-declarations.ts';
import { markFolder } from '../../infra/package/pure-calls.ts';
import { root } from './bundle.ts';

export function buildPackage(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-p', 'tsconfig.build.json', '--outDir', join(folder, 'dist')], { cwd: root });
  const catalogue = join(folder, 'dist/lib/catalogue');
  markFolder(catalogue);
  declareEntries(catalogue);
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
}
