/**
 * `countersign simulate`: runs the simulated upstream alone, until it is interrupted.
 *
 * UPSTREAM_PORT (8788), EVENTS_PORT (8789), MARKET_STREAM_PORT (8790), MARKET_STREAM (on), UPSTREAM_LIMITS (interface),
 * UPSTREAM_FAULTS (none), APP_KEY and APP_SECRET come from the environment. Without the last two, a pair is invented and
 * printed, because the user needs it to sign.
 */

import {
  inventAppCredentials,
  listening,
  misspeltNames,
  readAppCredentials,
  readMarketStreamPort,
  readPort,
  readUpstreamLimits,
  runUntilInterrupted,
  StartError,
  samePortFault,
  type Variables,
} from '../environment.ts';
import { Mistakes } from '../mistakes.ts';
import { readUpstreamFaults } from '../simulator/faults-variable.ts';
import { startSimulator } from '../simulator/index.ts';
import { linesIf, printReport } from './print.ts';

function readSettings(env: Variables) {
  const mistakes = new Mistakes(StartError);
  const settings = {
    port: mistakes.read(() => readPort(env, 'UPSTREAM_PORT', 8788), 0),
    eventsPort: mistakes.read(() => readPort(env, 'EVENTS_PORT', 8789), 0),
    marketStreamPort: mistakes.read(() => readMarketStreamPort(env), undefined),
    given: mistakes.read(() => readAppCredentials(env), undefined),
    upstreamLimits: mistakes.read(() => readUpstreamLimits(env), undefined) ?? 'interface',
    faults: mistakes.read(() => readUpstreamFaults(env), {}),
  };
  const { port, eventsPort, marketStreamPort } = settings;
  const ports = {
    UPSTREAM_PORT: port,
    EVENTS_PORT: eventsPort,
    ...(marketStreamPort !== undefined && { MARKET_STREAM_PORT: marketStreamPort }),
  };
  const portFault = samePortFault(ports);
  if (portFault) mistakes.add(portFault);
  return { settings, ports, mistakes };
}

/** @throws StartError with a line for each setting that is wrong */
export const simulate = (json: boolean) =>
  runUntilInterrupted(async () => {
    const { settings, ports, mistakes } = readSettings(process.env);
    const misspelt = misspeltNames(process.env, readSettings);
    mistakes.throwAny(misspelt);
    const { port, eventsPort, marketStreamPort, given, upstreamLimits, faults } = settings;
    const credentials = given ?? inventAppCredentials();
    const simulator = await listening(
      startSimulator({
        ...credentials,
        port,
        upstreamLimits,
        ...faults,
        events: { port: eventsPort },
        ...(marketStreamPort !== undefined && { marketStream: { port: marketStreamPort } }),
      }),
      ports,
    );
    const { url, events, marketStream } = simulator;
    const streams = { eventsPort: events.port, marketStreamPort: marketStream?.port };
    const lines = [
      `Simulated upstream on ${url}`,
      `Event stream on 127.0.0.1:${events.port} (gRPC, plaintext)`,
      ...linesIf(
        marketStream,
        `Market-data stream on 127.0.0.1:${marketStream?.port} (MQTT, plaintext; WebSocket at /mqtt)`,
      ),
      `App key: ${credentials.appKey}`,
      ...linesIf(!given, `App secret: ${credentials.appSecret} (invented for this run)`),
      ...misspelt,
    ];
    printReport({ lines, data: { url, ...streams, ...credentials } }, json);
    return [simulator];
  });
