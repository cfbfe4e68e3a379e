/**
 * "An existing client of the interface works when its base URL is changed": every entry on every path, in the form in
 * which clients in the field send it, read as they read it, at the simulator and at the gateway.
 */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, type TestContext, test } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { groups, type Operation, openable, operations, previewOrder } from '../../lib/catalogue/index.ts';
import { option } from '../guard-rails/guarded.ts';
import { callOf } from '../support/calls.ts';
import { credentials } from '../support/core.ts';
import { membersOf, withNull } from '../support/members.ts';
import { useCalmTime } from '../world/test-time.ts';
import {
  currentClient,
  type FieldAnswer,
  type FieldClient,
  olderClient,
  readRefusal,
  type Server,
  sendAs,
} from './field-client.ts';

useCalmTime();

const unlimited = { requests: 1_000_000, perSeconds: 60 };
const apiKey = 'key-of-this-test';

/** Both servers that a base URL may name; the gateway's caller has an API key and no credentials. */
async function serversFor(t: TestContext): Promise<Readonly<Record<'simulator' | 'gateway', Server>>> {
  const run = await startLocalRun({
    port: 0,
    apiKey,
    openGroups: openable,
    // These clients know no tokens: the key stands for one person with both accounts, as the app key does.
    users: [{ name: 'ada', accounts: ['*'] }],
    credentials,
    upstream: { simulatorPort: 0 },
    marketDataLimit: unlimited,
    cache: 'off',
  });
  t.onTestFinished(() => run.close());
  return {
    simulator: { url: run.upstreamUrl, credentials },
    gateway: {
      url: run.url,
      credentials: { appKey: 'key-of-the-app', appSecret: 'no-secret-of-ours' },
      headers: { 'x-api-key': apiKey },
    },
  };
}

const pathsOf = ({ path, aliases }: Operation) => [path, ...aliases];

/** As these clients write a body: null for whatever they have no value for. */
function withAbsentAsNull(schema: v.GenericSchema, value: unknown): unknown {
  const isAbsent = (at: readonly (string | number)[]) =>
    at.reduce<unknown>(
      (left, key) => (left as Record<string | number, unknown> | undefined)?.[key],
      value,
    ) === undefined;
  const absent = [...membersOf(schema, value)].filter(({ at, mayBeLeftOut }) => mayBeLeftOut && isAbsent(at));
  return withNull(value, absent);
}

/** The call of one entry as a client makes it: absent members as null, flags in its own form. */
async function answerOf(
  client: FieldClient,
  server: Server,
  operation: Operation,
  path: string,
): Promise<FieldAnswer> {
  const { method } = operation;
  const { search, body } = await callOf(operation.id, async (prepared, value) => {
    const answer = await sendAs(currentClient, server, {
      method: 'POST',
      path: prepared,
      query: {},
      body: value,
    });
    assert.equal(answer.status, 200, answer.text);
    return JSON.parse(answer.text);
  });
  const query = Object.fromEntries(
    [...new URLSearchParams(search)].map(([name, value]) =>
      operation.query[name]?.json.type === 'boolean' ? [name, client.flag(value === 'true')] : [name, value],
    ),
  );
  // The example is an order of a stock; on the path of options it is one of them.
  const isOfOptions = path.includes('/option/') && operation.sideEffect?.journal?.by === 'client_order_id';
  const asked = JSON.parse(body ?? '{}');
  if (isOfOptions) asked.new_orders = [option(asked.new_orders[0].client_order_id, '1', '5')];
  return sendAs(client, server, {
    method,
    path,
    query,
    ...(operation.body && { body: withAbsentAsNull(operation.body, asked) }),
    ...(operation.headers?.includes('category') && {
      headers: { category: isOfOptions ? 'US_OPTION' : 'US_STOCK' },
    }),
  });
}

function assertRead(operation: Operation, answer: FieldAnswer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.contentType, /^application\/json/);
  const read: unknown = JSON.parse(answer.text);
  const { issues } = v.safeParse(operation.response, read);
  assert.deepEqual(
    issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`),
    undefined,
  );
  // The schema takes the documented object, too; these clients read a bare boolean.
  if (operation.verdict !== undefined) assert.equal(read, true);
}

/** One that the simulator has no reason to refuse: the interface text wants v3. */
const speakingV3 = (client: FieldClient): FieldClient => ({ ...client, version: 'v3' });

/** Existing clients know the interface's own. */
const ofInterface = operations.filter(({ answeredBy }) => !answeredBy);
/** A subscription needs an open connection, which the local run does not offer. */
const withoutStream = ofInterface.filter(({ group }) => group !== 'market-stream');
const behindGateway = ofInterface.filter(({ group }) => groups[group].exposure !== 'never');

/** Seen live: the query form of stock bars is not routed. A client reads that, too. */
const isUnroutedLive = ({ id }: Operation) => id === 'getStockBars';

describe('every entry on every path, read as existing clients read it', () => {
  for (const { client, server, offered } of [
    { client: currentClient, server: 'simulator', offered: withoutStream },
    { client: speakingV3(olderClient), server: 'simulator', offered: withoutStream },
    { client: currentClient, server: 'gateway', offered: behindGateway },
    { client: olderClient, server: 'gateway', offered: behindGateway },
  ] as const)
    test(`${client.name} that says ${client.version}, at the ${server}`, async (t) => {
      const servers = await serversFor(t);
      const failed: string[] = [];
      for (const operation of offered)
        for (const path of pathsOf(operation))
          try {
            const answer = await answerOf(client, servers[server], operation, path);
            if (isUnroutedLive(operation)) assert.equal(answer.status, 404);
            else assertRead(operation, answer);
          } catch (error) {
            failed.push(`${operation.id} ${path}: ${error instanceof Error ? error.message : error}`);
          }
      assert.deepEqual(failed, []);
    });
});

describe('what a client reads before its first call', () => {
  for (const server of ['simulator', 'gateway'] as const)
    test(`is there at the ${server}, and asks for no token`, async (t) => {
      const servers = await serversFor(t);
      const answer = await sendAs(currentClient, servers[server], {
        method: 'GET',
        path: '/openapi/config',
        query: {},
      });
      assert.equal(answer.status, 200);
      assert.deepEqual(JSON.parse(answer.text), { token_check_enabled: false });
    });
});

describe('a refusal is a flat map with code and message', () => {
  for (const server of ['simulator', 'gateway'] as const)
    test(`at the ${server}, for each entry with a parameter that it does not know`, async (t) => {
      const servers = await serversFor(t);
      for (const operation of server === 'gateway' ? behindGateway : ofInterface) {
        if (operation.anyQuery || operation.gatewayAnswer || isUnroutedLive(operation)) continue;
        const { method, path, example, body } = operation;
        const answer = await sendAs(currentClient, servers[server], {
          method,
          path,
          query: { ...example.query, nonsense: '1' },
          ...(body && { body: example.body }),
        });
        assert.ok(answer.status >= 400, `${operation.id}: ${answer.text}`);
        assert.match(readRefusal(answer).message, /nonsense/, operation.id);
      }
    });

  test('also where the API key is missing or unknown', async (t) => {
    const { gateway } = await serversFor(t);
    const request = { method: 'GET', path: '/trading/accounts/list', query: {} };
    for (const headers of [{}, { 'x-api-key': 'another' }] as const) {
      const answer = await sendAs(currentClient, { ...gateway, headers }, request);
      assert.equal(answer.status, 403);
      assert.equal(readRefusal(answer).code, 'FORBIDDEN');
    }
  });
});

describe('what breaks the interface text', () => {
  const order = {
    method: 'POST',
    path: '/openapi/trade/order/preview',
    query: {},
    body: { ...(previewOrder.example.body as object), note: 'A & B <C>' },
  };
  const accounts = { method: 'GET', path: '/openapi/account/list', query: {} };

  test('is refused by the simulator: an older version, escapes left in a body', async (t) => {
    const { simulator } = await serversFor(t);
    const tooOld = await sendAs(olderClient, simulator, accounts);
    assert.equal(readRefusal(tooOld).code, 'UNSUPPORTED_API_VERSION');
    const escaped = await sendAs(speakingV3(olderClient), simulator, order);
    assert.match(readRefusal(escaped).message, /is not reversed/);
  });

  test('is mended by the gateway', async (t) => {
    const { gateway } = await serversFor(t);
    for (const request of [accounts, order]) {
      const answer = await sendAs(olderClient, gateway, request);
      assert.equal(answer.status, 200, answer.text);
    }
  });
});
