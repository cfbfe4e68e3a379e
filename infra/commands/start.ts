/** `countersign start`: runs everything on this machine and prints how to call it. */

import { connect } from 'node:net';
import { isRequest } from '../../functions/log/log.ts';
import { streamOrderEvents } from '../../lib/catalogue/live.ts';
import { runUntilInterrupted } from '../environment.ts';
import { createDoctor } from '../local/doctor.ts';
import { type LocalRun, startLocalRun } from '../local/local-run.ts';
import { accessLine, lineOf } from '../local/log-lines.ts';
import { readSettings } from '../local/settings.ts';
import { createTradeEventLines } from '../local/trade-event-lines.ts';
import { welcome } from '../local/welcome.ts';

/** @throws StartError with a line for each setting that is wrong */
export const start = (json: boolean) =>
  runUntilInterrupted(async () => {
    const settings = readSettings(process.env);
    const { upstream } = settings;
    const doctor =
      'baseUrl' in upstream ? createDoctor({ ...settings, ...upstream }, console.error) : undefined;
    const begun: Promise<LocalRun> = startLocalRun(settings, {
      // A page of an earlier run keeps asking, and is answered before this run has printed its address.
      access: (entry) =>
        void begun.then(
          ({ url }) => console.log(accessLine(entry, { url, canLink: process.stdout.isTTY })),
          () => {},
        ),
      outage: (sentence) => console.log(sentence),
      log: (entry) => {
        const line = lineOf(entry);
        if (isRequest(entry)) void doctor?.observe(entry);
        if (line === undefined) return;
        if (isRequest(entry) && entry.defect === undefined) console.log(line);
        else console.error(line);
      },
      defect: (error) => console.error(error),
      ...(settings.tradeEvents?.isShown && {
        tradeEvent: createTradeEventLines({ print: console.log, streamPath: streamOrderEvents.path }),
      }),
    });
    const run = await begun;
    const { url, upstreamUrl } = run;
    console.log(
      json ? JSON.stringify({ url, apiKey: settings.apiKey, upstreamUrl }) : welcome(settings, run),
    );
    if (!run.simulator && !(await acceptsConnections(run.upstreamUrl)))
      console.error(`Nothing answers at ${run.upstreamUrl}: calls will be answered 502 until it is up.`);
    return [run];
  });

/** Tells whether a server listens at the address, without sending a request. */
function acceptsConnections(baseUrl: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|]$/g, ''),
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      timeout: 3000,
    });
    const done = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
    socket.once('timeout', () => done(false));
  });
}
