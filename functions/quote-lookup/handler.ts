/** The functions of lookups by event: quotes, and every other read of the open groups. A setting says which it is. */

import { operations } from '../../lib/catalogue/index.ts';
import { lambdaHost, lookupPorts } from '../aws/ports.ts';
import { lookups } from '../compose/lookups.ts';
import { start } from '../compose/start.ts';

export const handler = start(lookups(operations), process.env, lookupPorts(lambdaHost()));
