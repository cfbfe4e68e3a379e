/**
 * Makes the signer a package of its own, for users who need nothing else: without dependencies, a hundredth of the whole
 * in size. It comes from the same build and has the same version.
 */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param root of the built package; @param folder for the signer's package */
export function writeSignerPackage(root: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, 'dist/lib/signer'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'infra/package/signer.md'), join(folder, 'README.md'));
  const { version, description, license, type, sideEffects, engines } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Readonly<Record<string, unknown>>;
  const entry = {
    require: { types: './dist/index.d.cts', default: './dist/index.cjs' },
    types: './dist/index.d.ts',
    default: './dist/index.js',
  };
  const described = {
    name: 'countersign-signer',
    version,
    description: `${description}`.replace(/, and .*/, '.'),
    license,
    type,
    sideEffects,
    engines,
    exports: { '.': entry, './package.json': './package.json' },
    main: entry.require.default,
    types: entry.types,
    files: ['dist'],
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(described, undefined, 2)}\n`);
}
