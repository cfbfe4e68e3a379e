/**
 * `npm run simulator`: the simulated upstream alone, until it is interrupted.
 *
 * UPSTREAM_PORT (8788), UPSTREAM_LIMITS (interface), APP_KEY and APP_SECRET come from the environment. Without the last
 * two, a pair is invented for this run and printed, because the user of the simulator needs it to sign.
 */

import {
  inventAppCredentials,
  listening,
  readAppCredentials,
  readPort,
  readUpstreamLimits,
  runUntilInterrupted,
} from '../environment.ts';
import { startSimulator } from './index.ts';

await runUntilInterrupted(async () => {
  const port = readPort(process.env, 'UPSTREAM_PORT', 8788);
  const given = readAppCredentials(process.env);
  const credentials = given ?? inventAppCredentials();
  const upstreamLimits = readUpstreamLimits(process.env) ?? 'interface';
  const simulator = await listening(
    startSimulator({ ...credentials, port, upstreamLimits }),
    port,
    'UPSTREAM_PORT',
  );
  console.log(`Simulated upstream on ${simulator.url}`);
  console.log(`App key: ${credentials.appKey}`);
  if (!given) console.log(`App secret: ${credentials.appSecret} (invented for this run)`);
  return [simulator];
});
