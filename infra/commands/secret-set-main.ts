/** The command behind `npm run secret:set -- [stage]`. */

import { text } from 'node:stream/consumers';
import { StartError } from '../environment.ts';
import { setSecret, stackNameFrom, usableSecret, usage } from './secret-set.ts';

// The SDK's own switch (aws/aws-sdk-js-v3#7983): on Node 20 it tells the operator to upgrade at every call.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

try {
  const stackName = stackNameFrom(process.argv.slice(2));
  if (process.stdin.isTTY) throw new StartError(usage);
  const ofToken = await setSecret(stackName, await usableSecret(await text(process.stdin)));
  console.log(
    `The secret of ${stackName} is set; functions use it within five minutes. ${ofToken}`.trimEnd(),
  );
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
