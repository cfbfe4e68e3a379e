/** The CDK's own program, and the app that it deploys: that of a clone in its folder, or that of the package anywhere. */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { StartError } from '../environment.ts';

/** Of a clone or of the package, from the source and from the bundle alike. */
const root = join(import.meta.dirname, '../..');
const isClone = existsSync(join(root, 'infra/app.ts'));

/** The CDK reads cdk.json of the folder, and the app reads the stages that stand there. @throws StartError elsewhere */
export function checkFolder(verb: string): void {
  if (isClone && process.cwd() !== root)
    throw new StartError(
      `countersign ${verb} runs in the folder of the clone, whose app it deploys: go there first.`,
    );
}

/**
 * @returns the program, and the options that name the app
 * @throws StartError where the CDK is not installed
 */
export function cdkProgram(verb: string): { readonly path: string; readonly options: readonly string[] } {
  const app = `node ${JSON.stringify(join(root, 'dist/infra/app.js'))}`;
  try {
    const { resolve } = createRequire(join(isClone ? root : process.cwd(), 'package.json'));
    for (const peer of ['aws-cdk-lib', 'constructs']) resolve(peer);
    return { path: resolve('aws-cdk/bin/cdk'), options: isClone ? [] : ['--app', app] };
  } catch {
    const install = isClone ? 'npm ci' : 'npm install aws-cdk aws-cdk-lib constructs';
    throw new StartError(`countersign ${verb} needs the CDK, which is not installed here: run ${install}.`);
  }
}
