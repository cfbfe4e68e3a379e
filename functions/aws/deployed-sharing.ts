/** What the callers of a deployed function share, with those of all others on the same table. */

import type { SymbolListing } from '../../lib/catalogue/symbol-listing.ts';
import { textHash } from '../../lib/gateway/quotes/hash.ts';
import type { SharingOptions } from '../../lib/gateway/sharing/index.ts';
import { createDynamoAnswerStore } from './dynamo-answer-store.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoDirectoryStore } from './dynamo-directory-store.ts';
import { createDynamoQuoteStore } from './dynamo-quote-store.ts';
import type { CacheSettings } from './environment.ts';

/**
 * @param upstreamBaseUrl what one upstream said is never given as another's answer
 * @param listing present when snapshots are among the function's operations
 */
export function createDeployedSharing(
  { tableName, figures }: CacheSettings,
  client: DynamoSender,
  upstreamBaseUrl: string,
  listing: SymbolListing | undefined,
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
    ...(listing && { directory: { store: createDynamoDirectoryStore(store), listing } }),
    figures,
  };
}
