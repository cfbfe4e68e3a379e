/** Text that the local run prints at its start: its address, open groups and users, calls to paste, and where to read on. */

import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Group, groups, operations } from '../../lib/catalogue/index.ts';
import { streamOrderEvents, streamStockSnapshots } from '../../lib/catalogue/live.ts';
import { placeOrder } from '../../lib/catalogue/orders.ts';
import { eventNames } from '../../lib/events/names.ts';
import type { TradingLimits } from '../../lib/guard-rails/index.ts';
import { filledOrder } from '../example-orders.ts';
import { demoLimits } from './environment.ts';
import { eventsPath, type LocalRun } from './local-run.ts';
import type { LocalSettings } from './settings.ts';
import { tradingPath } from './trading.ts';
import type { LocalUser } from './users.ts';

export function welcome(
  { apiKey, host, openGroups, tradingLimits = demoLimits, misspelt = [] }: LocalSettings,
  run: LocalRun,
): string {
  const { url, upstreamUrl, simulator, issuer, users } = run;
  // A group without an operation in the catalogue has nothing to open.
  const open = openGroups.filter((group) => operations.some((operation) => operation.group === group));
  const closed = open.filter((group) => groups[group].exposure === 'closed');
  const call = (target: string, more = '') => `  curl -H 'x-api-key: ${apiKey}'${more} '${url}${target}'`;
  const calls = [
    ...(open.includes('market-data')
      ? [call('/openapi/market-data/stock/snapshot?symbols=AAPL,MSFT&category=US_STOCK')]
      : []),
    ...(open.includes('accounts') ? [call('/trading/accounts/list')] : []),
    `  curl '${url}/health'`,
  ].slice(0, 2);
  // Takes a user who sees other accounts than the key does, if there is one.
  const { name } = users[1] ?? users[0] ?? { name: '' };
  const tokenCalls = [
    `  TOKEN=$(curl -s -H 'accept: text/plain' -d 'grant_type=password&username=${name}' '${issuer}/token')`,
    call('/trading/accounts/list', ' -H "authorization: Bearer $TOKEN"'),
  ];
  return [
    `Countersign on ${url}`,
    ...reachedFrom(url, host),
    `API key of this run: ${apiKey}`,
    `Upstream: ${upstreamUrl}${simulator ? ' (simulated)' : ''}`,
    `Open groups: ${open.join(', ') || 'none'}`,
    ...(closed.length > 0
      ? [
          closedNote(closed, simulator !== undefined),
          'Users:',
          ...users.map(rightsOf(simulator !== undefined)),
        ]
      : []),
    '',
    ...calls,
    '',
    ...(open.includes('accounts')
      ? [`To call as ${name}, send a token as well as the key:`, ...tokenCalls, '']
      : []),
    ...(open.includes('market-data')
      ? [
          'A lookup by event, as a schedule or a workflow sends it; the output is the reply on the event bus:',
          byEvent(url, apiKey),
          '',
          'Live quotes:',
          `  curl -sN -H 'x-api-key: ${apiKey}' '${url}${streamStockSnapshots.path}?symbols=AAPL,MSFT&category=US_STOCK' | head -n 11`,
          '',
        ]
      : []),
    ...(run.tradeEvents ? [...tradeEventCalls(run, apiKey, tradingLimits), ''] : []),
    `For client generators: ${url}/openapi.json?for=generators (OpenAPI 3.0; add &version=3.1 for 3.1)`,
    `Reference of all operations, to read and to try: ${url}/docs#key=${encodeURIComponent(apiKey)}`,
    '',
    `See all of it at work: ${url}/#key=${encodeURIComponent(apiKey)}`,
    '',
    ...(misspelt.length > 0 ? [...misspelt, ''] : []),
    'Ctrl-C ends it.',
  ].join('\n');
}

/** Says how programs outside this machine call the run. */
function reachedFrom(url: string, host: string | undefined): readonly string[] {
  const { port } = new URL(url);
  const emulator = `From the Android emulator: http://10.0.2.2:${port}; from the iOS simulator: ${url}`;
  if (host === undefined) return [emulator];
  const every = host === '0.0.0.0' || host === '::';
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).flatMap(({ address, family, internal }) => (family === 'IPv4' && !internal ? [address] : [])),
  );
  const urls = (every ? addresses : [host]).map(
    (address) => `http://${isIPv6(address) ? `[${address}]` : address}:${port}`,
  );
  return [
    emulator,
    `From the network: ${urls.join(', ') || 'no address is known'}`,
    'Warning: HOST opens this run to the network. Whoever has the key can use it, and without TLS all on the way can read it.',
  ];
}

/** Makes a lookup with a new id in each second, because an id that was answered is not answered again. */
const byEvent = (url: string, apiKey: string): string => {
  const detail = `{"request_id":"try-'$(date +%s)'","symbols":["AAPL","MSFT"],"category":"US_STOCK"}`;
  const entry = `{"source":"try","detail-type":"${eventNames.quotes.requested}","detail":${detail}}`;
  return `  curl -H 'x-api-key: ${apiKey}' -d '${entry}' '${url}${eventsPath}'`;
};

/** Calls for trade events; they place an order only if no money is in it. */
function tradeEventCalls(
  { url, simulator, users }: LocalRun,
  apiKey: string,
  limits: TradingLimits,
): readonly string[] {
  const key = `-H 'x-api-key: ${apiKey}'`;
  const [granted] = users[0]?.accounts ?? [];
  const account = granted === '*' ? simulator?.accounts[0]?.account_id : granted;
  const follow = `  curl -sN ${key} '${url}${streamOrderEvents.path}'`;
  if (!simulator || account === undefined) return ['Live trade events:', follow];
  const body = JSON.stringify({
    account_id: account,
    new_orders: [{ client_order_id: "try-'$(date +%s)'", ...filledOrder }],
  });
  return [
    'Live trade events; the second line places an order, which is filled within seconds:',
    `${follow} | head -n 20 &`,
    `  curl ${key} -H 'content-type: application/json' -d '${body}' '${url}${placeOrder.path}'`,
    '',
    'Set a limit that orders are checked against, and undo it; stop trading, and resume it. Cancels always pass:',
    `  curl ${key} -d '{"set":{"max_order_notional":"100"}}' '${url}${tradingPath}/limits'`,
    `  curl ${key} -d '{"set":{"max_order_notional":${JSON.stringify(limits.max_order_notional ?? null)}}}' '${url}${tradingPath}/limits'`,
    `  curl ${key} -d '{"reason":"try"}' '${url}${tradingPath}/stop'`,
    `  curl ${key} -d '{"reason":"try"}' '${url}${tradingPath}/resume'`,
  ];
}

const closedNote = (closed: readonly Group[], isSimulated: boolean): string =>
  isSimulated
    ? `(in a deployment, these groups stay closed until the stage opens them to users: ${closed.join(', ')})`
    : `Warning: ${closed.join(', ')} belong to your accounts at the upstream, and the API key of this run opens them.`;

/** Describes a user's rights. The first user has the key, and the data of no account. Real account ids are not printed. */
const rightsOf =
  (isSimulated: boolean) =>
  ({ name, accounts }: LocalUser, index: number): string => {
    const many = accounts.length === 1 ? 'account' : 'accounts';
    const named = isSimulated ? `${many} ${accounts.join(', ')}` : `${accounts.length} ${many} of USERS`;
    const every = accounts.includes('*') ? 'every account of the app key' : named;
    const rights = [...(accounts.length > 0 ? [every] : []), ...(index === 0 ? ['the watchlists'] : [])];
    return `  ${name}${index === 0 ? ' (also with the API key alone)' : ''}: ${rights.join('; ') || 'nothing'}`;
  };
