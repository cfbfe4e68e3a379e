/** What an operator asks the audit of orders, and in which lines the command answers. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { type OrdersArguments, type OrdersPorts, showOrders } from '../../infra/commands/orders.ts';
import { sinceIn } from '../../infra/commands/orders-command.ts';
import { printedLines } from '../../infra/commands/print.ts';
import { StartError } from '../../infra/environment.ts';
import { createAccessAdmin } from '../../lib/access/admin.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { createMemoryAccessStore } from '../../lib/access/store.ts';
import { createMemoryOrderAudit } from '../../lib/orders/audit.ts';
import type { AuditLine } from '../../lib/orders/audit-line.ts';
import { lineOf } from '../orders/audit.contract.ts';
import { given, refused } from './given.ts';

const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
const issuer = 'https://issuer.example';
const now = Date.UTC(2026, 10, 22, 15);
const hour = 3_600_000;

async function world(change: Partial<OrdersPorts> = {}) {
  const store = createMemoryOrderAudit();
  const directory = createAccessAdmin({ store: createMemoryAccessStore(), identity, by: 'operator' });
  const said: string[] = [];
  const warned: string[] = [];
  const ports: OrdersPorts = {
    stackName: 'Countersign-dev',
    audit: store,
    directory,
    issuer,
    clock: () => now,
    warn: (sentence) => warned.push(sentence),
    ...change,
  };
  /** As one line of a shell; the lines since. */
  const run = async (line: string): Promise<readonly Record<string, unknown>[]> => {
    said.length = 0;
    const { since: _, ...asked } = await given<OrdersArguments>(`orders ${line}`);
    const [, since = '30d'] = /--since (\S+)/.exec(line) ?? [];
    const report = await showOrders({ ...asked, since: sinceIn(since, now) }, ports);
    said.push(...printedLines(report, asked.json));
    return said.map((one) => JSON.parse(one));
  };
  let count = 0;
  const ordered = (id: string, at: number, more: Partial<NonNullable<AuditLine['record']>> = {}) => {
    const line = lineOf({ id: `line-${++count}`, entry: id, at });
    const { record } = line;
    assert.ok(record);
    return store.append({ ...line, record: { ...record, client_order_id: id, ...more } });
  };
  return { run, ordered, directory, said, warned, store };
}

test('one line for each request, with what was asked byte for byte, and the user as the directory names one', async () => {
  const { run, ordered, directory, said } = await world();
  const subject = { kind: 'user', issuer, subject: 'alice' } as const;
  await directory.apply({ action: 'grant', subject, accounts: ['1'], userData: false, scopes: ['trade'] });
  await ordered('order-1', now - hour, { user: await directory.nameOf(subject) });
  const [line] = await run('audit --since 2h');
  assert.deepEqual(
    [line?.who, line?.account_id, line?.client_order_id, line?.state, line?.evidence, line?.took_ms],
    ['user alice', 'CANARY-ACCOUNT', 'order-1', 'accepted', 'answer', 400],
  );
  assert.ok(said[0]?.includes('"asked":{"limit_price":1.10,"name":"⚖"},"answer":{"order_id":"CANARY-ID"}}'));
});

test('filters: since when, which account, which order', async () => {
  const { run, ordered } = await world();
  await ordered('order-1', now - 40 * 24 * hour);
  await ordered('order-2', now - 20 * 24 * hour, { account_id: '222' });
  await ordered('order-3', now - hour);
  const ids = async (line: string) => (await run(line)).map(({ client_order_id: id }) => id);
  assert.deepEqual(await ids('audit'), ['order-2', 'order-3']);
  assert.deepEqual(await ids('audit --stage dev --since 12h'), ['order-3']);
  assert.deepEqual(await ids('audit --stage dev --since 2026-10-01'), ['order-1', 'order-2', 'order-3']);
  assert.deepEqual(await ids('audit --account 222'), ['order-2']);
  assert.deepEqual(await ids('audit --client-order-id order-3'), ['order-3']);
  assert.deepEqual(await ids('audit --account 333'), []);
});

test('those whose outcome is not known, alone', async () => {
  const { run, store } = await world();
  for (const after of ['accepted', 'refused', 'unknown', 'pending', 'removed'] as const)
    await store.append({ ...lineOf({ id: `of-${after}`, entry: after, at: now - hour }), after });
  const states = (await run('audit --unsettled')).map(({ state }) => state);
  assert.deepEqual(states.sort(), ['pending', 'unknown']);
});

test('a user is meant by subject, also when forgotten, by a key’s id, or by the name in a log line', async () => {
  const { run, ordered, directory } = await world();
  const key = { kind: 'key', id: 'a1b2c3d4e5' } as const;
  await directory.apply({
    action: 'grant',
    subject: key,
    accounts: ['*'],
    userData: false,
    scopes: ['trade'],
  });
  const bob = await directory.nameOf({ kind: 'user', issuer, subject: 'bob' });
  await ordered('order-1', now - hour, { user: bob });
  await ordered('order-2', now - hour, { user: await directory.nameOf(key) });
  await ordered('order-3', now - hour);
  const ids = async (user: string) =>
    (await run(`audit --user ${user}`)).map(({ client_order_id: id }) => id);
  assert.deepEqual(await ids('bob'), ['order-1']);
  assert.deepEqual(await ids(bob), ['order-1']);
  assert.deepEqual(await ids('a1b2c3d4e5'), ['order-2']);
  assert.deepEqual(await ids('carol'), []);
});

test('what was sealed under another key is said apart from the lines', async () => {
  const { run, warned, store } = await world();
  const { record: _, ...bare } = lineOf({ at: now - hour });
  await store.append(bare);
  const [line] = await run('audit');
  assert.equal(line?.state, 'accepted');
  assert.match(warned.join(), /Of 1 requests only states can be read/);
});

test('an error of AWS is one sentence without its message', async () => {
  const denied = Object.assign(new Error('CANARY'), { name: 'AccessDeniedException' });
  const { run } = await world({
    audit: {
      // biome-ignore lint/correctness/useYield: it fails before its first line.
      async *read() {
        throw denied;
      },
    },
  });
  await assert.rejects(run('audit'), (error) => {
    assert.ok(error instanceof StartError);
    assert.equal(
      error.message,
      'The audit of orders of Countersign-dev cannot be read: AccessDeniedException.',
    );
    return true;
  });
});

test('as JSON all lines are in one object, with orders byte for byte', async () => {
  const { run, ordered, said } = await world();
  await ordered('order-1', now - hour);
  await ordered('order-2', now - hour);
  const [all] = await run('audit --json');
  const { stack, orders } = all as { readonly stack: string; readonly orders: readonly object[] };
  assert.deepEqual([stack, orders.length], ['Countersign-dev', 2]);
  assert.ok(said[0]?.includes('"asked":{"limit_price":1.10,"name":"⚖"}'));
});

test('a line that says nothing clear is refused', async () => {
  const since =
    /^--since must be days or hours, such as 30d or 12h, or a day or a moment in UTC that is past/;
  for (const [line, sentence] of [
    ['list', '"list" is no command. The commands are audit, decide, restored, confirm.'],
    ['audit prod', 'Options follow the command, and nothing besides: a stage is --stage NAME.'],
    ['audit --stage Prod', /^--stage must be one of dev, prod/],
    ['audit --since yesterday', since],
    ['audit --since 2099-11-23', since],
    ['audit --since 2026-99-99', since],
    ['audit --limit 5', /^There is no option --limit/],
    ['audit --user', '--user takes a value.'],
  ] as const)
    await refused(`orders ${line}`, sentence);
  // An audit of half a century ago would be twenty thousand queries.
  assert.equal(sinceIn('1970-01-01', now), Date.UTC(2026, 0, 1));
});
