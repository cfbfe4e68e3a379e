/** The DynamoDB client that quotes and answers share. */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface DynamoClientOptions {
  /** In place of the Region's endpoint; otherwise the client looks into AWS_ENDPOINT_URL itself. */
  readonly endpoint?: string;
  /** For one operation. Default 300 ms: whoever waits for it has a client waiting. */
  readonly timeoutMs?: number;
}

export function createDynamoClient({ endpoint, timeoutMs = 300 }: DynamoClientOptions = {}): DynamoDBClient {
  return new DynamoDBClient({
    // Once: without the store an instance goes on by itself, which is better than to wait.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      // Without it the client only warns and waits on.
      throwOnRequestTimeout: true,
    },
    ...(endpoint !== undefined && { endpoint }),
  });
}
