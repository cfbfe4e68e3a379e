/** The function that checks the access token on a schedule. */

import { lambdaHost, secretPorts } from '../aws/ports.ts';
import { start } from '../compose/start.ts';
import { tokenCheck } from '../compose/token-check.ts';

export const handler = start(tokenCheck, process.env, secretPorts(lambdaHost()));
