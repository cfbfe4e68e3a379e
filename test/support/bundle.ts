/** Bundles of the library's real source: for measuring, for other runtimes, and with a fault put in. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

export const root = join(import.meta.dirname, '../..');

const options = {
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  absWorkingDir: root,
  write: false,
  metafile: true,
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** `code` may import from the repository's root, `./lib/signer/index.ts` for one. */
export async function bundle(
  code: string,
  more: BuildOptions = {},
): Promise<{ readonly text: string; readonly bytes: Uint8Array; readonly meta: Metafile }> {
  const stdin = { contents: code, resolveDir: root, loader: 'ts' } as const;
  const result = await build({ ...options, stdin, ...more, write: false, metafile: true });
  const [file] = result.outputFiles;
  if (!file) throw new Error('esbuild gave no output');
  return { text: file.text, bytes: file.contents, meta: result.metafile };
}

/** Replaces one text of one source file; throws where it does not occur exactly once. */
export function replaceIn(file: string, find: string, by: string): Plugin {
  const path = join(root, file);
  return {
    name: 'replace',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, (args) => {
        if (args.path !== path) return undefined;
        const parts = readFileSync(path, 'utf8').split(find);
        if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
        return { contents: parts.join(by), loader: 'ts' };
      });
    },
  };
}

/** Runs a bundle's text as a module. */
export const load = (text: string): Promise<unknown> =>
  import(`data:text/javascript;base64,${Buffer.from(text, 'utf8').toString('base64')}`);
