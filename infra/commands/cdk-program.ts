/** Finds the CDK's own program and the app that it deploys: the clone's app in a clone, otherwise the package's. */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { StartError } from '../environment.ts';

/** Root of the clone or of the package; the same path leads there from the source and from the bundle. */
const root = join(import.meta.dirname, '../..');
const isClone = existsSync(join(root, 'infra/app.ts'));

/** Requires a clone's root, where the CDK finds cdk.json and the app its stages. @throws StartError in another folder */
export function checkFolder(verb: string): void {
  if (isClone && process.cwd() !== root)
    throw new StartError(
      `countersign ${verb} runs in the folder of the clone, whose app it deploys: go there first.`,
    );
}

/**
 * @returns the program's path, and the options that name the app
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
