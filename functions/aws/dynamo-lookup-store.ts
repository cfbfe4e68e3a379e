/**
 * The store of lookups in DynamoDB: one item for each request, in a table whose key is a text named `pk`,
 * with `expires_at` as its time to live. Replies with account data are sealed. A function needs PutItem and UpdateItem
 * on it.
 */

import type { Sealer } from '../../lib/kernel/sealer.ts';
import type { Claim, ClaimCall, LookupStore, StoredReply } from '../../lib/lookups/index.ts';
import { compress, decompress } from './brotli.ts';
import { type DynamoSender, type StoreOptions, withLimit } from './dynamo-client.ts';
import { type Expression, expression, put, set, tellsItem, update } from './dynamo-expressions.ts';
import { type Item, isMet, isUnmet, seconds, type Values } from './dynamo-items.ts';

interface LookupStoreOptions extends StoreOptions {
  /** Required for replies with account data: no such reply is stored in the clear. */
  readonly sealer?: Sealer | undefined;
}

/** Largest reply: DynamoDB's 400 kB, less keys, the other attributes and a seal. */
const maxBytes = 390 * 1024;
const maxUnpackedBytes = 64 * 1024 * 1024;

export const createDynamoLookupStore = (options: LookupStoreOptions): LookupStore =>
  new DynamoLookupStore(options);

class DynamoLookupStore implements LookupStore {
  readonly #client: DynamoSender;
  readonly #tableName: string;
  readonly #sealer: Sealer | undefined;

  constructor({ client, tableName, timeoutMs = 2000, sealer }: LookupStoreOptions) {
    this.#sealer = sealer;
    // No client waits for a lookup, so there is time for several attempts.
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
    // An earlier attempt of this call wrote the item, and its answer was lost.
    if (item.owner?.S === owner) return acquired;
    const until = Number(item.lease_until?.N);
    if (until > now) return { kind: 'in_progress', until };
    // If several functions find a dead owner, only one acquires the request.
    const { owner: before = '', lease_until: old = 0 } = item;
    const asRead = expression`#owner = ${before} AND lease_until = ${old}`;
    const hasLease = await this.#update(id, { owner, lease_until: leaseUntil }, asRead);
    return hasLease ? acquired : { kind: 'in_progress', until: leaseUntil };
  }

  async saveReply(id: string, owner: string, reply: StoredReply): Promise<'saved' | 'lost' | 'too_large'> {
    const packed = pack(reply);
    if (packed.length > maxBytes) return 'too_large';
    const isSealed = reply.isAccountData ?? false;
    const stored = isSealed ? await this.#seals().seal(packed, aboutOf(id)) : packed;
    const isOwn = expression`#owner = ${owner} AND attribute_not_exists(#reply)`;
    const isSaved = await this.#update(id, { reply: stored, sealed: { BOOL: isSealed } }, isOwn);
    return isSaved ? 'saved' : 'lost';
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
    await this.#update(id, { published_at: now }, expression`attribute_exists(pk)`);
  }

  async release(id: string, owner: string): Promise<void> {
    await this.#update(id, { lease_until: 0 }, expression`#owner = ${owner}`);
  }

  /**
   * Writes an item where there is none, or an expired one that DynamoDB has not removed yet. Returns undefined then, and
   * otherwise the existing item.
   */
  async #put({ id, hash, owner, now, leaseUntil, expiresAt }: ClaimCall): Promise<Item | undefined> {
    try {
      const values = { pk: id, hash, owner, lease_until: leaseUntil, expires_at: seconds(expiresAt) };
      const isFree = expression`attribute_not_exists(pk) OR expires_at <= ${now / 1000}`;
      await this.#client.send('PutItem', { ...put(this.#tableName, values, isFree), ...tellsItem });
      return undefined;
    } catch (error) {
      if (!isUnmet(error)) throw error;
      // DynamoDB removed the item between the check and its answer: the message comes again.
      if (!error.Item) throw error;
      return error.Item;
    }
  }

  /** Updates the item; returns whether the condition was met. */
  #update(id: string, values: Values, condition: Expression): Promise<boolean> {
    return isMet(
      this.#client.send('UpdateItem', update(this.#tableName, { pk: id }, set(values), condition)),
    );
  }
}

/** Binds a sealed reply to its request, so that it does not open for another one. */
const aboutOf = (id: string) => `reply ${id}`;

function pack(reply: StoredReply): Uint8Array {
  const bytes = Buffer.from(JSON.stringify([reply.detailType, ...reply.details]));
  return compress(bytes);
}

/** @throws for a malformed reply: better than a second reply with another content */
function unpack(packed: Uint8Array): StoredReply {
  const bytes = decompress(packed, maxUnpackedBytes);
  const [detailType = '', ...details] = JSON.parse(bytes.toString()) as string[];
  return { detailType, details };
}
