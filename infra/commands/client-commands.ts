/** Commands that call a gateway or the upstream as a client does. */

import { doubledPathFault } from '../../lib/upstream/base-url.ts';
import { command, operand, operands, refuse, value } from './command.ts';
import { credentials } from './credentials.ts';
import { baseUrlIn, json } from './readers.ts';

const gatewayOption = value(
  '<url>',
  'a gateway, which signs: API_KEY, and TOKEN where it asks who calls',
  baseUrlIn,
);

export const call = command({
  options: {
    operation: operand('<operation>', 'its id, such as getStockSnapshots', (text) => text),
    parameters: operands('[name=value...]', 'its query parameters', (text): readonly [string, string] => {
      const at = text.indexOf('=');
      return at > 0
        ? [text.slice(0, at), text.slice(at + 1)]
        : refuse('takes name=value, such as symbols=AAPL.');
    }),
    gateway: gatewayOption,
    upstream: value('<url>', 'the interface itself: APP_KEY, APP_SECRET and ACCESS_TOKEN', baseUrlIn),
    body: value('<file>', 'JSON; - is standard input'),
    idempotencyKey: value('<text>', 'of a change that has no order id'),
    credentials,
    json,
  },
  examples: [
    'API_KEY=… countersign call getStockSnapshots symbols=AAPL,MSFT category=US_STOCK --gateway https://api.example.com',
    'APP_KEY=… APP_SECRET=… countersign call listAccounts --upstream https://api.example.com',
  ],
  more: 'Prints the answer as it came; docs/operations.md has the operations. It sends one request. What has a side\neffect goes through a gateway alone, whose journal keeps an order from being sent twice.',
  async check({ operation: id, parameters, ...given }) {
    const { findOperation } = await import('./call.ts');
    const operation = findOperation(id);
    if ((given.gateway === undefined) === (given.upstream === undefined))
      return refuse('call takes --gateway or --upstream: where the operation is.');
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
    symbols: operands('<symbols...>', 'such as AAPL MSFT', (text) => text),
    gateway: gatewayOption,
    category: value('<name>', 'of the symbols', (text) => text, 'US_STOCK'),
    credentials,
    json,
  },
  examples: ['API_KEY=… countersign watch AAPL MSFT --gateway https://api.example.com'],
  more: 'A table on a terminal, otherwise a line for each change. Ctrl-C ends it.',
  check: ({ gateway, ...given }) =>
    gateway === undefined ? refuse('watch takes --gateway: where the stream is.') : { ...given, gateway },
  run: async (given) => (await import('./watch.ts')).watchQuotes(given),
});
