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
  const client = new DynamoDBClient({
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      // Without it the client only warns and waits on.
      throwOnRequestTimeout: true,
    },
    ...(endpoint !== undefined && { endpoint }),
  });
  const send = client.send.bind(client) as (command: unknown, options: object) => Promise<unknown>;
  const bounded = (command: unknown) => inTime(timeoutMs, (abortSignal) => send(command, { abortSignal }));
  client.send = bounded as typeof client.send;
  return client;
}

/** To the last byte: the client's own time limit ends with the headers of an answer. */
async function inTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort();
      reject(new Error(`DynamoDB gave no answer within ${ms} ms`));
    }, ms);
  });
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
