/**
 * Bundles the command `countersign` for the package, in parts that are loaded when a command needs them. The AWS clients
 * are inside (314 kB in all), so that the package does not depend on them. The CDK, esbuild, which only a clone can use,
 * and Swagger UI's pages of 12 MB stay outside.
 */

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { writePage } from '../page-bundle.ts';

const root = join(import.meta.dirname, '../..');

const externalPackages = [
  'aws-cdk',
  'aws-cdk-lib',
  'aws-cdk-lib/*',
  'cdk-nag',
  'constructs',
  'esbuild',
  'swagger-ui-dist',
  'tsx',
];

/** Defines `require`, by which bundled CommonJS packages load Node's own modules. */
const banner =
  "import{createRequire as requireOf}from'node:module';const require=requireOf(import.meta.url);";

/** @returns esbuild's record of the parts and their contents */
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
    external: externalPackages,
    banner: { js: banner },
    legalComments: 'linked',
    metafile: true,
    logLevel: 'warning',
  });
  // The local run reads these files beside the code.
  cpSync(join(root, 'infra/local/reference-page'), join(folder, 'reference-page'), { recursive: true });
  await writePage(join(folder, 'page-files'));
  return metafile;
}
