/** What the local run prints at its start: where it is, what is open, two calls to paste, and where to read on. */

import { groups, operations } from '../../lib/catalogue/index.ts';
import type { LocalRun } from './local-run.ts';
import type { LocalSettings } from './settings.ts';

export function welcome(
  { apiKey, openGroups }: LocalSettings,
  { url, upstreamUrl, simulator }: LocalRun,
): string {
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
    `All operations, to read and to try: ${url}/docs#key=${encodeURIComponent(apiKey)}`,
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
