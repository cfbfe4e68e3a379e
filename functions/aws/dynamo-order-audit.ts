/**
 * The audit of orders in DynamoDB: one item for each line, in a table whose key is two texts named `pk`, the day, and
 * `sk`, the time, the stream's number of the change and the line's id. What a line says in words is sealed; the rest are keyed names, states and times.
 *
 * The function that adds lines needs PutItem on the table; the operator's command needs Query.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Sealer } from '../../lib/kernel/sealer.ts';
import type { OrderAuditStore } from '../../lib/orders/audit.ts';
import type { AuditLine, KeptOfEntry } from '../../lib/orders/audit-line.ts';
import type { EntryState } from '../../lib/orders/journal.ts';
import { type OrderRecord, readRecord } from '../../lib/orders/record.ts';
import { type DynamoSender, withLimit } from './dynamo-client.ts';
import { absent, type Item, isMet, number, pagesOf, textOf } from './dynamo-items.ts';
import { openText, sealText } from './sealed-text.ts';

export interface DynamoOrderAuditOptions {
  readonly client: DynamoSender;
  readonly tableName: string;
  /** For what a line says: it names account and order. */
  readonly sealer: Sealer;
  /** For one operation with all its attempts, in milliseconds. Default 5000: no client waits. */
  readonly timeoutMs?: number;
}

const dayMs = 86_400_000;
/** A stream numbers changes with up to so many digits. */
const sequenceDigits = 40;

/** @example const store = createDynamoOrderAudit({ client: createDynamoClient(), tableName: 'audit', sealer }); */
export function createDynamoOrderAudit({
  client,
  tableName: TableName,
  sealer,
  timeoutMs = 5000,
}: DynamoOrderAuditOptions): OrderAuditStore {
  const limited = withLimit(client, { timeoutMs, attempts: 4 });

  async function* linesOf(day: string, since: number, until: number): AsyncIterable<AuditLine> {
    const read = (ExclusiveStartKey: Record<string, AttributeValue> | undefined) =>
      limited.send('Query', {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :day AND sk BETWEEN :since AND :until',
        ExpressionAttributeValues: {
          ':day': { S: day },
          ':since': { S: isoOf(since) },
          // No line has this key alone: behind the time stands the line's id.
          ':until': { S: isoOf(until) },
        },
        ExclusiveStartKey,
      });
    for await (const page of pagesOf(read)) for (const item of page) yield await lineIn(item, sealer);
  }

  return {
    async append(line) {
      const Item = await itemOf(line, sealer);
      return isMet(limited.send('PutItem', { TableName, Item, ...absent }));
    },
    async *read(since, until) {
      for (let day = since - (since % dayMs); day < until; day += dayMs)
        yield* linesOf(dayOf(day), since, until);
    },
  };
}

const isoOf = (ms: number) => new Date(ms).toISOString();
const dayOf = (ms: number) => isoOf(ms).slice(0, 10);
/** Sealed contents open in their own place alone. */
const about = (id: string) => `order audit ${id}`;

async function itemOf(line: AuditLine, sealer: Sealer): Promise<Record<string, AttributeValue>> {
  const { id, at, sequence, entry, attempt, before, after, record, kept } = line;
  const texts = { before, operation: record?.operation, user: record?.user, app: record?.app };
  const said = {
    evidence: record?.outcome?.evidence,
    begun_at: record?.begun_at,
    known_at: record?.outcome?.at,
  };
  return {
    pk: { S: dayOf(at) },
    sk: { S: `${isoOf(at)}#${sequence.padStart(sequenceDigits, '0')}#${id}` },
    line: { S: id },
    at: number(at),
    sequence: { S: sequence },
    entry: { S: entry },
    attempt: { S: attempt },
    after: { S: after },
    ...Object.fromEntries(
      Object.entries({ ...texts, ...said }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, { S: value }]],
      ),
    ),
    ...(record && {
      sealed: { B: await sealText(sealer, JSON.stringify({ ...record, kept }), about(id)) },
    }),
  };
}

/** What does not open is a line without contents: its state stands beside them. */
async function lineIn(item: Item, sealer: Sealer): Promise<AuditLine> {
  const id = textOf(item, 'line');
  const { record, kept } = await sealedIn(item, id, sealer);
  const before = item.before?.S;
  return {
    id,
    at: Number(item.at?.N),
    sequence: textOf(item, 'sequence'),
    entry: textOf(item, 'entry'),
    attempt: textOf(item, 'attempt'),
    ...(before !== undefined && { before: before as EntryState }),
    after: textOf(item, 'after') as AuditLine['after'],
    ...(record && { record }),
    ...(kept && { kept }),
  };
}

/** What else an entry has stands beside its record, under the same seal. */
async function sealedIn(
  { sealed }: Item,
  id: string,
  sealer: Sealer,
): Promise<{ readonly record?: OrderRecord; readonly kept?: KeptOfEntry }> {
  const opened = await openText(sealer, sealed?.B, about(id));
  if (opened === undefined) return {};
  const { kept, ...record } = readRecord(opened) as OrderRecord & { readonly kept?: KeptOfEntry };
  return { record, ...(kept && { kept }) };
}
