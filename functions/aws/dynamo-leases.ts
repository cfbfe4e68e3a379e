/** Leases in DynamoDB: one item each, in a table whose key is two texts named `pk` and `sk`. Needs UpdateItem and PutItem. */

import type { AcquireCall, Acquired, LeaseState } from '../../lib/trade-events/ports.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { type Item, isMet, isUnmet, number, textOf } from './dynamo-items.ts';

export class DynamoLeases {
  readonly #client: DynamoSender;
  readonly #tableName: string;

  constructor(client: DynamoSender, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  async acquire({ lease, owner, until, endsAt, expired }: AcquireCall): Promise<Acquired> {
    const isExpired = ' OR (#owner = :expiredOwner AND #until = :expiredUntil)';
    try {
      const { Attributes = {} } = await this.#client.send('UpdateItem', {
        TableName: this.#tableName,
        Key: leaseKey(lease),
        UpdateExpression: 'SET #owner = :owner, #until = :until, ends_at = :endsAt',
        ConditionExpression: `attribute_not_exists(#owner) OR #owner = :owner${expired ? isExpired : ''}`,
        ExpressionAttributeNames: { '#owner': 'owner', '#until': 'until' },
        ExpressionAttributeValues: {
          ':owner': { S: owner },
          ':until': number(until),
          ':endsAt': number(endsAt),
          ...(expired && {
            ':expiredOwner': { S: expired.owner },
            ':expiredUntil': number(expired.until),
          }),
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
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
    return this.#write(lease, owner, { owner: { S: owner }, ...fromLeaseState(state) });
  }

  async release(lease: string, owner: string, state: LeaseState): Promise<void> {
    await this.#write(lease, owner, fromLeaseState(state));
  }

  #write(lease: string, owner: string, attributes: Item): Promise<boolean> {
    return isMet(
      this.#client.send('PutItem', {
        TableName: this.#tableName,
        Item: { ...leaseKey(lease), ...attributes },
        ConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': { S: owner } },
      }),
    );
  }
}

const leaseKey = (lease: string) => ({ pk: { S: lease }, sk: { S: 'lease' } });

/** Contenders look at the first two; the others are only handed on. */
function fromLeaseState({ until, endsAt, ...said }: LeaseState): Item {
  return { until: number(until), ends_at: number(endsAt), said: { S: JSON.stringify(said) } };
}

function toLeaseState({ until, ends_at, said }: Item): LeaseState {
  return {
    ...(JSON.parse(said?.S ?? '{}') as Partial<LeaseState>),
    until: Number(until?.N ?? 0),
    endsAt: Number(ends_at?.N ?? 0),
  };
}
