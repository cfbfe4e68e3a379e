/**
 * The requester's side: builds requests by event, and reads the replies that arrive at a rule's target or in the function's
 * response. A request that the receiver would refuse throws here, before it is sent.
 */

import * as v from 'valibot';
import type { Operation } from '../catalogue/operation.ts';
import { parseJson } from '../kernel/parse-json.ts';
import { eventNames, reservedSources } from './names.ts';
import { parseRequest } from './parse-request.ts';
import type { QuoteLookupRequested, ReadRequested, Reply, RequestEvent } from './schemas.ts';
import * as schemas from './schemas.ts';

/** An entry of an EventBridge client's PutEvents. */
export interface BusEntry {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

/**
 * Builds a request for the snapshots of up to 500 symbols.
 *
 * @throws TypeError naming the faults
 * @example
 * const request = quoteLookupRequested({ request_id: 'portfolio-7', symbols: ['AAPL'], category: 'US_STOCK' });
 */
export function quoteLookupRequested(detail: QuoteLookupRequested): RequestEvent<QuoteLookupRequested> {
  const parsed = v.safeParse(schemas.quoteLookupRequested, detail);
  if (!parsed.success)
    throw new TypeError(
      `Not a lookup: ${parsed.issues.map((issue) => `${issue.path?.[0]?.key ?? ''}: ${issue.message}`).join('; ')}`,
    );
  return { detailType: eventNames.quotes.requested, detail };
}

/**
 * Builds a request for one read operation.
 *
 * @param operation the catalogue's entry, which has no side effect
 * @throws TypeError naming the faults
 * @example
 * const query = { symbol: 'AAPL', category: 'US_STOCK' } as const;
 * const request = readRequested(getCompanyProfile, { request_id: 'profile-7', query });
 */
export function readRequested<O extends Operation>(
  operation: O,
  detail: Omit<ReadRequested<O>, 'operation'>,
): RequestEvent<ReadRequested<O>> {
  const whole = { operation: operation.id, ...detail } as ReadRequested<O>;
  const parsed = parseRequest(whole, [operation]);
  if (!parsed.ok) throw new TypeError(`Not a read: ${parsed.reason}`);
  return { detailType: eventNames.read.requested, detail: whole };
}

/**
 * Builds the entry that puts a request on a bus.
 *
 * @param source name of the requester on the bus; it does not begin with `aws.` and is not reserved
 * @throws TypeError for a source that is reserved for replies
 * @example
 * const entry = busEntry(request, { bus: 'lookups', source: 'portfolio' });
 * await eventBridge.send(new PutEventsCommand({ Entries: [entry] }));
 */
export function busEntry<D>(
  { detailType, detail }: RequestEvent<D>,
  { bus, source }: { readonly bus: string; readonly source: string },
): BusEntry {
  if (reservedSources.includes(source)) throw new TypeError(`${source} is no source of a request`);
  return { EventBusName: bus, Source: source, DetailType: detailType, Detail: JSON.stringify(detail) };
}

/** Accepts any content of a record, because the upstream wrote it: a reply is never refused for it. */
const records = v.array(v.looseObject({ symbol: v.string() }));

const schemaOf = {
  [eventNames.quotes.completed]: v.looseObject({ ...schemas.quoteLookupCompleted.entries, quotes: records }),
  [eventNames.quotes.failed]: schemas.quoteLookupFailed,
  [eventNames.read.completed]: schemas.readCompleted,
  [eventNames.read.failed]: schemas.readFailed,
} as const;

/**
 * Reads one reply.
 *
 * @param input the event with its envelope, or the text of one
 * @returns undefined for an input that is no reply
 * @example
 * const reply = parseReply(event);
 * if (reply?.detailType === 'QuoteLookupCompleted') console.log(reply.detail.quotes);
 */
export function parseReply(input: unknown): Reply | undefined {
  const event = typeof input === 'string' ? parseJson(input) : input;
  if (typeof event !== 'object' || event === null) return undefined;
  const { 'detail-type': detailType, detail } = event as Readonly<Record<string, unknown>>;
  if (typeof detailType !== 'string' || !Object.hasOwn(schemaOf, detailType)) return undefined;
  const type = detailType as Reply['detailType'];
  return v.safeParse(schemaOf[type], detail).success ? ({ detailType: type, detail } as Reply) : undefined;
}

/**
 * Joins the parts of one reply, in any order and with duplicates; undefined while a part is missing. All parts must
 * belong to one request.
 *
 * @example
 * parts.push(reply);
 * const whole = joinParts(parts);
 * if (whole) handle(whole);
 */
export function joinParts(replies: readonly Reply[]): Reply | undefined {
  const [first] = replies;
  if (!first) return undefined;
  if (first.detailType === 'QuoteLookupFailed' || first.detailType === 'ReadFailed') return first;
  const byPart = new Map(
    replies.flatMap((reply) => ('part' in reply.detail ? [[reply.detail.part, reply] as const] : [])),
  );
  const { parts } = first.detail;
  const all = Array.from({ length: parts }, (_, index) => byPart.get(index + 1));
  if (all.some((one) => one?.detailType !== first.detailType)) return undefined;
  const whole = { part: 1, parts: 1 };
  if (first.detailType === 'QuoteLookupCompleted') {
    const quotes = all.flatMap((one) => (one?.detailType === first.detailType ? one.detail.quotes : []));
    return { ...first, detail: { ...first.detail, ...whole, quotes } };
  }
  if (parts === 1) return first;
  const texts = all.map((one) => (one?.detailType === 'ReadCompleted' ? (one.detail.text ?? '') : ''));
  const { text: _, ...detail } = first.detail;
  return { ...first, detail: { ...detail, ...whole, answer: parseJson(texts.join('')) } };
}
