/**
 * The audit of orders in DynamoDB: one item for each line, in a table whose key is two texts named `pk`, the day, and
 * `sk`, the time, the stream's number of the change and the line's id. A line's record is sealed; the rest are keyed names,
 * states and times.s.
 *
 * The function that adds lines needs PutItem on the table; the operator's command needs Query.
 */

import type { Sealer } from '../../lib/kernel/sealer.ts';
import type { OrderAuditStore } from '../../lib/orders/audit.ts';
import type { AuditLine, KeptOfEntry } from '../../lib/orders/audit-line.ts';
import type { EntryState } from '../../lib/orders/journal.ts';
import { type OrderRecord, readRecord } from '../../lib/orders/record.ts';
import { openText, sealText } from './brotli.ts';
import { type SealedStoreOptions, withLimit } from './dynamo-client.ts';
import { expression, isAbsent, put, query } from './dynamo-expressions.ts';
import {
  codec,
  type Item,
  isMet,
  numberOf,
  optional,
  queryPages,
  textOf,
  type Values,
} from './dynamo-items.ts';

const dayMs = 86_400_000;
/** Most digits of a stream's number of a change. */
const sequenceDigits = 40;

/** @example const store = createDynamoOrderAudit({ client: createDynamoClient(), tableName: 'audit', sealer }); */
export function createDynamoOrderAudit({
  client,
  tableName: TableName,
  sealer,
  // No client waits for the audit.
  timeoutMs = 5000,
}: SealedStoreOptions): OrderAuditStore {
  const limited = withLimit(client, { timeoutMs, attempts: 4 });

  async function* linesOf(day: string, since: number, until: number): AsyncIterable<AuditLine> {
    // BETWEEN includes both ends, but no line's key is a time alone: the line's id follows it.
    const isMeant = expression`pk = ${day} AND sk BETWEEN ${isoOf(since)} AND ${isoOf(until)}`;
    const request = query(TableName, isMeant, { ConsistentRead: true });
    for await (const page of queryPages(limited, request))
      for (const item of page) yield await lineIn(item, sealer);
  }

  return {
    async append(line) {
      return isMet(limited.send('PutItem', put(TableName, await itemOf(line, sealer), isAbsent)));
    },
    async *read(since, until) {
      for (let day = since - (since % dayMs); day < until; day += dayMs)
        yield* linesOf(dayOf(day), since, until);
    },
  };
}

const isoOf = (ms: number) => new Date(ms).toISOString();
const dayOf = (ms: number) => isoOf(ms).slice(0, 10);
/** Binds sealed contents to their line, so that they do not open in another one. */
const about = (id: string) => `order audit ${id}`;

const audited = codec<Omit<AuditLine, 'record' | 'kept'>>({
  id: ['line', textOf],
  at: ['at', numberOf],
  sequence: ['sequence', textOf],
  entry: ['entry', textOf],
  attempt: ['attempt', textOf],
  before: ['before', optional(textOf<EntryState>)],
  after: ['after', textOf],
});

async function itemOf(line: AuditLine, sealer: Sealer): Promise<Values> {
  const { id, at, sequence, record, kept } = line;
  return {
    pk: dayOf(at),
    sk: `${isoOf(at)}#${sequence.padStart(sequenceDigits, '0')}#${id}`,
    ...audited.write(line),
    operation: record?.operation,
    user: record?.user,
    app: record?.app,
    evidence: record?.outcome?.evidence,
    begun_at: record?.begun_at,
    known_at: record?.outcome?.at,
    sealed: record && (await sealText(sealer, JSON.stringify({ ...record, kept }), about(id))),
  };
}

/** Reads a line; one whose seal does not open has its states, but no record. */
async function lineIn(item: Item, sealer: Sealer): Promise<AuditLine> {
  const line = audited.read(item);
  return { ...line, ...(await sealedIn(item, line.id, sealer)) };
}

/** The sealed record, and the rest of the entry, which is sealed with it. */
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
