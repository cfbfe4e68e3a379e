/** The DynamoDB client that quotes, answers and lookups share. */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface DynamoClientOptions {
  /** In place of the Region's endpoint; otherwise the client looks into AWS_ENDPOINT_URL itself. */
  readonly endpoint?: string;
  /** For one operation. Default 300 ms: whoever waits for it has a client waiting. */
  readonly timeoutMs?: number;
  /** Default 1: without the store an instance goes on by itself, which is better than to wait. */
  readonly attempts?: number;
}

export function createDynamoClient(options: DynamoClientOptions = {}): DynamoDBClient {
  const { endpoint, timeoutMs = 300, attempts = 1 } = options;
  return new DynamoDBClient({
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      // Without it the client only warns and waits on.
      throwOnRequestTimeout: true,
    },
    ...(endpoint !== undefined && { endpoint }),
  });
}
