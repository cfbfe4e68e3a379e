/** The stores in memory keep the contracts that those on DynamoDB keep, too (`stores-dynamo.test.ts`). */

import { createMemoryAnswerStore } from '../../lib/gateway/answers/index.ts';
import { createMemoryDirectoryStore, createMemoryQuoteStore } from '../../lib/gateway/quotes/index.ts';
import { answerStoreContract } from './answer-store.contract.ts';
import { directoryStoreContract } from './directory-store.contract.ts';
import { quoteStoreContract } from './quote-store.contract.ts';

quoteStoreContract('quotes in memory', () => createMemoryQuoteStore());
answerStoreContract('answers in memory', createMemoryAnswerStore);
directoryStoreContract('directory in memory', createMemoryDirectoryStore);
