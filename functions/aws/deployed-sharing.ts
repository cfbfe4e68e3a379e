/** What the callers of a deployed function share, with those of all others on the same table. */

import { textHash } from '../../lib/gateway/quotes/hash.ts';
import type { SharingOptions } from '../../lib/gateway/sharing/index.ts';
import { createDynamoAnswerStore } from './dynamo-answer-store.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoDirectoryStore } from './dynamo-directory-store.ts';
import { createDynamoQuoteStore } from './dynamo-quote-store.ts';
import type { CacheSettings } from './environment.ts';

/** @param upstreamBaseUrl what one upstream said is never given as another's answer */
export function createDeployedSharing(
  { tableName, figures }: CacheSettings,
  client: DynamoSender,
  upstreamBaseUrl: string,
): SharingOptions {
  const store = {
    client,
    tableName,
    partition: textHash(upstreamBaseUrl).toString(36),
  };
  return {
    quotes: (account) => createDynamoQuoteStore({ ...store, partition: `${store.partition}#${account}` }),
    // Whose an answer is stands in its key.
    answers: createDynamoAnswerStore(store),
    // Which symbols exist is the same for all accounts.
    directory: createDynamoDirectoryStore(store),
    figures,
  };
}
