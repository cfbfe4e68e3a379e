/** What every command does around its work: a mistake of the operator's is one line and an exit code, and no stack. */

import { StartError } from '../environment.ts';

export interface MainOptions {
  /** The exit code after a mistake. Default 1. */
  readonly code?: number;
  /** What counts as a mistake besides `StartError`. */
  readonly also?: new (
    ...args: never[]
  ) => Error;
}

/** @example await main(async () => console.log(await limitsCommand(process.argv.slice(2)))); */
export async function main(
  work: (args: readonly string[]) => void | Promise<void>,
  { code = 1, also = StartError }: MainOptions = {},
): Promise<void> {
  // The SDK's own switch (aws/aws-sdk-js-v3#7983): on Node 20 it tells the operator to upgrade at every call.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  try {
    await work(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof StartError || error instanceof also)) throw error;
    console.error(error.message);
    process.exitCode = code;
  }
}
