/** The function of lookups, killed at random: in place of the real handler's file, never within it. */

import { lambdaHost, lookupPorts } from '../../functions/aws/ports.ts';
import { lookups as composition, start } from '../../functions/compose/functions.ts';
import type { LookupHandler } from '../../functions/events/lookup-handler.ts';
import { operations } from '../../lib/catalogue/index.ts';

const lookups = start(composition(operations), process.env, lookupPorts(lambdaHost()));
/** Of the calls, so many are the last of their process, and it ends within so long. */
const part = 0.25;
const withinMs = 1500;

export const handler: LookupHandler = (event, context) => {
  if (Math.random() < part)
    setTimeout(() => {
      process.stdout.write('{"event":"killed"}\n');
      process.exit(1);
    }, Math.random() * withinMs);
  return lookups(event, context);
};
