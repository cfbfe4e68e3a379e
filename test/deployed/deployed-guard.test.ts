/** The guard rails of a deployed function: what its environment must say, and what its log tells of them. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { orderPorts } from '../../functions/aws/order-ports.ts';
import { orders } from '../../functions/compose/order-offers.ts';
import { orderOptions } from '../../functions/compose/orders.ts';
import { readFunctionSettings } from '../../functions/settings/function-settings.ts';
import { writePart } from '../../functions/settings/parts.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { cancelOrder, placeOrder } from '../../lib/catalogue/index.ts';
import { JournalUnavailable } from '../../lib/orders/journal.ts';
import { startAwsStub } from '../lookups/aws-stub.ts';
import { hostWith } from '../support/deployed.ts';
import { parts } from '../support/parts.ts';
import { useCalmTime } from '../world/test-time.ts';

useCalmTime();

const env = parts('UPSTREAM', 'LIMITER', 'ACCESS', 'JOURNAL');
const { checks } = orders();

test('a function that places orders takes table and limits; another one does not look at them', () => {
  const guard = { tableName: 'controls', limits: { max_orders_per_minute: 3 }, orderMembers: ['a', 'b'] };
  const given = { ...env, ...writePart('TRADING', guard) };
  const read = readFunctionSettings(given, [placeOrder], checks);
  assert.deepEqual(read.ok && read.settings.guard, guard);
  const other = readFunctionSettings(given, [cancelOrder]);
  assert.ok(other.ok && other.settings.guard === undefined);
});

test('a function that places orders needs its guard rails and its journal', () => {
  const faults = (change: object) => {
    const read = readFunctionSettings({ ...env, ...parts('TRADING'), ...change }, [placeOrder], checks);
    return read.ok ? [] : read.faults;
  };
  assert.deepEqual(faults({}), []);
  assert.deepEqual(faults({ TRADING: '' }), ['TRADING: not set']);
  assert.deepEqual(faults({ TRADING: '?' }), ['TRADING: not JSON']);
  assert.deepEqual(faults({ JOURNAL: '' }), ['JOURNAL: not set']);
});

const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');

function journalOf(url?: string) {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const guard = { tableName: 'controls', limits: {}, orderMembers: [] };
  const client = createDynamoClient(url ?? 'http://127.0.0.1:1');
  const ports = orderPorts(
    hostWith((line) => lines.push(line)),
    () => client,
  );
  const own = { ...identity, readAhead: () => {} };
  const orders = orderOptions(guard, undefined, ports, {
    usersTable: undefined,
    journalTable: 'journal',
    identity: own,
    lookUps: [],
  });
  return { orders, lines };
}

test('what operators have set is read from the table of controls, and counted in the journal', async (t) => {
  const stub = await startAwsStub(t, () => ({ Responses: {} }));
  const { orders } = journalOf(stub.url);
  assert.equal((await orders.guard?.controls.read(['stack']))?.size, 0);
  assert.deepEqual(Object.keys(stub.sent[0]?.body.RequestItems ?? {}), ['controls']);
  assert.equal(orders.guard?.journal, orders.journal);
});

test('what is open is asked to be cancelled in the table of controls', async (t) => {
  const stub = await startAwsStub(t, () => ({}));
  const { orders } = journalOf(stub.url);
  await orders.guard?.massCancels?.request({ id: 'id', scope: 'user a', at: 1, placedBefore: 2 });
  assert.deepEqual(
    stub.sent.map(({ action, body }) => [action, body.TableName]),
    [['PutItem', 'controls']],
  );
});

test('a failed check that is set to notify is a line with check and scope alone', () => {
  const { orders, lines } = journalOf();
  const failure = { at: '/new_orders/0', limit: '10', came: 'canary', scope: 'account' } as const;
  orders.reportNoted?.([{ check: 'max_order_notional', ...failure }]);
  assert.deepEqual(lines, [
    { level: 'warn', event: 'order_check_failed', check: 'max_order_notional', scope: 'account' },
  ]);
});

test('controls that cannot be read and cancels that cannot be asked for are metrics of their own, and no failure of the journal', () => {
  const { orders, lines } = journalOf();
  orders.reportFailure?.('check', Object.assign(new Error('canary'), { name: 'AccessDeniedException' }));
  orders.reportFailure?.('mass_cancel', Object.assign(new Error('canary'), { name: 'TimeoutError' }));
  orders.reportFailure?.('release', new JournalUnavailable(new Error('canary')));
  const told = lines.map((line) => [
    line.event,
    line.step,
    line.TradingControlsNotRead,
    line.MassCancelNotRequested,
    line.TradingControlsTable,
    line.OrderJournalFailed,
    line.name,
  ]);
  assert.deepEqual(told, [
    ['trading_controls_not_read', undefined, 1, undefined, 'controls', undefined, 'AccessDeniedException'],
    ['mass_cancel_not_requested', undefined, undefined, 1, 'controls', undefined, 'TimeoutError'],
    ['journal_failed', 'release', undefined, undefined, undefined, 1, 'Error'],
  ]);
  assert.doesNotMatch(JSON.stringify(lines), /canary/);
});
