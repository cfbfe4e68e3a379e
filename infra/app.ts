/** CDK app: one stage's stack, chosen by `-c stage=NAME`. cdk-nag checks it if installed, as it is in a clone. */

import { App, Validations } from 'aws-cdk-lib';
import { ConfigError } from './stack/config.ts';
import { CountersignStack } from './stack/stack.ts';
import { configOf, stackNameOf, stageOf } from './stack/stages.ts';

try {
  const app = new App();
  const nag = await import('cdk-nag').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  });
  if (nag) Validations.of(app).addPlugins(new nag.AwsSolutionsChecks(app));
  const stage = stageOf(app.node.tryGetContext('stage'));
  new CountersignStack(app, stackNameOf(stage), configOf(stage));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  // Prints sentences without a stack trace, for the person who wrote the configuration.
  console.error(error.message);
  process.exitCode = 1;
}
