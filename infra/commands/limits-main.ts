/** The command behind `npm run limits -- [stage] [reset]`. */

import { StartError } from '../environment.ts';
import { limitsCommand } from './limits.ts';

// The SDK's own switch (aws/aws-sdk-js-v3#7983): on Node 20 it tells the operator to upgrade at every call.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

try {
  console.log(await limitsCommand(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
