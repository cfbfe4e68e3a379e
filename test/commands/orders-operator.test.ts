/** What an operator says of an order that no evidence decides, and of a table that was restored. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { type DecideArguments, decide } from '../../infra/commands/orders-decide.ts';
import { type RestoredArguments, showRestored } from '../../infra/commands/orders-restored.ts';
import { createControlAdmin } from '../../lib/guard-rails/admin.ts';
import { createMemoryCheckpoints, nextCheckpoint } from '../../lib/guard-rails/checkpoints.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { createMemoryOrderJournal, type JournalEntry } from '../../lib/orders/index.ts';
import { orderKey } from '../../lib/orders/parts.ts';
import { entryOf } from '../orders/journal.contract.ts';
import { identity, names } from '../support/instances.ts';
import { given, refused } from './given.ts';

const now = Date.UTC(2026, 10, 22, 15);
const clock = () => now;

test.each([
  [
    'decide --account 1 --client-order-id a --as gone --reason x',
    /^--as must be accepted, no_effect or ended\.$/,
  ],
  ['decide --account 1 --as accepted --reason x', /must say which order is meant\.$/],
  ['decide --account 1 --client-order-id a --as accepted', /--reason must say why/],
  ['confirm --stage prod --reason x', /^--table must be journal, controls or users\.$/],
  ['confirm --stage prod --table orders --reason x', /must be journal, controls or users\.$/],
  ['confirm --stage prod --table users', /--reason must say why/],
  ['restored --stage prod --table users', /^There is no option --table/],
] as const)('refused: %s', (line, sentence) => refused(`orders ${line}`, sentence));

describe('decide', () => {
  const world = async (
    sendBy: number,
    more: Partial<JournalEntry> = {},
    as = '--client-order-id a --as no_effect',
  ) => {
    const journal = createMemoryOrderJournal();
    const key = await orderKey(names, { account: '1', clientOrderId: 'a' });
    const entry = { ...entryOf(key), state: 'unknown', at: sendBy, sendBy } as const;
    const record = JSON.stringify({
      operation: 'placeOrder',
      kind: 'placement',
      account_id: '1',
      client_order_id: 'a',
    });
    await journal.begin([{ ...entry, record, ...more }], 0);
    const ports = {
      journal,
      orders: { order: async () => 'not_found' as const, openOrders: async () => [] },
      names,
      by: 'arn:operator',
      clock,
      sleep: async () => {},
      stackName: 'Countersign-prod',
    };
    const line = `orders decide --stage prod --account 1 ${as} --reason x`;
    const { lines: said } = await decide(await given<DecideArguments>(line), ports);
    return { said, state: (await journal.read([key])).get(key)?.state };
  };

  test('writes, and says what comes of it', async () => {
    const { said, state } = await world(now - 3_600_000);
    assert.equal(state, 'refused');
    assert.match(
      said.join(' '),
      /does not show it\. a is no_effect in Countersign-prod now; .* Its id is free/,
    );
  });

  test('ends what limits count of an account', async () => {
    const exposure = JSON.stringify({ quantity: '1', counted: {} });
    const { said } = await world(now - 3_600_000, { state: 'accepted', exposure }, '--as ended');
    assert.match(
      said.join(' '),
      /list of open orders does not show it\. What limits counted of account 1 \(orders: 1\) is ended .* count nothing/,
    );
  });

  test('says until when evidence may decide', async () => {
    await assert.rejects(world(now - 60_000), /Nothing was decided\. Evidence may still decide/);
  });
});

test('restored: which table, from when, and what to do; confirm opens, and stands in the history', async () => {
  const tables = { journal: 'orders', controls: 'limits', users: 'people' };
  const texts = new Map<string, string>();
  const checkpoints = createMemoryCheckpoints(tables, texts);
  const admin = createControlAdmin({ store: createMemoryControls(), identity, by: 'arn:operator', clock });
  const run = async (line: string) => {
    const ports = { stackName: 'Countersign-prod', admin, checkpoints, tables, clock };
    return (await showRestored(await given<RestoredArguments>(`orders ${line}`), ports)).lines.join('\n');
  };
  await nextCheckpoint(checkpoints, tables, now);
  const copy = texts.get('limits')!;
  await nextCheckpoint(checkpoints, tables, now + 60_000);
  assert.match(await run('restored --stage prod'), /No table of Countersign-prod is as it was earlier/);
  texts.set('limits', copy);
  assert.match(
    await run('restored --stage prod'),
    /^controls \(limits\) is as it was at 2026-11-22T15:00:00Z: .*\n.*countersign trading.*confirm --stage prod --table controls/,
  );
  assert.match(await run('confirm --stage prod --table controls --reason checked'), /No table/);
  const [line] = await admin.history(1);
  assert.deepEqual(line && 'change' in line && [line.by, line.change], [
    'arn:operator',
    { action: 'confirm', subject: { kind: 'gateway' }, tables: ['controls'], reason: 'checked' },
  ]);
});
