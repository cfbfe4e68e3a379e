/** A listener of the market stream as a process of its own: the deployed composition, whose secret comes from the environment. */

import { marketStreamPorts } from '../../functions/aws/market-stream-ports.ts';
import { lambdaHost } from '../../functions/aws/ports.ts';
import { marketStream, start } from '../../functions/compose/functions.ts';

const ports = marketStreamPorts(lambdaHost());
const handler = start(marketStream, process.env, {
  ...ports,
  secret: () => ({ read: async () => process.env.SECRET_TEXT }),
});
const endAt = Date.now() + 14 * 60_000;
await handler({}, { getRemainingTimeInMillis: () => endAt - Date.now() });
