/** The project's own client, which needs no generator: the package as it is built. */

import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/bundle.ts';
import { buildPackage } from '../../support/package.ts';
import type { Generator } from '../generator.ts';
import { npmInstall } from '../installs.ts';

export const ownClient: Generator = {
  name: 'countersign/client',
  version: 'this one',
  language: 'TypeScript',
  example: 'typescript',
  documents: ['none'],
  missing: () => npmInstall('typescript'),
  async prepare(folder) {
    const modules = join(folder, 'node_modules');
    await buildPackage(join(modules, 'countersign'));
    for (const name of ['valibot', 'jose'])
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
  },
  generate: [],
  compile: ['npx tsc'],
  run: 'node dist/main.js',
};
