/**
 * The command `countersign` as the package has it: one bundle in parts, each loaded when a command needs it. All of it is
 * inside, the clients of AWS too (314 kB in all), so that the package depends on none of them; the CDK, what a
 * clone alone can use (esbuild), and pages of 12 MB (Swagger UI) stay outside.
 */

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { writePage } from '../page-bundle.ts';

const root = join(import.meta.dirname, '../..');

const outside = [
  'aws-cdk',
  'aws-cdk-lib',
  'aws-cdk-lib/*',
  'cdk-nag',
  'constructs',
  'esbuild',
  'swagger-ui-dist',
  'tsx',
];

/** Packages in the form of CommonJS ask for Node's own modules in their way. */
const banner =
  "import{createRequire as requireOf}from'node:module';const require=requireOf(import.meta.url);";

/** @returns what is in each part */
export async function bundleCommand(folder: string): Promise<Metafile> {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['infra/commands/main.ts'],
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: outside,
    banner: { js: banner },
    legalComments: 'linked',
    metafile: true,
    logLevel: 'warning',
  });
  // Read at run time, from beside the code.
  cpSync(join(root, 'infra/local/reference-page'), join(folder, 'reference-page'), { recursive: true });
  await writePage(join(folder, 'page-files'));
  return metafile;
}
