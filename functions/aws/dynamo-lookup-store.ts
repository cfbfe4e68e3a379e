/**
 * The store of lookups over DynamoDB: one item for each request, in a table whose key is a text named `pk`,
 * with `expires_at` as its time to live. A function needs PutItem and UpdateItem on it.
 */

import {
  type AttributeValue,
  ConditionalCheckFailedException,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Claim, ClaimCall, LookupStore, StoredReply } from '../../lib/lookups/index.ts';
import { compress, decompress } from './brotli.ts';
import { number, seconds } from './dynamo-attributes.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';

export interface DynamoLookupStoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For one operation with all its attempts, in milliseconds. Default 2000: no client waits for a lookup. */
  readonly timeoutMs?: number;
}

type Item = Record<string, AttributeValue>;

/** DynamoDB's 400 kB, less keys and the other attributes. */
const mostBytes = 390 * 1024;
const mostUnpacked = 64 * 1024 * 1024;

export function createDynamoLookupStore(options: DynamoLookupStoreOptions): LookupStore {
  const { tableName, timeoutMs = 2000 } = options;
  const client = withLimit(options.client, { timeoutMs, attempts: 3 });
  const keyOf = (id: string) => ({ TableName: tableName, Key: { pk: { S: id } } });

  /** Undefined when the condition was refused. */
  async function update(id: string, set: string, condition: string, values: Item): Promise<true | undefined> {
    try {
      await client.send(
        new UpdateItemCommand({
          ...keyOf(id),
          UpdateExpression: `SET ${set}`,
          ConditionExpression: condition,
          ExpressionAttributeNames: named(set, condition),
          ExpressionAttributeValues: values,
        }),
      );
      return true;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return undefined;
    }
  }

  /** A new one, or in place of one that has expired, which DynamoDB removes only some day. */
  async function put({ id, hash, owner, now, leaseUntil, expiresAt }: ClaimCall): Promise<Item | undefined> {
    try {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: {
            pk: { S: id },
            hash: { S: hash },
            owner: { S: owner },
            lease_until: number(leaseUntil),
            expires_at: seconds(expiresAt),
          },
          ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
          ExpressionAttributeValues: { ':now': number(now / 1000) },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return undefined;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      // Gone between the look and the answer: the message comes again.
      if (!error.Item) throw error;
      return error.Item;
    }
  }

  return {
    async claim(call): Promise<Claim> {
      const there = await put(call);
      if (!there) return { kind: 'ours' };
      const { id, hash, owner, now, leaseUntil } = call;
      if (there.hash?.S !== hash) return { kind: 'other' };
      const reply = there.reply?.B && unpack(there.reply.B);
      if (reply && there.published_at) return { kind: 'published', reply };
      // The client had put it, and lost the answer.
      if (there.owner?.S === owner) return { kind: 'ours', ...(reply && { reply }) };
      const until = Number(there.lease_until?.N);
      if (until > now) return { kind: 'busy', until };
      // Of several that find a dead owner, one takes over.
      const taken = await update(
        id,
        '#owner = :owner, #lease_until = :until',
        '#owner = :before AND #lease_until = :old',
        {
          ':owner': { S: owner },
          ':until': number(leaseUntil),
          ':before': there.owner ?? { S: '' },
          ':old': there.lease_until ?? number(0),
        },
      );
      if (!taken) return { kind: 'busy', until: leaseUntil };
      return { kind: 'ours', ...(reply && { reply }) };
    },

    async answer(id, owner, reply) {
      const packed = pack(reply);
      if (packed.length > mostBytes) return 'too_large';
      const values = { ':reply': { B: packed }, ':owner': { S: owner } };
      const set = '#reply = :reply';
      const kept = await update(id, set, '#owner = :owner AND attribute_not_exists(#reply)', values);
      return kept ? 'kept' : 'lost';
    },

    async published(id, now) {
      await update(id, '#published_at = :now', 'attribute_exists(#pk)', { ':now': number(now) });
    },

    async release(id, owner) {
      const values = { ':none': number(0), ':owner': { S: owner } };
      await update(id, '#lease_until = :none', '#owner = :owner', values);
    },
  };
}

/** Some of the names are words of DynamoDB's own. */
const named = (...expressions: readonly string[]) =>
  Object.fromEntries(
    expressions.flatMap((text) => [...text.matchAll(/#(\w+)/g)].map(([name, word = '']) => [name, word])),
  );

function pack(reply: StoredReply): Uint8Array {
  const bytes = Buffer.from(JSON.stringify([reply.detailType, ...reply.details]));
  return compress(bytes);
}

/** @throws when it is none: better than to answer otherwise than before */
function unpack(packed: Uint8Array): StoredReply {
  const bytes = decompress(packed, mostUnpacked);
  const [detailType = '', ...details] = JSON.parse(bytes.toString()) as string[];
  return { detailType, details };
}
