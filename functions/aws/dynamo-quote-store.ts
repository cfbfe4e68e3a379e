/**
 * The quote store of a deployed function: one table on demand with the keys `pk` and `sk` (texts) and
 * `expires_at` as its time to live. The control item and the journal share a partition, so that one query
 * brings what is new of both. A function needs Query, BatchGetItem, PutItem and UpdateItem on it.
 *
 * What entries take after their time is not read by anybody, but stays until DynamoDB removes it.
 */

import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type Control,
  type Entry,
  mostWants,
  noControl,
  type QuoteStore,
} from '../../lib/gateway/quotes/index.ts';
import { packEntry, unpackEntry } from './quote-items.ts';

export interface DynamoQuoteStoreOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Names what shares quotes: an upstream account, whose subscriptions decide what is in them. */
  readonly partition: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

type Item = Record<string, AttributeValue>;

/** Sorts after every turn. */
const controlKey = '~control';
const turnKey = (turn: number) => String(turn).padStart(15, '0');

const mostPages = 4;

/** Nobody looks back further than the bound of an answer. */
const entryMs = 300_000;

export function createDynamoQuoteStore(options: DynamoQuoteStoreOptions): QuoteStore {
  const { client, tableName: TableName, partition, clock = Date.now } = options;
  const pk = { S: `quotes#${partition}` };
  const controlItem = { TableName, Key: { pk, sk: { S: controlKey } } };

  async function query(after: string): Promise<Item[]> {
    const items: Item[] = [];
    let start: Item | undefined;
    let pages = 0;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk AND sk > :after',
          ExpressionAttributeValues: { ':pk': pk, ':after': { S: after } },
          ...(start && { ExclusiveStartKey: start }),
        }),
      );
      items.push(...Items);
      start = LastEvaluatedKey;
      // What is further back comes with the next look; a page is a megabyte.
    } while (start && ++pages < mostPages);
    return items;
  }

  async function late(turns: readonly number[]): Promise<Item[]> {
    if (turns.length === 0) return [];
    const Keys = turns.map((turn) => ({ pk, sk: { S: turnKey(turn) } }));
    const { Responses } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }),
    );
    // What the service left out this time is asked for again with the next look.
    return Responses?.[TableName] ?? [];
  }

  return {
    async read(after, missing) {
      // Nothing sorts between the last turn and the control item.
      const [items, others] = await Promise.all([
        query(after === undefined ? '~' : turnKey(after)),
        late(missing),
      ]);
      const control = items.find(({ sk }) => sk?.S === controlKey);
      return {
        control: control ? toControl(control) : noControl,
        entries: [...others, ...items].flatMap((item) => toEntry(item) ?? []),
      };
    },

    async take({ takesWants, turn, due, tests, flights }) {
      try {
        await client.send(
          new UpdateItemCommand({
            ...controlItem,
            UpdateExpression: `SET turn = :turn, plan_text = :plan${takesWants.length > 0 ? ' DELETE wants :taken' : ''}`,
            ConditionExpression: turn === 1 ? 'attribute_not_exists(turn)' : 'turn = :last',
            ExpressionAttributeValues: {
              ':turn': { N: String(turn) },
              ':plan': { S: planText({ due, tests, flights }) },
              ...(turn > 1 && { ':last': { N: String(turn - 1) } }),
              ...(takesWants.length > 0 && { ':taken': { SS: [...new Set(takesWants)] } }),
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return { taken: true };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { taken: false, control: error.Item ? toControl(error.Item) : noControl };
      }
    },

    async want(keys) {
      try {
        const { Attributes } = await client.send(
          new UpdateItemCommand({
            ...controlItem,
            UpdateExpression: 'ADD wants :keys',
            ConditionExpression: 'attribute_not_exists(wants) OR size(wants) < :most',
            ExpressionAttributeValues: {
              ':keys': { SS: [...new Set(keys)] },
              ':most': { N: String(mostWants) },
            },
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return toControl(Attributes ?? {});
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return toControl(error.Item ?? {});
      }
    },

    async write(entry) {
      await client.send(
        new PutItemCommand({
          TableName,
          Item: {
            pk,
            sk: { S: turnKey(entry.turn) },
            entry: { B: packEntry(entry) },
            // In whole seconds, as the time to live has it.
            expires_at: { N: String(Math.ceil((clock() + entryMs) / 1000)) },
          },
        }),
      );
    },
  };
}

type PlanText = Pick<Control, 'due' | 'tests' | 'flights'>;

/** Marks as 16-bit numbers in base64: with a hundred symbols under way the item stays below a kilobyte. */
function planText({ due, tests, flights }: PlanText): string {
  const packed = flights.map(({ marks, ...flight }) => ({
    ...flight,
    marks: Buffer.from(Uint16Array.from(marks).buffer).toString('base64'),
  }));
  return JSON.stringify({ due, tests, flights: packed });
}

/** @throws TypeError for an item that is not of this form */
function toControl({ turn, plan_text: plan, wants }: Item): Control {
  const said = plan?.S === undefined ? undefined : (JSON.parse(plan.S) as PackedPlan);
  const number = Number(turn?.N ?? 0);
  if (!Number.isSafeInteger(number)) throw new TypeError('not the control item of quotes');
  return {
    turn: number,
    due: said?.due ?? noControl.due,
    tests: said?.tests ?? noControl.tests,
    flights: (said?.flights ?? []).map(({ marks, ...flight }) => {
      const bytes = Buffer.from(marks, 'base64');
      return {
        ...flight,
        marks: Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readUInt16LE(2 * at)),
      };
    }),
    wants: wants?.SS ?? [],
  };
}

interface PackedPlan extends Omit<PlanText, 'flights'> {
  readonly flights: readonly (Omit<Control['flights'][number], 'marks'> & { readonly marks: string })[];
}

/** Undefined for the control item, and for what another version wrote. */
function toEntry({ sk, entry }: Item): Entry | undefined {
  const turn = Number(sk?.S);
  return Number.isSafeInteger(turn) && entry?.B ? unpackEntry(turn, entry.B) : undefined;
}
