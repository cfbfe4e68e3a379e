/** The stores in memory keep the contracts that those on DynamoDB keep, too (`stores-dynamo.test.ts`). */

import { createMemoryResponseStore } from '../../lib/cache/responses/index.ts';
import {
  createMemoryDirectoryStore,
  createMemorySnapshotStore,
  createMemoryStreamedLog,
} from '../../lib/cache/snapshots/index.ts';
import { answerStoreContract } from '../responses/response-store.contract.ts';
import { directoryStoreContract } from './directory-store.contract.ts';
import { snapshotStoreContract } from './snapshot-store.contract.ts';
import { streamedLogContract } from './streamed-log.contract.ts';

snapshotStoreContract('snapshots in memory', () => createMemorySnapshotStore());
answerStoreContract('answers in memory', createMemoryResponseStore);
directoryStoreContract('directory in memory', createMemoryDirectoryStore);
streamedLogContract('log of the market stream in memory', createMemoryStreamedLog);
