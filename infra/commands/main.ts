/**
 * `countersign`: runs one command of the table. An operator's mistake is printed as a sentence, without a stack. Exit codes:
 * 0 done; 1 not done, or what was looked at is not well; 2 the command line is wrong, and nothing was done.
 */

import { StartError } from '../environment.ts';
import { ConfigError } from '../stack/config-error.ts';
import { versionOf } from '../version.ts';
import { parse, UsageError } from './command.ts';
import { printError, printReport } from './print.ts';
import { table } from './table.ts';

/** @returns the exit code */
export async function main(argv: readonly string[]): Promise<number> {
  // Turns off a warning of the SDK (aws/aws-sdk-js-v3#7983), which on Node 20 tells the operator to upgrade at every call.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  try {
    const parsed = await parse(argv, table, versionOf());
    if ('run' in parsed) {
      const outcome = await parsed.run(parsed.given);
      if (typeof outcome !== 'object') return outcome ?? 0;
      return printReport(outcome, (parsed.given as { readonly json?: boolean }).json === true);
    }
    (parsed.isError ? process.stderr : process.stdout).write(parsed.text);
    return parsed.isError ? 2 : 0;
  } catch (error) {
    if (!(error instanceof StartError || error instanceof ConfigError)) throw error;
    printError(error.message);
    return error instanceof UsageError ? 2 : 1;
  }
}
