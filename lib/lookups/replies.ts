/**
 * Replies as texts. The upstream's records stand in them byte for byte; what is too large for one event of a
 * bus is parted: quotes between records, other answers as pieces of their text.
 */

import { eventNames, type LookupKind } from '../events/names.ts';
import type { Lookup, QuoteLookup, Read } from '../events/parse-request.ts';
import type { Failure } from './failure.ts';
import type { StoredReply } from './ports.ts';

export interface QuotesHad {
  readonly records: readonly Uint8Array[];
  readonly unknown: readonly string[];
  readonly missing: readonly { readonly symbol: string; readonly code: string }[];
  readonly askedAt: number;
}

/** EventBridge takes 256 kB an entry, its source and type included. */
export const mostBytesOfEvent = 240 * 1024;

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text).length;

/** @param mostBytes of one event's detail */
export function quotesReply(
  { requestId, category }: QuoteLookup,
  { records, unknown, missing, askedAt }: QuotesHad,
  mostBytes = mostBytesOfEvent,
): StoredReply {
  const decoder = new TextDecoder();
  const head = { request_id: requestId };
  const tail = { category, as_of: moment(askedAt), unknown, missing };
  // Names are told in every part: whoever has the first can stop waiting for what will not come.
  const room = mostBytes - bytesOf(JSON.stringify({ ...head, ...tail })) - 100;
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
  { requestId, operation }: Read,
  { bytes, askedAt }: { readonly bytes: Uint8Array; readonly askedAt: number },
  mostBytes = mostBytesOfEvent,
): StoredReply {
  const text = new TextDecoder().decode(bytes);
  const head = (part: number, parts: number) => ({
    request_id: requestId,
    part,
    parts,
    operation: operation.id,
    as_of: moment(askedAt),
  });
  const detailType = eventNames.read.completed;
  const room = mostBytes - bytesOf(JSON.stringify(head(9999, 9999))) - 100;
  if (bytes.length <= room) return { detailType, details: [withMember(head(1, 1), 'answer', text)] };
  const pieces = piecesOf(text, room);
  return {
    detailType,
    details: pieces.map((piece, index) => JSON.stringify({ ...head(index + 1, pieces.length), text: piece })),
  };
}

/** Each, as a JSON text, within the bytes. */
function piecesOf(text: string, mostBytes: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    // A third: no character takes more than three bytes for each of its units, but escapes may.
    let end = Math.min(text.length, at + Math.floor(mostBytes / 3));
    while (bytesOf(JSON.stringify(text.slice(at, end))) > mostBytes) end = at + Math.ceil((end - at) / 2);
    // A pair of surrogates stays together.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '')) end--;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** For what could be read as a request. */
export const failedReply = (lookup: Lookup, failure: Failure): StoredReply =>
  failedReplyTo(
    lookup.kind,
    { request_id: lookup.requestId, ...(lookup.kind === 'read' && { operation: lookup.operation.id }) },
    failure,
  );

/** Why something failed takes no more than this, whatever the upstream had to say. */
const mostBytesOfFailure = 16 * 1024;

export function failedReplyTo(
  kind: LookupKind,
  head: { readonly request_id: string; readonly operation?: string },
  { code, retryable, detail, errors, upstream }: Failure,
): StoredReply {
  const short = { ...head, code, retryable, detail: detail.slice(0, 1000) };
  const whole = JSON.stringify({ ...short, detail, errors, upstream });
  return {
    detailType: eventNames[kind].failed,
    details: [bytesOf(whole) <= mostBytesOfFailure ? whole : JSON.stringify(short)],
  };
}

/** The value's text as it is: written anew, a number could change its form. */
const withMember = (head: object, name: string, value: string) =>
  `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:${value}}`;

const moment = (ms: number) => new Date(ms).toISOString();
