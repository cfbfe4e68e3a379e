/** The function that cancels what is open, when an operator or a failed check asks for it. */

import { massCancelPorts } from '../aws/order-ports.ts';
import { lambdaHost } from '../aws/ports.ts';
import { massCancels } from '../compose/mass-cancels.ts';
import { start } from '../compose/start.ts';

export const handler = start(massCancels, process.env, massCancelPorts(lambdaHost()));
