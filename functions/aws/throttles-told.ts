/** Logs that a table throttles, whichever store of the function uses it: most stores go on without reporting it. */

import type { BatchGetItemOutput } from '@aws-sdk/client-dynamodb';
import type { Host } from '../compose/ports.ts';
import { figuresOf } from '../log/metrics.ts';
import { readParts } from '../settings/parts.ts';
import { type DynamoSender, isThrottling } from './dynamo-client.ts';

/** Shortest time between two lines, so that a storm of throttles is one line each second. */
const pauseMs = 1000;

function secretIdIn(env: NodeJS.ProcessEnv): string {
  const found = readParts(env, ({ read }) => read('UPSTREAM') ?? read('METRICS'));
  return (found.ok && found.settings?.secretId) || '';
}

/** @param secretId the metric's dimension, also in a function that may not read the secret */
export function withThrottlesTold(
  client: DynamoSender,
  { log, clock }: Pick<Host, 'log' | 'clock'>,
  secretId = secretIdIn(process.env),
): DynamoSender {
  let count = 0;
  let notBefore = Number.NEGATIVE_INFINITY;
  function tell(operation: string, input: object): void {
    count++;
    if (clock() < notBefore) return;
    notBefore = clock() + pauseMs;
    log({
      level: 'warn',
      event: 'store_throttled',
      operation,
      table: tableOf(input),
      ...figuresOf('Secret', secretId, clock(), { StoreThrottled: count }),
    });
    count = 0;
  }
  return {
    async send(operation, input, options) {
      try {
        const answer = await client.send(operation, input, options);
        // An answer to a read of several items lacks those in throttled partitions.
        const { UnprocessedKeys: left = {} } = answer as BatchGetItemOutput;
        if (Object.keys(left).length > 0) tell(operation, { RequestItems: left });
        return answer;
      } catch (error) {
        if (isThrottling(error)) tell(operation, input);
        throw error;
      }
    },
  };
}

interface Input {
  readonly TableName?: string;
  readonly RequestItems?: object;
  readonly TransactItems?: readonly Readonly<Record<string, Input>>[];
}

/** The request's first table. */
const tableOf = ({ TableName, RequestItems = {}, TransactItems: [first = {}] = [] }: Input) =>
  TableName ?? Object.keys(RequestItems)[0] ?? Object.values(first)[0]?.TableName;
