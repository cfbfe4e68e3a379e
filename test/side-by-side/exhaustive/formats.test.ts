/**
 * Table formats both ways: the contract of each store over one table, in which each call is answered by the other version than
 * the call before. What one of them writes, the other one reads and changes.
 */

import assert from 'node:assert/strict';
import { beforeAll, describe, test } from 'vitest';
import { createIdentity } from '../../../lib/access/identity.ts';
import { confirmTables } from '../../../lib/guard-rails/admin.ts';
import { nextCheckpoint } from '../../../lib/guard-rails/checkpoints.ts';
import { accessStoreContract } from '../../access/store.contract.ts';
import { controlStoreContract } from '../../guard-rails/controls.contract.ts';
import { massCancelStoreContract } from '../../guard-rails/mass-cancels.contract.ts';
import { limitsInForceContract } from '../../limiter/limits-in-force.contract.ts';
import { limiterStoreContract } from '../../limiter/store.contract.ts';
import { streamStoreContract } from '../../live/stream-store.contract.ts';
import { lookupStoreContract } from '../../lookups/store.contract.ts';
import { lineOf, linesIn, now, orderAuditContract } from '../../orders/audit.contract.ts';
import { countingJournalContract } from '../../orders/counting-journal.contract.ts';
import { entryOf, orderJournalContract } from '../../orders/journal.contract.ts';
import { answerStoreContract } from '../../responses/response-store.contract.ts';
import { directoryStoreContract } from '../../snapshots/directory-store.contract.ts';
import { snapshotStoreContract } from '../../snapshots/snapshot-store.contract.ts';
import { withoutHistory } from '../../support/earlier.ts';
import { orTell } from '../../support/missing.ts';
import { tradeEventStoreContract } from '../../trade-events/store.contract.ts';
import { DynamoTables } from '../../world/dynamo-tables.ts';
import { earlierVersion, type Version, versionOfToday } from '../versions.ts';

const { sealer } = createIdentity(async () => 'the identity key of both versions');

/** Both stores as one: each call goes to the other one than the call before. */
function inTurns<Store extends object>(stores: readonly Store[]): Store {
  let calls = 0;
  return new Proxy(stores[0]!, {
    get(_, name) {
      const found = stores.filter((store) => name in store);
      if (typeof Reflect.get(found[0] ?? {}, name) !== 'function') return undefined;
      return (...given: unknown[]) => {
        const store = found[calls++ % found.length]!;
        return (Reflect.get(store, name) as (...given: unknown[]) => unknown).apply(store, given);
      };
    },
  });
}

for (const order of ['earlier, today', 'today, earlier'] as const)
  describe(order, orTell(withoutHistory()), () => {
    const client = new DynamoTables();
    let versions: readonly Version[];
    beforeAll(async () => {
      const both = [await earlierVersion(), await versionOfToday()];
      versions = order === 'earlier, today' ? both : both.reverse();
    });

    let tables = 0;
    const of = <Store extends object>(create: (version: Version, tableName: string) => Store): Store => {
      const tableName = `table-${++tables}`;
      return inTurns(versions.map((version) => create(version, tableName)));
    };
    const shared = (tableName: string) => ({ client, tableName, partition: 'shared' });

    const limiter = () => of((version, tableName) => version.createDynamoLimiterStore({ client, tableName }));
    limiterStoreContract('limiter', limiter);
    limitsInForceContract('limiter', limiter);
    accessStoreContract('users', () =>
      of((version, tableName) => version.createDynamoAccessStore({ client, tableName })),
    );
    controlStoreContract('controls', () =>
      of((version, tableName) => version.createDynamoControlAdmin({ client, tableName })),
    );
    massCancelStoreContract('mass cancels', () => {
      const tableName = `table-${++tables}`;
      return {
        controls: inTurns(versions.map((one) => one.createDynamoControlAdmin({ client, tableName }))),
        massCancels: inTurns(versions.map((one) => one.createDynamoMassCancels({ client, tableName }))),
      };
    });
    streamStoreContract('streams', () =>
      of((version, tableName) => version.createDynamoStreamStore(shared(tableName))),
    );
    lookupStoreContract('lookups', () =>
      of((version, tableName) => version.createDynamoLookupStore({ client, tableName, sealer })),
    );
    orderAuditContract('audit', () =>
      of((version, tableName) => version.createDynamoOrderAudit({ client, tableName, sealer })),
    );
    const journal = () =>
      of((version, tableName) => version.createDynamoOrderJournal({ client, tableName, sealer }));
    orderJournalContract('journal', journal, true);
    countingJournalContract('journal', journal);
    answerStoreContract('answers', () =>
      of((version, tableName) => version.createDynamoResponseStore(shared(tableName))),
    );
    directoryStoreContract('directory', () =>
      of((version, tableName) => version.createDynamoDirectoryStore(shared(tableName))),
    );
    snapshotStoreContract('snapshots', () =>
      of((version, tableName) => version.createDynamoSnapshotStore(shared(tableName))),
    );
    tradeEventStoreContract('trade events', () =>
      of((version, tableName) => version.createDynamoTradeEventStore({ client, tableName, sealer })),
    );

    test('nothing was compared with itself', () => assert.ok(tables > 50 && versions[0] !== versions[1]));
  });

describe('what only today’s functions write', orTell(withoutHistory()), () => {
  const client = new DynamoTables();
  const names = { journal: 'a-journal', controls: 'some-controls', users: 'some-users' };
  let [earlier, today]: readonly (Version | undefined)[] = [];
  beforeAll(async () => {
    [earlier, today] = [await earlierVersion(), await versionOfToday()];
  });

  test('checkpoints are in no list of the earlier version, and in nobody’s way', async () => {
    const identity = today!.createIdentity(async () => 'the identity key of both versions');
    const subject = { kind: 'key', id: 'a-key' } as const;
    const adminsOf = ({ createAccessAdmin, createControlAdmin, ...version }: Version) => ({
      users: createAccessAdmin({
        store: version.createDynamoAccessStore({ client, tableName: names.users }),
        identity,
        by: 'one',
      }),
      controls: createControlAdmin({
        store: version.createDynamoControlAdmin({ client, tableName: names.controls }),
        identity,
        by: 'one',
      }),
    });
    const own = adminsOf(today!);
    await own.users.apply({ action: 'grant', subject, accounts: ['a'], userData: true, scopes: ['read'] });
    await own.controls.apply({ action: 'stop', subject: { kind: 'gateway' }, reason: 'one' });
    const checkpoints = today!.createDynamoCheckpoints!({ client, tables: names });
    assert.ok(await nextCheckpoint(checkpoints, names, now));
    await confirmTables({ admin: own.controls, checkpoints, tables: names, clock: () => now }, [], 'one');

    const before = adminsOf(earlier!);
    const { records, unreadable } = await before.users.list();
    assert.deepEqual([records.length, unreadable], [1, 0]);
    assert.ok((await before.controls.find({ kind: 'gateway' }))?.stopped);
    const journal = earlier!.createDynamoOrderJournal({ client, tableName: names.journal, sealer });
    await journal.begin([entryOf('an-order')], now);
    assert.equal((await journal.unsettled('placements', '-', 10)).length, 1);
    assert.deepEqual(await checkpoints.read().then((read) => [...read.keys()]), Object.keys(names));
  });

  test('an entry that was recovered, and a line of the audit with all of an entry', async () => {
    const record = JSON.stringify({ ...lineOf().record, seen_after_restore: true });
    const recovery = today!.createDynamoRecovery!({ client, tableName: names.journal, sealer });
    assert.ok(await recovery.recover(entryOf('recovered', { record }), undefined));
    const journal = earlier!.createDynamoOrderJournal({ client, tableName: names.journal, sealer });
    assert.equal((await journal.read(['recovered'])).get('recovered')?.record, record);

    const kept = { hash: 'h', credential: 'c', at: now, sendBy: now };
    const [written, read] = [today!, earlier!].map((version) =>
      version.createDynamoOrderAudit({ client, tableName: 'an-audit', sealer }),
    );
    await written!.append(lineOf({ kept }));
    const [line] = await linesIn(read!, now, now + 1);
    assert.deepEqual([line?.after, line?.record?.account_id], ['accepted', lineOf().record?.account_id]);
  });
});
