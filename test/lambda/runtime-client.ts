/** Lambda's own runtime client, and the Node version that is deployed, where they are installed. */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
export const runtimeClient = fromHere('node_modules/aws-lambda-ric/index.mjs');
const deployedNode = fromHere('../runtimes/node_modules/node24/bin/node');

/** In words what is missing, or undefined when functions can be started. */
export const missingForStartUp = () =>
  existsSync(runtimeClient) ? undefined : 'The runtime client is missing: npm ci --prefix test/lambda';

/** The deployed version, or this one. */
export const runtimeNode = () => (existsSync(deployedNode) ? deployedNode : process.execPath);

/** What Lambda tells its runtime client. */
export const runtimeEnvironment = {
  AWS_LAMBDA_FUNCTION_NAME: 'bench',
  AWS_LAMBDA_FUNCTION_VERSION: '1',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
  AWS_LAMBDA_LOG_GROUP_NAME: 'bench',
  AWS_LAMBDA_LOG_STREAM_NAME: 'bench',
};
