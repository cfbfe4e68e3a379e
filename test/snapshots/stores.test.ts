/** The stores in memory keep the contracts that those on DynamoDB keep, too (`stores-dynamo.test.ts`). */

import { createMemoryResponseStore } from '../../lib/cache/responses/index.ts';
import { createMemoryDirectoryStore, createMemorySnapshotStore } from '../../lib/cache/snapshots/index.ts';
import { answerStoreContract } from '../responses/response-store.contract.ts';
import { directoryStoreContract } from './directory-store.contract.ts';
import { snapshotStoreContract } from './snapshot-store.contract.ts';

snapshotStoreContract('snapshots in memory', () => createMemorySnapshotStore());
answerStoreContract('answers in memory', createMemoryResponseStore);
directoryStoreContract('directory in memory', createMemoryDirectoryStore);
