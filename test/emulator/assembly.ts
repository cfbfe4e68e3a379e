/** A stage as the CDK synthesises it, bundles among it. What one process has bundled, its next stages share. */

import { mkdirSync, mkdtempSync, renameSync, symlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { CountersignStack, type CountersignStackProps } from '../../infra/stack/stack.ts';
import { base } from '../stack/synthesise.ts';
import type { Assembly } from './deployment.ts';

/** What a test says of its stage; the rest is that of every test. */
export type StageProps = Partial<CountersignStackProps>;

/** @param home a folder that belongs to the process; whoever made it removes it */
export async function assemble(home: string, stackName: string, props: StageProps): Promise<Assembly> {
  // The CDK bundles an entry once for each folder of output.
  const outdir = join(home, 'out');
  mkdirSync(outdir, { recursive: true });
  const app = new App({ outdir });
  new CountersignStack(app, stackName, { ...base, ...props });
  app.synth();
  // The next stage has the same names of files. Bundles are named by their contents.
  const directory = mkdtempSync(join(home, 'assembly-'));
  for (const name of await readdir(outdir))
    if (name.startsWith('asset.')) symlinkSync(join(outdir, name), join(directory, name));
    else if (name.startsWith(`${stackName}.`)) renameSync(join(outdir, name), join(directory, name));
  return { directory, stackName };
}
