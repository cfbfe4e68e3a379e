/** The command behind `npm run preflight -- [stage]`: 0 it carries the load, 1 it does not, 2 that is unknown. */

import { StartError } from '../environment.ts';
import { ConfigError } from '../stack/config.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { configOf, stackNameOf } from '../stack/stages.ts';
import { readAccount } from './account.ts';
import { preflightArguments, verdictOf } from './preflight.ts';

// The SDK's own switch (aws/aws-sdk-js-v3#7983): on Node 20 it tells the operator to upgrade at every call.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

try {
  const { stage, wish } = preflightArguments(process.argv.slice(2));
  const config = resolveConfig(configOf(stage));
  const { carries, words } = verdictOf(
    stage,
    config,
    await readAccount(stackNameOf(stage), config.domain?.certificateArn),
    wish,
  );
  console.log(words);
  process.exitCode = carries === undefined ? 2 : carries ? 0 : 1;
} catch (error) {
  if (!(error instanceof StartError || error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
