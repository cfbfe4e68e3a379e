/** Bundles each function as the stack does, for tests and measurements. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { esbuildOptions } from '../../infra/bundling.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Bundle {
  /** The function's folder, which is named after its group. */
  readonly group: string;
  readonly file: string;
  readonly bytes: number;
  /** What went into it, relative to the repository. */
  readonly inputs: readonly string[];
  /** Those of them of which something is left in it. */
  readonly kept: readonly string[];
}

/** Into one folder for each function, as `index.mjs`. */
export async function bundleFunctions(directory: string): Promise<readonly Bundle[]> {
  const entries = await readdir(join(root, 'functions'), { withFileTypes: true, recursive: true });
  const folders = entries.filter((entry) => entry.isFile() && entry.name === 'handler.ts');
  return Promise.all(
    folders.map((entry) => {
      // Node 20.12 renamed `path`.
      const folder = entry.parentPath;
      return bundleFile(
        join(folder, entry.name),
        join(directory, folder.slice(join(root, 'functions/').length)),
      );
    }),
  );
}

/** One file, to `index.mjs` in the folder. */
export async function bundleFile(entry: string, folder: string): Promise<Bundle> {
  const { metafile } = await build({
    ...esbuildOptions,
    external: [...esbuildOptions.external],
    mainFields: [...esbuildOptions.mainFields],
    entryPoints: { index: entry },
    outdir: folder,
    absWorkingDir: root,
    metafile: true,
  });
  const output = Object.entries(metafile.outputs).find(([name]) => name.endsWith('.mjs'));
  return {
    group: folder.split('/').at(-1) ?? '',
    file: join(folder, 'index.mjs'),
    bytes: output?.[1].bytes ?? 0,
    inputs: Object.keys(metafile.inputs),
    kept: Object.entries(output?.[1].inputs ?? {}).flatMap(([name, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [name] : [],
    ),
  };
}
