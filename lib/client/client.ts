/** The client: one method for each catalogue entry, with the entry's types. */

import type { Operation } from '../catalogue/operation.ts';
import { doubledPathFault } from '../upstream/base-url.ts';
import { type CallTarget, call } from './call.ts';
import type { Connection } from './connection.ts';
import { checkTimeout } from './deadline.ts';
import { followPages } from './pages.ts';
import type { SentOptions } from './request.ts';
import type { CallOptions, Client, ClientOptions } from './types.ts';

const defaultTimeoutMs = 15_000;

/**
 * Makes one method for each catalogue entry among the members of `operations`, under the member's name. `operations` is an
 * object, such as `{ getStockSnapshots }`, or a whole module (`import * as catalogue`). Other members are ignored.
 *
 * A method takes the query parameters, or the body where the operation has one, and rejects with a
 * `ClientError`. It sends one request, and repeats it only when a gateway refused its token (`viaGateway`).
 *
 * @throws TypeError naming the option that is wrong
 * @example
 * const client = createClient({ getStockSnapshots }, viaGateway({ baseUrl, apiKey }));
 * const snapshots = await client.getStockSnapshots({ symbols: ['AAPL', 'MSFT'], category: 'US_STOCK' });
 */
export function createClient<const C extends object>(
  operations: C,
  connection: Connection,
  options: ClientOptions<C> = {},
): Client<C> {
  const timeoutMs = checkTimeout(options.timeoutMs ?? defaultTimeoutMs);
  const paths: Readonly<Record<string, string | undefined>> = options.paths ?? {};
  const client: Record<string, unknown> = {};
  const usedPaths: string[] = [];
  for (const [name, operation] of Object.entries(operations))
    if (isOperation(operation)) {
      const path = checkPath(name, paths[name] ?? operation.path);
      usedPaths.push(path);
      client[name] = methodOf({ operation, path, connection, timeoutMs });
    }
  for (const name of Object.keys(paths))
    if (!client[name]) throw new TypeError(`paths: ${name} is no operation of this client`);
  const fault = doubledPathFault(connection.baseUrl, usedPaths);
  if (fault) throw new TypeError(`baseUrl: ${fault}`);
  return client as Client<C>;
}

function methodOf(target: CallTarget): object {
  const { paging } = target.operation;
  type Arguments = [input?: unknown, options?: CallOptions & SentOptions];
  const method = async (...args: Arguments) => (await call(target, ...args)).data;
  const answer = (...args: Arguments) => call(target, ...args);
  if (!paging) return Object.assign(method, { answer });
  return Object.assign(method, {
    answer,
    async *pages(...args: Arguments) {
      for await (const { data } of followPages(target, paging, ...args)) yield data;
    },
    async *items(...args: Arguments) {
      for await (const { items } of followPages(target, paging, ...args)) yield* items;
    },
  });
}

/** Whether a method can call the member: a module also exports helpers and lists, and a stream is followed, not called. */
function isOperation(member: unknown): member is Operation {
  if (typeof member !== 'object' || member === null) return false;
  const { id, path, query, follows, answeredBy } = member as Partial<Operation>;
  const isCalled = !follows && answeredBy !== 'trade events';
  return isCalled && typeof id === 'string' && typeof path === 'string' && typeof query === 'object';
}

function checkPath(name: string, path: string): string {
  // A dot segment would be resolved before the request is sent, but the path is signed unresolved.
  if (!/^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(path))
    throw new TypeError(`paths: ${name} must be a path like /trading/orders/place`);
  return path;
}
