/** A table whose requests DynamoDB throttles, behind the client of the deployed functions. */

import type { DynamoSender } from '../../functions/aws/dynamo-client.ts';
import { withThrottlesTold } from '../../functions/aws/throttles-told.ts';
import { StoreThrottled } from '../../lib/limiter/store-throttled.ts';
import { secretIds } from '../compositions/scene.ts';
import type { World } from './world.ts';

export const throttlingClient = ({ lines, now }: Pick<World, 'lines' | 'now'>): DynamoSender =>
  withThrottlesTold(
    { send: () => Promise.reject(new StoreThrottled(new Error('too many requests'))) },
    { log: (entry) => void lines.push(entry), clock: now },
    secretIds.app,
  );

export const createThrottled = (client: DynamoSender): Promise<unknown> =>
  client.send('GetItem', { TableName: 'a-table', Key: { pk: { S: 'a' } } }).catch(() => undefined);
