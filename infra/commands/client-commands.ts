/** Commands that call a gateway or the upstream as a client does. */

import { doubledPathFault } from '../../lib/upstream/base-url.ts';
import { command, operand, operands, refuse, value } from './command.ts';
import { credentials } from './credentials.ts';
import { baseUrlIn, json, pairIn } from './readers.ts';

const gatewayOption = value(
  '<url>',
  'the gateway, which signs; needs API_KEY, and TOKEN where it asks who calls',
  baseUrlIn,
);

export const call = command({
  options: {
    operation: operand('<operation>', 'the operation’s id, such as getStockSnapshots', (text) => text),
    parameters: operands('[name=value...]', 'query parameters', pairIn('symbols=AAPL')),
    gateway: gatewayOption,
    upstream: value('<url>', 'the upstream itself; takes APP_KEY, APP_SECRET and ACCESS_TOKEN', baseUrlIn),
    body: value('<file>', 'a file with the JSON body; - is standard input'),
    idempotencyKey: value('<text>', 'the key of a change that has no order id'),
    credentials,
    json,
  },
  examples: [
    'API_KEY=… countersign call getStockSnapshots symbols=AAPL,MSFT category=US_STOCK --gateway https://api.example.com',
    'APP_KEY=… APP_SECRET=… countersign call listAccounts --upstream https://api.example.com',
  ],
  more: 'Sends one request and prints the answer as it came; docs/operations.md lists the operations. A request with a\nside effect goes through a gateway only, whose journal keeps an order from being sent twice.',
  async check({ operation: id, parameters, ...given }) {
    const { findOperation } = await import('./call.ts');
    const operation = findOperation(id);
    if ((given.gateway === undefined) === (given.upstream === undefined))
      return refuse('call needs either --gateway or --upstream.');
    const doubled = doubledPathFault(given.gateway ?? given.upstream, [operation.path]);
    if (doubled) return refuse(`--${given.upstream === undefined ? 'gateway' : 'upstream'}: ${doubled}.`);
    if (operation.sideEffect && given.upstream !== undefined)
      return refuse(
        `${operation.id} has a side effect: call it by --gateway, whose journal keeps it from being sent twice.`,
      );
    if (parameters.some(([name]) => name.includes('token')))
      return refuse('A token is never an argument: give it as JSON by --body or in the environment.');
    return { ...given, operation, query: Object.fromEntries(parameters) };
  },
  run: async (given) => (await import('./call.ts')).callOperation(given),
});

export const watch = command({
  options: {
    symbols: operands('<symbols...>', 'the symbols to follow, such as AAPL MSFT', (text) => text),
    gateway: gatewayOption,
    category: value('<name>', 'the symbols’ category', (text) => text, 'US_STOCK'),
    credentials,
    json,
  },
  examples: ['API_KEY=… countersign watch AAPL MSFT --gateway https://api.example.com'],
  more: 'Prints a table on a terminal, otherwise a line for each change. Ctrl-C ends it.',
  check: ({ gateway, ...given }) =>
    gateway === undefined ? refuse('watch needs --gateway.') : { ...given, gateway },
  run: async (given) => (await import('./watch.ts')).watchQuotes(given),
});
