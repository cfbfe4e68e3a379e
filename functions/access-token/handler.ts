/** The function that checks the access token on a schedule. */

import { lambdaHost, secretPorts } from '../aws/ports.ts';
import { start, tokenCheck } from '../compose/functions.ts';

export const handler = start(tokenCheck, process.env, secretPorts(lambdaHost()));
