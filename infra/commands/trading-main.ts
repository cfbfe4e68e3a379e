/** The command behind `npm run trading -- <command> [stage] …`. */

import { StartError } from '../environment.ts';
import { deployedTrading, manageTrading } from './trading.ts';
import { tradingArguments, usage } from './trading-arguments.ts';

// The SDK's own switch (aws/aws-sdk-js-v3#7983): on Node 20 it tells the operator to upgrade at every call.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

try {
  const given = tradingArguments(process.argv.slice(2));
  if (given) await manageTrading(given, await deployedTrading(given));
  else console.log(usage);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
