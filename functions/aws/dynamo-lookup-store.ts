/**
 * The store of lookups in DynamoDB: one item for each request, in a table whose key is a text named `pk`,
 * with `expires_at` as its time to live. Replies with account data are sealed. A function needs PutItem and UpdateItem
 * on it.
 */

import type { Sealer } from '../../lib/kernel/sealer.ts';
import type { Claim, ClaimCall, LookupStore, StoredReply } from '../../lib/lookups/index.ts';
import { compress, decompress } from './brotli.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { type Item, isMet, isUnmet, number, seconds } from './dynamo-items.ts';

export interface DynamoLookupStoreOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For one operation with all its attempts, in milliseconds. Default 2000: no client waits for a lookup. */
  readonly timeoutMs?: number;
  /** Required for replies with account data: no such reply is stored in the clear. */
  readonly sealer?: Sealer | undefined;
}

/** DynamoDB's 400 kB, less keys, the other attributes and a seal. */
const maxBytes = 390 * 1024;
const maxUnpackedBytes = 64 * 1024 * 1024;

export const createDynamoLookupStore = (options: DynamoLookupStoreOptions): LookupStore =>
  new DynamoLookupStore(options);

class DynamoLookupStore implements LookupStore {
  readonly #client: DynamoSender;
  readonly #tableName: string;
  readonly #sealer: Sealer | undefined;

  constructor({ client, tableName, timeoutMs = 2000, sealer }: DynamoLookupStoreOptions) {
    this.#sealer = sealer;
    this.#client = withLimit(client, { timeoutMs, attempts: 3 });
    this.#tableName = tableName;
  }

  async claim(call: ClaimCall): Promise<Claim> {
    const item = await this.#put(call);
    if (!item) return { kind: 'acquired' };
    const { id, hash, owner, now, leaseUntil } = call;
    if (item.hash?.S !== hash) return { kind: 'conflict' };
    const reply = await this.#replyOf(id, item);
    if (reply && item.published_at) return { kind: 'completed', reply };
    const acquired: Claim = { kind: 'acquired', ...(reply && { reply }) };
    // An earlier attempt of the client wrote it, and lost the answer.
    if (item.owner?.S === owner) return acquired;
    const until = Number(item.lease_until?.N);
    if (until > now) return { kind: 'in_progress', until };
    // Of several functions that find a dead owner, one acquires the request.
    const isMet = await this.#update(
      id,
      '#owner = :owner, #lease_until = :until',
      '#owner = :before AND #lease_until = :old',
      {
        ':owner': { S: owner },
        ':until': number(leaseUntil),
        ':before': item.owner ?? { S: '' },
        ':old': item.lease_until ?? number(0),
      },
    );
    return isMet ? acquired : { kind: 'in_progress', until: leaseUntil };
  }

  async saveReply(id: string, owner: string, reply: StoredReply): Promise<'saved' | 'lost' | 'too_large'> {
    const packed = pack(reply);
    if (packed.length > maxBytes) return 'too_large';
    const isSealed = reply.isAccountData ?? false;
    const stored = isSealed ? await this.#seals().seal(packed, aboutOf(id)) : packed;
    const values = { ':reply': { B: stored }, ':sealed': { BOOL: isSealed }, ':owner': { S: owner } };
    const condition = '#owner = :owner AND attribute_not_exists(#reply)';
    const isMet = await this.#update(id, '#reply = :reply, #sealed = :sealed', condition, values);
    return isMet ? 'saved' : 'lost';
  }

  /** @throws for a sealed reply that does not open: better than a second reply with another content */
  async #replyOf(id: string, { reply, sealed }: Item): Promise<StoredReply | undefined> {
    if (!reply?.B) return undefined;
    if (!sealed?.BOOL) return unpack(reply.B);
    const opened = await this.#seals().open(reply.B, aboutOf(id));
    if (!opened) throw new Error('a stored reply does not open');
    return { ...unpack(opened), isAccountData: true };
  }

  #seals(): Sealer {
    if (!this.#sealer) throw new Error('a reply with account data, and no sealer');
    return this.#sealer;
  }

  async complete(id: string, now: number): Promise<void> {
    await this.#update(id, '#published_at = :now', 'attribute_exists(#pk)', { ':now': number(now) });
  }

  async release(id: string, owner: string): Promise<void> {
    const values = { ':none': number(0), ':owner': { S: owner } };
    await this.#update(id, '#lease_until = :none', '#owner = :owner', values);
  }

  /**
   * Undefined for a new item, also in place of an expired one that DynamoDB has not removed yet; else the item that
   * exists.
   */
  async #put({ id, hash, owner, now, leaseUntil, expiresAt }: ClaimCall): Promise<Item | undefined> {
    try {
      await this.#client.send('PutItem', {
        TableName: this.#tableName,
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
      });
      return undefined;
    } catch (error) {
      if (!isUnmet(error)) throw error;
      // DynamoDB removed the item between the check and its answer: the message comes again.
      if (!error.Item) throw error;
      return error.Item;
    }
  }

  /** Whether the condition was met. */
  async #update(id: string, set: string, condition: string, values: Item): Promise<boolean> {
    return isMet(
      this.#client.send('UpdateItem', {
        TableName: this.#tableName,
        Key: { pk: { S: id } },
        UpdateExpression: `SET ${set}`,
        ConditionExpression: condition,
        ExpressionAttributeNames: named(set, condition),
        ExpressionAttributeValues: values,
      }),
    );
  }
}

/** A sealed reply opens in the place of its own request alone. */
const aboutOf = (id: string) => `reply ${id}`;

/** Some attribute names are reserved words of DynamoDB. */
const named = (...expressions: readonly string[]) =>
  Object.fromEntries(
    expressions.flatMap((text) => [...text.matchAll(/#(\w+)/g)].map(([name, word = '']) => [name, word])),
  );

function pack(reply: StoredReply): Uint8Array {
  const bytes = Buffer.from(JSON.stringify([reply.detailType, ...reply.details]));
  return compress(bytes);
}

/** @throws when it is no reply: better than a second reply with another content */
function unpack(packed: Uint8Array): StoredReply {
  const bytes = decompress(packed, maxUnpackedBytes);
  const [detailType = '', ...details] = JSON.parse(bytes.toString()) as string[];
  return { detailType, details };
}
