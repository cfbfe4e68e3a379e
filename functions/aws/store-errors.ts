/** A DynamoDB client whose errors are those that the ports of stores promise. */

import type { DynamoSender } from './dynamo-client.ts';
import { asStoreError } from './throttling.ts';

/** Rejects with `StoreThrottled` for a throttled request, with any other error as it is. */
export function withStoreErrors(client: DynamoSender): DynamoSender {
  const send = client.send.bind(client) as (command: unknown) => Promise<unknown>;
  const translated = (command: unknown) =>
    send(command).catch((error: unknown) => {
      throw asStoreError(error);
    });
  return { send: translated as DynamoSender['send'] };
}
