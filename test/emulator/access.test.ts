/** Users of a deployed gateway: an issuer's process, API Gateway, authorizer, functions and the users' table. */

import assert from 'node:assert/strict';
import {
  CloudWatchLogsClient,
  FilterLogEventsCommand,
  paginateDescribeLogGroups,
} from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, paginateListTables, paginateScan } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { AccessAdmin } from '../../lib/access/admin.ts';
import { listAccounts, listOpenOrders, listWatchlists } from '../../lib/catalogue/index.ts';
import { orderBody, orderPath } from '../support/core.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import type { TokenRequest } from '../support/issuer-process.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { ask, pause } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { emulatorIdentity, grantEverything, identityKeyOf, operatorOf } from './operator.ts';
import { putSecret } from './secret.ts';
import { type Stage, snapshots, startStage } from './stage.ts';

/** The two that the simulator has. */
const accounts = { anna: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S', bert: 'B1N6UY3G8W0JFS7QTC2IE9OH4M' } as const;

const subject = (name: string) => `canary-subject-${name}`;
const openOrders = (account: string) => `${listOpenOrders.path}?account_id=${account}`;
const origin = 'https://app.example';

/** Far more than there are instances: each of them meets many, of both accounts. */
const users = 250;

interface Refused {
  readonly code: string;
  readonly detail: string;
}

describe('users on the emulator', needsEmulator(), () => {
  let issuer: Issuer;
  let stage: Stage;
  let operator: AccessAdmin;
  /** Every token that was issued. */
  const issued: string[] = [];

  beforeAll(async () => {
    issuer = await startIssuer();
    stage = await startStage({
      tellsKeys: true,
      upstreamLimit: 1_000_000,
      props: {
        groups: { orders: 'jwt', accounts: 'bound-key', watchlists: 'iam' },
        // This is not about guard rails.
        trading: { limits: 'none' },
        auth: { issuer: issuer.url, clientIds: ['app'] },
        cors: { origins: [origin] },
        // Too many requests for one key: this is not about plans.
        plans: { default: { ratePerSecond: 10_000, burst: 5000 } },
      },
    });
    await putSecret(stage);
    operator = await operatorOf(stage);
    for (const [name, account] of Object.entries(accounts)) await grant(name, account);
  });
  afterAll(async () => {
    await stage?.stop();
    await issuer?.stop();
  });

  const userOf = (name: string) => ({ kind: 'user', issuer: issuer.url, subject: subject(name) }) as const;

  const grant = (name: string, account: string) =>
    operator.apply({
      action: 'grant',
      subject: userOf(name),
      accounts: [account],
      userData: false,
      scopes: ['read', 'trade'],
    });

  async function tokensOf(names: readonly string[], more: Partial<TokenRequest> = {}) {
    const requests = names.map((name) => ({
      ...more,
      claims: { sub: subject(name), client_id: 'app', scope: 'read trade', ...more.claims },
    }));
    const tokens = await issuer.tokens(requests);
    issued.push(...tokens);
    return tokens;
  }
  const tokenOf = async (name: string, more?: Partial<TokenRequest>) =>
    (await tokensOf([name], more))[0] as string;

  const callAs = (token: string, path: string, init: RequestInit = {}) =>
    stage.call(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } });

  async function refused(response: Response, status: number, code: string): Promise<Refused> {
    const text = await response.text();
    assert.equal(response.status, status, text);
    const body = JSON.parse(text) as Refused;
    assert.equal(body.code, code, text);
    return body;
  }

  const sent = () => stage.simulator.received.length;

  test('without a token: 401, with the reason and for a browser, and nothing is sent', async () => {
    const before = sent();
    const response = await stage.call(openOrders(accounts.anna), { headers: { origin } });
    assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    assert.equal(response.headers.get('access-control-allow-origin'), origin);
    await refused(response, 401, 'missing_token');
    assert.equal(sent(), before);
  });

  for (const [what, more] of Object.entries({
    'signed by another key': { forged: true },
    'of another issuer': { claims: { iss: 'https://other.example' } },
    'for another app': { claims: { client_id: 'other' } },
    expired: { claims: { iat: 1_700_000_000, exp: 1_700_003_600 } },
  }))
    test(`a token that is ${what}: 401, and nothing is sent`, async () => {
      const before = sent();
      const token = await tokenOf('anna', more as Partial<TokenRequest>);
      const response = await callAs(token, openOrders(accounts.anna), { headers: { origin } });
      assert.equal(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"');
      assert.equal(response.headers.get('access-control-allow-origin'), origin);
      await refused(response, 401, 'invalid_token');
      assert.equal(sent(), before);
    });

  test('a token without the key of an app is not enough', async () => {
    const token = await tokenOf('anna');
    const response = await callAs(token, openOrders(accounts.anna), { headers: { 'x-api-key': '' } });
    await refused(response, 403, 'missing_api_key');
  });

  test('a user reaches the own account and no other, in queries and in bodies', async () => {
    const token = await tokenOf('anna');
    const own = await callAs(token, openOrders(accounts.anna));
    assert.equal(own.status, 200, await own.text());
    const before = sent();
    await refused(await callAs(token, openOrders(accounts.bert)), 403, 'account_not_granted');
    const order = (account: string) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: orderBody({}).replace(accounts.anna, account),
    });
    await refused(await callAs(token, orderPath, order(accounts.bert)), 403, 'account_not_granted');
    assert.equal(sent(), before);
    const placed = await callAs(token, orderPath, order(accounts.anna));
    assert.equal(placed.status, 200, await placed.text());
  });

  test('a token without the scope is not enough for an order', async () => {
    const token = await tokenOf('anna', { claims: { scope: 'read' } });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: orderBody() };
    await refused(await callAs(token, orderPath, init), 403, 'insufficient_scope');
  });

  test('a user to whom nothing was granted reaches no account', async () => {
    const token = await tokenOf('stranger');
    await refused(await callAs(token, openOrders(accounts.anna)), 403, 'account_not_granted');
  });

  const accountIds = async (response: Response) => {
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return (JSON.parse(text) as { readonly account_id: string }[]).map(({ account_id }) => account_id);
  };

  test('a key that nobody is bound to reaches no account; bound, it reaches that of its user', async () => {
    await refused(await stage.call(listAccounts.path), 403, 'forbidden');
    const key = { kind: 'key', id: stage.outputs.ApiKeyId ?? '' } as const;
    await operator.apply({ action: 'bind', subject: key, user: userOf('bert') });
    const seconds = await untilOtherwise(async () => (await stage.call(listAccounts.path)).status === 403);
    console.log(`  a bound key is effective after ${seconds.toFixed(1)} s`);
    assert.ok(seconds <= 60);
    assert.deepEqual(await accountIds(await stage.call(listAccounts.path)), [accounts.bert]);
  });

  test('a token overrides the key, and a wrong one is not passed over', async () => {
    const token = await tokenOf('anna');
    assert.deepEqual(await accountIds(await callAs(token, listAccounts.path)), [accounts.anna]);
    const forged = await tokenOf('anna', { forged: true });
    await refused(await callAs(forged, listAccounts.path), 401, 'invalid_token');
  });

  test('an AWS identity reaches what was granted to it, and nothing before', async () => {
    const path = listWatchlists.path;
    const call = () => ask(stage, path);
    await refused(await call(), 403, 'forbidden');
    await grantEverything(stage);
    await untilOtherwise(async () => (await call()).status === 403);
    assert.equal((await call()).status, 200);
    assert.ok(await operator.find(emulatorIdentity));
  });

  test('quotes by key ask for none of it', async () => {
    assert.equal((await stage.call(snapshots)).status, 200);
  });

  test(`${users} users each read their orders, and none those of another`, async () => {
    const names = Array.from({ length: users }, (_, index) => `user-${index}`);
    const own = (index: number) => (index % 2 ? accounts.anna : accounts.bert);
    const other = (index: number) => (index % 2 ? accounts.bert : accounts.anna);
    const tokens = await tokensOf(names);
    await inParallel(4, names, (name, index) => grant(name, own(index)));
    const outcomes = new Map<string, number>();
    const start = performance.now();
    await inParallel(4, tokens, async (token, index) => {
      const response = await callAs(token, openOrders(own(index)));
      const { code = 'ok' } = (await response.json()) as Partial<Refused>;
      outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
    });
    const seconds = (performance.now() - start) / 1000;
    console.log(
      `  ${users} users: ${Math.round(users / seconds)} requests a second, ${seconds.toFixed(1)} s`,
    );
    assert.deepEqual([...outcomes], [['ok', users]]);
    const before = sent();
    await inParallel(4, tokens, async (token, index) => {
      await refused(await callAs(token, openOrders(other(index))), 403, 'account_not_granted');
    });
    assert.equal(sent(), before);
  });

  test('a user who was blocked is refused within 60 s, in warm functions and with a token that was accepted', async () => {
    const token = await tokenOf('anna');
    const path = openOrders(accounts.anna);
    assert.equal((await callAs(token, path)).status, 200);
    await operator.apply({ action: 'block', subject: userOf('anna') });
    const seconds = await untilOtherwise(async () => (await callAs(token, path)).status === 200);
    console.log(`  a block is effective after ${seconds.toFixed(1)} s`);
    assert.ok(seconds <= 60, `${seconds} s`);
    await refused(await callAs(token, path), 401, 'invalid_token');
  });

  test('no subject, token, account or key is in a log, a table, or the template', async () => {
    const canaries = [
      'canary-subject',
      ...issued.flatMap((token) => token.split('.').slice(1)),
      ...Object.values(accounts),
      await identityKeyOf(stage),
    ];
    const places = { ...(await logsOf(stage)), ...(await tablesOf(stage)), template: stage.template };
    assert.ok(Object.keys(places).length > 8);
    for (const [place, text] of Object.entries(places)) {
      const found = canaries.filter((canary) => text.includes(canary));
      assert.deepEqual(found, [], place);
    }
    const lines = Object.values(places).join('\n');
    for (const event of ['"event":"token"', '"event":"request"']) assert.ok(lines.includes(event), event);
    assert.match(lines, /"user":"[\w-]{22}"/);
    assert.match(lines, /"account":"[\w-]{22}"/);
  });
});

/**
 * When the last request began that went as before, in seconds. How long a busy machine takes for the next one says
 * nothing about what functions remember.
 */
async function untilOtherwise(isAsBefore: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  for (let last = 0; ; await pause(500)) {
    const began = performance.now();
    if (!(await isAsBefore())) return last;
    last = (began - start) / 1000;
  }
}

async function inParallel<T>(
  width: number,
  items: readonly T[],
  work: (item: T, index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) await work(items[index] as T, index);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** What the functions wrote, metrics among it. */
async function logsOf({ emulator }: Stage): Promise<Readonly<Record<string, string>>> {
  const client = new CloudWatchLogsClient(clientConfig(emulator));
  const texts: Record<string, string> = {};
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client }, {}))
    for (const { logGroupName = '' } of logGroups) {
      const { events = [] } = await client.send(new FilterLogEventsCommand({ logGroupName }));
      texts[`log ${logGroupName}`] = events.map(({ message }) => message).join('\n');
    }
  return texts;
}

/** Bytes both as they are and as base64. */
async function tablesOf({ emulator }: Stage): Promise<Readonly<Record<string, string>>> {
  const client = new DynamoDBClient(clientConfig(emulator));
  const texts: Record<string, string> = {};
  for await (const { TableNames = [] } of paginateListTables({ client }, {}))
    for (const TableName of TableNames) {
      texts[`table ${TableName}`] = '';
      for await (const { Items = [] } of paginateScan({ client }, { TableName }))
        texts[`table ${TableName}`] += JSON.stringify(Items, (_, value: unknown) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
        );
    }
  return texts;
}
