/** The function that cancels what is open, when an operator or a failed check asks for it. */

import { lambdaHost, massCancelPorts } from '../aws/ports.ts';
import { massCancels, start } from '../compose/functions.ts';

export const handler = start(massCancels, process.env, massCancelPorts(lambdaHost()));
