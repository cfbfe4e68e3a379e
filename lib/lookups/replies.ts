/**
 * Writes replies as texts. They contain the upstream's records byte for byte. A reply that is too large for one event of a
 * bus is split: quotes between records, other answers into pieces of their text.
 */

import { eventNames, type LookupKind } from '../events/names.ts';
import type { LookupFailure } from './failure.ts';
import type { StoredReply } from './ports.ts';
import {
  asksForAccount,
  type LookupRequester,
  type OwnedLookup,
  type OwnedQuotes,
  type OwnedRead,
} from './request.ts';

interface QuotesFound {
  readonly records: readonly Uint8Array[];
  readonly unknown: readonly string[];
  readonly missing: readonly { readonly symbol: string; readonly code: string }[];
  readonly asOf: number;
}

/** EventBridge accepts 256 kB for an entry, including its source and type. */
export const maxEventBytes = 240 * 1024;

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text).length;

/** @param maxBytes size limit of one event's detail */
export function quotesReply(
  { requestId, requester, category }: OwnedQuotes,
  { records, unknown, missing, asOf }: QuotesFound,
  maxBytes = maxEventBytes,
): StoredReply {
  const decoder = new TextDecoder();
  const head = { request_id: requestId, requester };
  const tail = { category, as_of: isoTime(asOf), unknown, missing };
  // Every part names the missing symbols, so that the receiver of the first part need not wait for them.
  const room = maxBytes - bytesOf(JSON.stringify({ ...head, ...tail })) - 100;
  const pieces: string[][] = [[]];
  let used = 0;
  for (const record of records) {
    if (used > 0 && used + record.length + 1 > room) {
      pieces.push([]);
      used = 0;
    }
    pieces.at(-1)?.push(decoder.decode(record));
    used += record.length + 1;
  }
  return {
    detailType: eventNames.quotes.completed,
    details: pieces.map((quotes, index) =>
      withMember(
        { ...head, part: index + 1, parts: pieces.length, ...tail },
        'quotes',
        `[${quotes.join(',')}]`,
      ),
    ),
  };
}

export function readReply(
  lookup: OwnedRead,
  { bytes, asOf }: { readonly bytes: Uint8Array; readonly asOf: number },
  maxBytes = maxEventBytes,
): StoredReply {
  const { requestId, requester, operation } = lookup;
  const text = new TextDecoder().decode(bytes);
  const head = (part: number, parts: number) => ({
    request_id: requestId,
    requester,
    part,
    parts,
    operation: operation.id,
    as_of: isoTime(asOf),
  });
  const common = { detailType: eventNames.read.completed, ...markOf(asksForAccount(lookup)) };
  const room = maxBytes - bytesOf(JSON.stringify(head(9999, 9999))) - 100;
  if (bytes.length <= room) return { ...common, details: [withMember(head(1, 1), 'answer', text)] };
  const pieces = piecesOf(text, room);
  return {
    ...common,
    details: pieces.map((piece, index) => JSON.stringify({ ...head(index + 1, pieces.length), text: piece })),
  };
}

/** Splits a text into pieces that each have at most `maxBytes` as a JSON string. */
function piecesOf(text: string, maxBytes: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    // A third: no UTF-16 unit takes more than three bytes, except escaped ones.
    let end = Math.min(text.length, at + Math.floor(maxBytes / 3));
    while (bytesOf(JSON.stringify(text.slice(at, end))) > maxBytes) end = at + Math.ceil((end - at) / 2);
    // Keeps a pair of surrogates together.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '')) end--;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** Writes the failed reply to a valid request. */
export const failedReply = (lookup: OwnedLookup, failure: LookupFailure): StoredReply => ({
  ...failedReplyTo(
    lookup.kind,
    {
      request_id: lookup.requestId,
      requester: lookup.requester,
      ...(lookup.kind === 'read' && { operation: lookup.operation.id }),
    },
    failure,
  ),
  ...markOf(asksForAccount(lookup)),
});

/** Size limit of a failed reply: the upstream's message may be long. */
const maxFailureBytes = 16 * 1024;

export function failedReplyTo(
  kind: LookupKind,
  head: LookupRequester & { readonly request_id: string; readonly operation?: string },
  { code, retryable, detail, errors, upstream }: LookupFailure,
): StoredReply {
  const short = { ...head, code, retryable, detail: detail.slice(0, 1000) };
  const whole = JSON.stringify({ ...short, detail, errors, upstream });
  return {
    detailType: eventNames[kind].failed,
    details: [bytesOf(whole) <= maxFailureBytes ? whole : JSON.stringify(short)],
  };
}

/** Marks account data; a failed reply is marked, too, because its faults quote the request. */
export const markOf = (isAccountData: boolean): Pick<StoredReply, 'isAccountData'> =>
  isAccountData ? { isAccountData } : {};

/** Adds a member without serialising its value again, because that could change the form of a number. */
const withMember = (head: object, name: string, value: string) =>
  `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:${value}}`;

const isoTime = (ms: number) => new Date(ms).toISOString();
