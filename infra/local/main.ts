/** `npm start`: runs everything on this machine and says how to call it. */

import { connect } from 'node:net';
import { groups, operations } from '../../lib/catalogue/index.ts';
import { runUntilInterrupted } from '../environment.ts';
import { type LocalRun, startLocalRun } from './local-run.ts';
import { type LocalSettings, readSettings } from './settings.ts';

await runUntilInterrupted(async () => {
  const settings = readSettings(process.env);
  const run = await startLocalRun(settings, {
    access: ({ method, path, status, milliseconds }) =>
      console.log(`${method} ${path} ${status} ${milliseconds} ms`),
    report: ({ code, upstreamStatus, upstreamCode, defect }) => {
      if (upstreamStatus !== undefined || code?.startsWith('upstream_'))
        console.log(
          `  ${code}: upstream answered ${upstreamStatus ?? 'nothing'} ${upstreamCode ?? ''}`.trimEnd(),
        );
      if (defect !== undefined) console.error(defect);
    },
    defect: (error) => console.error(error),
  });
  console.log(welcome(settings, run));
  if (!run.simulator && !(await accepts(run.upstreamUrl)))
    console.error(`Nothing answers at ${run.upstreamUrl}: calls will be answered 502 until it is up.`);
  return [run];
});

function welcome({ apiKey, openGroups }: LocalSettings, { url, upstreamUrl, simulator }: LocalRun): string {
  // A group of which the catalogue has no operation has nothing to open.
  const open = openGroups.filter((group) => operations.some((operation) => operation.group === group));
  const call = (target: string) => `  curl -H 'x-api-key: ${apiKey}' '${url}${target}'`;
  const examples = [
    ...(open.includes('market-data')
      ? [call('/openapi/market-data/stock/snapshot?symbols=AAPL,MSFT&category=US_STOCK')]
      : []),
    ...(open.includes('accounts') ? [call('/trading/accounts/list')] : []),
    `  curl '${url}/health'`,
  ];
  return [
    `Countersign on ${url}`,
    `API key of this run: ${apiKey}`,
    `Upstream: ${upstreamUrl}${simulator ? ' (simulated)' : ''}`,
    `Open groups: ${open.join(', ') || 'none'}${closedGroupsNote(openGroups, simulator !== undefined)}`,
    '',
    ...examples.slice(0, 2),
    '',
    'Ctrl-C ends it.',
  ].join('\n');
}

function closedGroupsNote(open: LocalSettings['openGroups'], simulated: boolean): string {
  const opened = open.filter((group) => groups[group].exposure === 'closed');
  if (opened.length === 0) return '';
  return simulated
    ? '\n(in front of the simulator all may be open; deployed, those of one account are closed)'
    : `\nWarning: ${opened.join(', ')} belong to one account at the upstream, and an API key is no authentication.`;
}

/** Whether somebody listens there; no request is spent on it. */
function accepts(baseUrl: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|]$/g, ''),
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      timeout: 3000,
    });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
    socket.once('timeout', () => done(false));
  });
}
