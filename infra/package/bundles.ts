/** Bundles each function for the package: a zip with one file, which the CDK hands to Lambda unchanged. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { zipSync } from 'fflate';
import { apiNames, workerNames } from '../../functions/rows.ts';
import { esbuildOptions } from '../bundling.ts';

const root = join(import.meta.dirname, '../..');

/** Zip attributes that never change: the same code must give the same bytes, or CloudFormation would see a change. */
const fixedAttributes = { mtime: '1980-01-01', os: 3, attrs: 0o100644 << 16, level: 9 } as const;

/** Omits source maps: they serve the project's own stack traces, and double the size. @param folder for the zips */
export async function writeBundles(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { outputFiles } = await build({
    ...esbuildOptions,
    external: [...esbuildOptions.external],
    mainFields: [...esbuildOptions.mainFields],
    sourcemap: false,
    entryPoints: Object.fromEntries(
      [...apiNames, ...workerNames].map((name) => [name, join(root, `functions/${name}/handler.ts`)]),
    ),
    outdir: folder,
    absWorkingDir: root,
    write: false,
  });
  for (const { path, contents } of outputFiles)
    writeFileSync(path.replace(/\.mjs$/, '.zip'), zipSync({ 'index.mjs': [contents, fixedAttributes] }));
}
