/**
 * The store of trade events in DynamoDB: one partition for each lease, with an item for the lease, for each order and
 * for each event, in a table whose key is two texts named `pk` and `sk`, with `expires_at` as its time to live.
 *
 * Items that need work, open orders and events that the bus has not accepted, also have an attribute `work`, the sort key
 * of a local index. Keys are keyed names; contents are sealed. A function needs BatchGetItem, PutItem and UpdateItem on
 * the table, and Query on its index.
 */

import type { Sealer } from '../../lib/kernel/sealer.ts';
import type {
  AddCall,
  KnownOrder,
  OrderChange,
  TradeEvent,
  TradeEventStore,
} from '../../lib/trade-events/ports.ts';
import { openText, sealText } from './brotli.ts';
import { type SealedStoreOptions, withLimit } from './dynamo-client.ts';
import { expression, put, query, update } from './dynamo-expressions.ts';
import { batchGet, type Item, isMet, queryAll, seconds, textOf } from './dynamo-items.ts';
import { DynamoLeases } from './dynamo-leases.ts';
import { conditionFailures, isOvertaken, transact } from './dynamo-transaction.ts';

interface TradeEventStoreOptions extends SealedStoreOptions {
  /** Clock for the expiry of orders, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** Index of the items that need work, and its sort key. */
export const workIndex = 'Work';
export const workAttribute = 'work';

/** Most concurrent updates, so that a long outbox does not use up the sockets. */
const maxUpdates = 10;

/** @example const store = createDynamoTradeEventStore({ client: createDynamoClient(), tableName: 'events', sealer }); */
export const createDynamoTradeEventStore = (options: TradeEventStoreOptions): TradeEventStore =>
  new DynamoTradeEventStore(options);

class DynamoTradeEventStore extends DynamoLeases implements TradeEventStore {
  readonly #sealer: Sealer;
  readonly #clock: () => number;
  /** Number of added events, which sorts events of the same millisecond. */
  #added = 0;

  // The time limit is shorter than a lease.
  constructor({ client, tableName, sealer, timeoutMs = 3000, clock = Date.now }: TradeEventStoreOptions) {
    super(withLimit(client, { timeoutMs, attempts: 3 }), tableName);
    this.#sealer = sealer;
    this.#clock = clock;
  }

  async add(call: AddCall): Promise<'added' | 'known' | 'overtaken'> {
    const event = await this.#putOfEvent(call);
    if (!call.order) return (await isMet(this.client.send('PutItem', event))) ? 'added' : 'known';
    const order = await this.#putOfOrder(call.lease, call.order);
    try {
      await transact(this.client, [{ Put: event }, { Put: order }]);
      return 'added';
    } catch (error) {
      if (conditionFailures(error)[0]) return 'known';
      // Two listeners wrote at once, so the caller has to read again.
      if (isOvertaken(error)) return 'overtaken';
      throw error;
    }
  }

  async known(lease: string, orders: readonly string[]): Promise<ReadonlyMap<string, KnownOrder>> {
    const keys = [...new Set(orders)].map((order) => orderKey(lease, order));
    const known = await this.#toOrders(lease, await batchGet(this.client, this.tableName, keys));
    return new Map(known.map((one) => [one.order, one]));
  }

  async note(lease: string, change: OrderChange): Promise<boolean> {
    return isMet(this.client.send('PutItem', await this.#putOfOrder(lease, change)));
  }

  async openOrders(lease: string): Promise<readonly KnownOrder[]> {
    return this.#toOrders(lease, await this.#work(lease, 'open#'));
  }

  async unpublished(lease: string, limit: number): Promise<readonly TradeEvent[]> {
    const items = await this.#work(lease, 'pending#', limit);
    return Promise.all(items.map((item) => this.#toEvent(lease, item)));
  }

  async published(lease: string, ids: readonly string[]): Promise<void> {
    for (let done = 0; done < ids.length; done += maxUpdates)
      await Promise.all(ids.slice(done, done + maxUpdates).map((id) => this.#publishedOne(lease, id)));
  }

  /** Marks one event as published: the rest of the item shows that it was there, and only now may expire. */
  async #publishedOne(lease: string, id: string): Promise<void> {
    const change = expression`SET expires_at = expires_later REMOVE #work, sealed, detail_type, expires_later`;
    const request = update(this.tableName, eventKey(lease, id), change, expression`attribute_exists(#work)`);
    // If the condition is not met, another listener has published the event, too.
    await isMet(this.client.send('UpdateItem', request));
  }

  async #putOfEvent({ lease, event, now, expiresAt }: AddCall) {
    const { id, detailType, detail } = event;
    const order = String(this.#added++ % 1_000_000).padStart(6, '0');
    const values = {
      ...eventKey(lease, id),
      [workAttribute]: `pending#${String(now).padStart(15, '0')}#${order}`,
      detail_type: detailType,
      sealed: await sealText(this.#sealer, detail, aboutEvent(lease, id)),
      known_until: expiresAt,
      // The time to live is set only later: DynamoDB must not remove an event that the bus has not accepted.
      expires_later: seconds(expiresAt),
    };
    return put(this.tableName, values, isUnknownAt(now));
  }

  async #putOfOrder(lease: string, change: OrderChange) {
    const { order, expected, state, isOpen, expiresAt } = change;
    const now = this.#clock();
    const values = {
      ...orderKey(lease, order),
      [workAttribute]: isOpen ? `open#${order}` : undefined,
      revision: crypto.randomUUID(),
      sealed: await sealText(this.#sealer, state, aboutOrder(lease, order)),
      known_until: expiresAt,
      expires_at: seconds(expiresAt),
    };
    const isAsRead =
      expected === undefined ? isUnknownAt(now) : expression`revision = ${expected} AND known_until > ${now}`;
    return put(this.tableName, values, isAsRead);
  }

  /** Items of one kind that need work, in the order of their sort keys; all, or the first `limit`. */
  #work(lease: string, kind: string, limit?: number): Promise<readonly Item[]> {
    const isMeant = expression`pk = ${lease} AND begins_with(#work, ${kind})`;
    const index = { IndexName: workIndex, ConsistentRead: true, Limit: limit };
    return queryAll(this.client, query(this.tableName, isMeant, index));
  }

  async #toOrders(lease: string, items: readonly Item[]): Promise<readonly KnownOrder[]> {
    const current = items.filter(({ known_until }) => Number(known_until?.N) > this.#clock());
    return Promise.all(
      current.map(async (item) => {
        const order = textOf(item, 'sk').slice(orderPrefix.length);
        return {
          order,
          revision: textOf(item, 'revision'),
          state: await this.#open(item, aboutOrder(lease, order)),
          isOpen: item[workAttribute] !== undefined,
        };
      }),
    );
  }

  async #toEvent(lease: string, item: Item): Promise<TradeEvent> {
    const id = textOf(item, 'sk').slice(eventPrefix.length);
    return {
      id,
      detailType: textOf(item, 'detail_type'),
      detail: await this.#open(item, aboutEvent(lease, id)),
    };
  }

  /** @throws when the seal does not open: taken for absent, an order would count as new */
  async #open({ sealed }: Item, about: string): Promise<string> {
    const opened = await openText(this.#sealer, sealed?.B, about);
    if (opened === undefined) throw new Error('an item of trade events does not open');
    return opened;
  }
}

const orderPrefix = 'order#';
const eventPrefix = 'event#';

const orderKey = (lease: string, order: string) => ({ pk: lease, sk: orderPrefix + order });
const eventKey = (lease: string, id: string) => ({ pk: lease, sk: eventPrefix + id });

/** Condition that the item is absent or expired, because DynamoDB removes expired items only within days. */
const isUnknownAt = (now: number) => expression`attribute_not_exists(pk) OR known_until <= ${now}`;

/** Binds sealed contents to their item, so that they do not open in another one. */
const aboutOrder = (lease: string, order: string) => `trade event order ${lease} ${order}`;
const aboutEvent = (lease: string, id: string) => `trade event ${lease} ${id}`;
