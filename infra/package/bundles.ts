/** Each function's bundle as the package carries it: a zip of one file, which the CDK hands to Lambda as it is. */

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { zipSync } from 'fflate';
import { esbuildOptions } from '../bundling.ts';

const root = join(import.meta.dirname, '../..');

/** Every function, by the folder of its handler. */
const functionNames = (): readonly string[] =>
  readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/]+\/handler\.ts$/.test(path))
    .map((path) => path.slice(0, path.indexOf('/')));

/** The same code gives the same bytes, so that CloudFormation sees no change where there is none. */
const fixed = { mtime: '1980-01-01', os: 3, attrs: 0o100644 << 16, level: 9 } as const;

/** Without source maps: these are for the project's own stack traces, and twice as large. @param folder for the zips */
export async function writeBundles(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { outputFiles } = await build({
    ...esbuildOptions,
    external: [...esbuildOptions.external],
    mainFields: [...esbuildOptions.mainFields],
    sourcemap: false,
    entryPoints: Object.fromEntries(
      functionNames().map((name) => [name, join(root, `functions/${name}/handler.ts`)]),
    ),
    outdir: folder,
    absWorkingDir: root,
    write: false,
  });
  for (const { path, contents } of outputFiles)
    writeFileSync(path.replace(/\.mjs$/, '.zip'), zipSync({ 'index.mjs': [contents, fixed] }));
}
