/**
 * Cuts the upstream's JSON array into the bytes of its records, puts records into an array again, and hashes them. No
 * record is ever written anew: what the upstream sent as `1.10` or in an odd order stays so.
 */

import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  skipSpace,
} from '../../kernel/json-scan.ts';
import { decodeUtf8 } from '../../kernel/utf8.ts';

/**
 * Bounds the records of an answer of the upstream, which is asked for a hundred symbols at most. Each record costs some
 * hundred bytes besides its own: four megabytes of tiny ones would take more than a hundred megabytes.
 */
export const maxAnsweredRecords = 1000;
/** Far above any symbol's length. */
const maxSymbolBytes = 1024;

/**
 * The records by symbol, each a copy of exactly its bytes; a symbol that comes twice has its last one. Undefined
 * when the body is not an array of objects that each have a `symbol`, or has more of them than `maxRecords`.
 *
 * @param body JSON; the inside of a record is not validated
 */
export function cutRecords(
  body: Uint8Array,
  maxRecords = Number.POSITIVE_INFINITY,
): ReadonlyMap<string, Uint8Array> | undefined {
  const records = new Map<string, Uint8Array>();
  let at = skipSpace(body, 0);
  if (body[at] !== openBracket) return undefined;
  at = skipSpace(body, at + 1);
  if (body[at] === closeBracket) return isEnd(body, at + 1) ? records : undefined;
  for (let count = 1; ; count++) {
    const cut = count > maxRecords ? undefined : cutRecord(body, at);
    if (!cut) return undefined;
    // A Buffer's own `slice` would be a view, and every record would keep the whole body.
    records.set(cut.symbol, new Uint8Array(body.subarray(at, cut.end)));
    at = skipSpace(body, cut.end);
    if (body[at] === closeBracket) return isEnd(body, at + 1) ? records : undefined;
    if (body[at] !== comma) return undefined;
    at = skipSpace(body, at + 1);
  }
}

/** Puts records into one array, in the order given. */
export function joinRecords(records: readonly Uint8Array[]): Uint8Array {
  let length = 2 + Math.max(0, records.length - 1);
  for (const record of records) length += record.length;
  const body = new Uint8Array(length);
  body[0] = openBracket;
  let at = 1;
  for (const record of records) {
    if (at > 1) body[at++] = comma;
    body.set(record, at);
    at += record.length;
  }
  body[at] = closeBracket;
  return body;
}

/** Finds the end of the object that begins at `start`, and the text of its own member `symbol`. */
function cutRecord(body: Uint8Array, start: number): { end: number; symbol: string } | undefined {
  if (body[start] !== openBrace) return undefined;
  let depth = 0;
  let symbol: string | undefined;
  /** Whether the next text at depth 1 is the name of a member. */
  let atName = true;
  let isSymbol = false;
  for (let at = start; at < body.length; at++) {
    switch (body[at]) {
      case quote: {
        const end = endOfText(body, at);
        if (end === undefined) return undefined;
        if (depth === 1) {
          if (atName) isSymbol = isSymbolName(body, at, end);
          else if (isSymbol) symbol = textOf(body, at, end);
        }
        at = end - 1;
        break;
      }
      case openBrace:
      case openBracket:
        depth++;
        break;
      case closeBrace:
      case closeBracket:
        if (--depth === 0) return symbol === undefined ? undefined : { end: at + 1, symbol };
        break;
      case colon:
        if (depth === 1) atName = false;
        break;
      case comma:
        if (depth === 1) atName = true;
    }
  }
  return undefined;
}

/** The index after the closing quote. */
function endOfText(body: Uint8Array, start: number): number | undefined {
  for (let at = start + 1; at < body.length; at++) {
    if (body[at] === backslash) at++;
    else if (body[at] === quote) return at + 1;
  }
  return undefined;
}

const symbolName = Uint8Array.from('"symbol"', (character) => character.charCodeAt(0));

/** Compares byte by byte, because every member of every record passes here. */
function isSymbolName(body: Uint8Array, start: number, end: number): boolean {
  let isPlain = end - start === symbolName.length;
  for (let at = start; at < end; at++) {
    if (body[at] === backslash) return textOf(body, start, end) === 'symbol';
    if (isPlain && body[at] !== symbolName[at - start]) isPlain = false;
  }
  return isPlain;
}

function textOf(body: Uint8Array, start: number, end: number): string | undefined {
  if (end - start > maxSymbolBytes) return undefined;
  let text = '';
  for (let at = start + 1; at < end - 1; at++) {
    const code = body[at]!;
    if (code === backslash || code > 0x7e) return parsed(body.subarray(start, end));
    text += String.fromCharCode(code);
  }
  return text;
}

/** A text with escapes or beyond ASCII. */
function parsed(text: Uint8Array): string | undefined {
  try {
    return JSON.parse(decodeUtf8(text)) as string;
  } catch {
    return undefined;
  }
}

const isEnd = (body: Uint8Array, at: number) => skipSpace(body, at) === body.length;

/** Hashes bytes to 53 bits (two multiplicative hashes side by side), as a whole number. */
export function hashOf(bytes: Uint8Array): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < bytes.length; at++) {
    high = Math.imul(high ^ bytes[at]!, 2654435761);
    low = Math.imul(low ^ bytes[at]!, 1597334677);
  }
  return joined(high, low);
}

/** Hashes a sequence of such hashes; their order counts. */
export function hashOfAll(hashes: readonly number[]): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (const hash of hashes) {
    high = Math.imul((high ^ hash) + 1, 2654435761);
    low = Math.imul((low ^ (hash / 2 ** 21)) + 1, 1597334677) ^ high;
  }
  return joined(high, low);
}

/** Hashes a text to 32 bits. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function joined(high: number, low: number): number {
  const mixedLow = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  const mixedHigh = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 2 ** 32 * (mixedHigh & 0x1fffff) + (mixedLow >>> 0);
}
