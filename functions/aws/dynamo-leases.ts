/** Leases in DynamoDB: one item each, in a table whose key is two texts named `pk` and `sk`. Needs UpdateItem and PutItem. */

import type { AcquireCall, Acquired, LeaseState, LeaseStore } from '../../lib/listener/lease.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { expression, put, set, tellsItem, update } from './dynamo-expressions.ts';
import { type Item, isMet, isUnmet, textOf, type Values } from './dynamo-items.ts';

export class DynamoLeases implements LeaseStore {
  protected readonly client: DynamoSender;
  protected readonly tableName: string;

  constructor(client: DynamoSender, tableName: string) {
    this.client = client;
    this.tableName = tableName;
  }

  async acquire({ lease, owner, until, endsAt, expired }: AcquireCall): Promise<Acquired> {
    const isFree = expression`attribute_not_exists(#owner) OR #owner = ${owner}`;
    const request = update(
      this.tableName,
      leaseKey(lease),
      set({ owner, until, ends_at: endsAt }),
      expired ? expression`${isFree} OR (#owner = ${expired.owner} AND #until = ${expired.until})` : isFree,
    );
    try {
      const { Attributes = {} } = await this.client.send('UpdateItem', {
        ...request,
        ...tellsItem,
        ReturnValues: 'ALL_NEW',
      });
      return { kind: 'acquired', state: toLeaseState(Attributes) };
    } catch (error) {
      if (!(isUnmet(error) && error.Item)) throw error;
      const state = toLeaseState(error.Item);
      const record = { owner: textOf(error.Item, 'owner'), until: state.until, endsAt: state.endsAt };
      return { kind: 'held', record };
    }
  }

  renew(lease: string, owner: string, state: LeaseState): Promise<boolean> {
    return this.#write(lease, owner, { owner, ...fromLeaseState(state) });
  }

  async release(lease: string, owner: string, state: LeaseState): Promise<void> {
    await this.#write(lease, owner, fromLeaseState(state));
  }

  #write(lease: string, owner: string, values: Values): Promise<boolean> {
    const own = put(this.tableName, { ...leaseKey(lease), ...values }, expression`#owner = ${owner}`);
    return isMet(this.client.send('PutItem', own));
  }
}

const leaseKey = (lease: string) => ({ pk: lease, sk: 'lease' });

/** Attributes of a lease: contenders read the first two, and the others are only passed on. */
const fromLeaseState = ({ until, endsAt, ...said }: LeaseState) => ({
  until,
  ends_at: endsAt,
  said: JSON.stringify(said),
});

function toLeaseState({ until, ends_at, said }: Item): LeaseState {
  return {
    ...(JSON.parse(said?.S ?? '{}') as Partial<LeaseState>),
    until: Number(until?.N ?? 0),
    endsAt: Number(ends_at?.N ?? 0),
  };
}
