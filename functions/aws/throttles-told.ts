/** A table that throttles is told in the log, whichever store of the function has it: most stores go on without a word. */

import type { BatchGetItemOutput } from '@aws-sdk/client-dynamodb';
import type { Host } from '../compose/ports.ts';
import { figuresOf } from '../log/metrics.ts';
import { readParts } from '../settings/parts.ts';
import { type DynamoSender, isThrottling } from './dynamo-client.ts';

/** A storm of them is a line each second. */
const pauseMs = 1000;

function secretIdIn(env: NodeJS.ProcessEnv): string {
  const found = readParts(env, ({ read }) => read('UPSTREAM') ?? read('METRICS'));
  return (found.ok && found.settings?.secretId) || '';
}

/** @param secretId names the metric, also in a function that may not read the secret */
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
        // A read of several items is answered without those whose partitions are throttled.
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
