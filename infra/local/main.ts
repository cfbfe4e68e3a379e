/** `npm start`: runs everything on this machine and prints how to call it. */

import { connect } from 'node:net';
import type { RateLimitReport } from '../../lib/gateway/index.ts';
import { runUntilInterrupted } from '../environment.ts';
import { createDoctor } from './doctor.ts';
import { startLocalRun } from './local-run.ts';
import { readSettings } from './settings.ts';
import { createTradeEventLines, troubleOf } from './trade-event-lines.ts';
import { eventStreamPath } from './trade-events.ts';
import { welcome } from './welcome.ts';

await runUntilInterrupted(async () => {
  const settings = readSettings(process.env);
  const { upstream } = settings;
  const doctor =
    'baseUrl' in upstream ? createDoctor({ ...settings, ...upstream }, console.error) : undefined;
  const run = await startLocalRun(settings, {
    access: ({ method, path, status, milliseconds }) =>
      console.log(`${method} ${path} ${status} ${milliseconds} ms`),
    report: (report) => {
      const { status, code, upstreamStatus, upstreamCode, defect } = report;
      if (upstreamStatus !== undefined || (code && status >= 500))
        console.log(
          `  ${code}: upstream answered ${upstreamStatus ?? 'nothing'} ${upstreamCode ?? ''}`.trimEnd(),
        );
      if (defect !== undefined) console.error(defect);
      void doctor?.observe(report);
    },
    rateLimited: ({ operation, verdict, kept }) =>
      console.error(
        `The upstream answered 429 to ${operation}: ${verdicts[verdict]} The limits in force are ${kept}.`,
      ),
    defect: (error) => console.error(error),
    ...(settings.tradeEvents?.isShown && {
      tradeEvent: createTradeEventLines({ print: console.log, streamPath: eventStreamPath }),
    }),
    tradeEventReport: (one) => {
      const trouble = troubleOf(one);
      if (trouble) console.error(trouble);
    },
  });
  console.log(welcome(settings, run));
  if (!run.simulator && !(await accepts(run.upstreamUrl)))
    console.error(`Nothing answers at ${run.upstreamUrl}: calls will be answered 502 until it is up.`);
  return [run];
});

const verdicts: Readonly<Record<RateLimitReport['verdict'], string>> = {
  tightened: 'it allows less than UPSTREAM_LIMITS, so this run keeps tighter limits until it ends.',
  not_ours:
    'this run sent less than any preset allows, so others use the app key, or the address is blocked.',
  none_tighter: 'no preset is tighter for it.',
};

/** Whether a server listens there; no request is sent for it. */
function accepts(baseUrl: string): Promise<boolean> {
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
