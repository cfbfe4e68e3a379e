/** Bundles each function as the stack does, for tests and measurements. */

import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
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

/** Into one folder for each function, as `index.mjs`: in one build, which reads what they share once. */
export async function bundleFunctions(directory: string): Promise<readonly Bundle[]> {
  const functions = join(root, 'functions/');
  const files = await readdir(functions, { recursive: true });
  return bundleFiles(
    directory,
    files.flatMap((file) =>
      basename(file) === 'handler.ts' ? [[dirname(file), join(functions, file)] as const] : [],
    ),
  );
}

/** One file, to `index.mjs` in the folder. */
export async function bundleFile(entry: string, folder: string): Promise<Bundle> {
  const [bundle] = await bundleFiles(dirname(folder), [[basename(folder), entry]]);
  return bundle!;
}

async function bundleFiles(
  directory: string,
  entries: readonly (readonly [folder: string, file: string])[],
): Promise<readonly Bundle[]> {
  const { metafile } = await build({
    ...esbuildOptions,
    external: [...esbuildOptions.external],
    mainFields: [...esbuildOptions.mainFields],
    entryPoints: Object.fromEntries(entries.map(([folder, file]) => [`${folder}/index`, file])),
    outdir: directory,
    absWorkingDir: root,
    metafile: true,
  });
  return entries.map(([folder]): Bundle => {
    const file = join(directory, folder, 'index.mjs');
    const output = metafile.outputs[relative(root, file)]!;
    return {
      group: basename(folder),
      file,
      bytes: output.bytes,
      inputs: inputsOf(metafile, output.entryPoint!),
      kept: Object.entries(output.inputs).flatMap(([name, { bytesInOutput }]) =>
        bytesInOutput > 0 ? [name] : [],
      ),
    };
  });
}

function inputsOf({ inputs }: Metafile, entry: string): readonly string[] {
  const found = new Set([entry]);
  for (const name of found)
    for (const { path } of inputs[name]?.imports ?? []) if (path in inputs) found.add(path);
  return [...found];
}
