/**
 * Scans JSON text in UTF-8 without parsing it: checks whether bytes are JSON, and finds parts of it. Parsing would make an
 * object of every pair of brackets, and turn a nested answer of four megabytes into more than a hundred megabytes.
 */

import { decodeUtf8 } from './utf8.ts';

/** Bytes that structure JSON text, for code that scans it. */
export const quote = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const backslash = 0x5c;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** Index of the first byte from `start` on that is no white space. */
export function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** Returned in place of an index when the bytes there are no JSON. */
const notJson = -1;

/**
 * Gives the verdict of `JSON.parse` over a strict UTF-8 decoder, which also skips one byte order mark.
 *
 * @example
 * isJson(new TextEncoder().encode('[1.10]')); // true
 */
export const isJson = (bytes: Uint8Array): boolean =>
  afterValue(bytes, startOf(bytes), new OpenContainers()) === bytes.length;

/** Index where the outermost value begins: after a byte order mark and white space. */
export const startOf = (bytes: Uint8Array): number =>
  skipSpace(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);

/**
 * The members of an object, as views of its bytes; the last one where a name comes twice.
 *
 * @param bytes JSON; the result is undefined when it is no object
 * @param names of ASCII characters; default all
 */
export function membersOf(
  bytes: Uint8Array,
  names?: readonly string[],
): ReadonlyMap<string, Uint8Array> | undefined {
  const members = new Map<string, Uint8Array>();
  const isObject = visitMembers(bytes, names, (name, start, end) =>
    members.set(name, bytes.subarray(start, end)),
  );
  return isObject ? members : undefined;
}

/**
 * Calls `visit` for each member of an object with its name and the range of its value, including the space behind it.
 *
 * @param names of ASCII characters; default all
 * @returns whether the JSON is an object
 */
export function visitMembers(
  bytes: Uint8Array,
  names: readonly string[] | undefined,
  visit: (name: string, start: number, end: number) => void,
): boolean {
  const start = startOf(bytes);
  if (bytes[start] !== openBrace) return false;
  const open = new OpenContainers();
  for (let at = skipSpace(bytes, start + 1); bytes[at] === quote; at = skipSpace(bytes, at + 1)) {
    const name = names ? nameAt(bytes, at, names) : textAt(bytes, at);
    const value = afterName(bytes, at);
    at = afterValue(bytes, value, open);
    if (name !== undefined) visit(name, value, at);
    if (bytes[at] !== comma) break;
  }
  return true;
}

/** The elements of an array, as views of its bytes; none when the JSON is no array. */
export function* elementsOf(bytes: Uint8Array): Generator<Uint8Array> {
  const start = startOf(bytes);
  if (bytes[start] !== openBracket) return;
  const open = new OpenContainers();
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== closeBracket) {
    const end = afterValue(bytes, at, open);
    yield bytes.subarray(at, end);
    at = bytes[end] === comma ? skipSpace(bytes, end + 1) : end;
  }
}

/**
 * Calls `visit` for every member of every object, however deep, in the order in which they stand.
 *
 * @param bytes JSON
 */
export function everyMember(bytes: Uint8Array, visit: (member: Member) => void): void {
  const member = { depth: 0, start: 0, end: 0, value: 0 };
  for (let at = startOf(bytes); at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === openBrace || byte === openBracket) member.depth++;
    else if (byte === closeBrace || byte === closeBracket) member.depth--;
    if (byte !== quote) continue;
    const end = afterText(bytes, at);
    if (end === notJson) return;
    const behind = skipSpace(bytes, end);
    if (bytes[behind] === colon) {
      member.start = at;
      member.end = end;
      member.value = skipSpace(bytes, behind + 1);
      visit(member);
      at = behind;
    } else at = end - 1;
  }
}

/** One object that is reused for every member: a list may have a million of them. */
interface Member {
  /** 1 for the members of the outermost object. */
  readonly depth: number;
  /** Start of its name, with the quote; `end` is after the closing quote. */
  readonly start: number;
  readonly end: number;
  /** Where its value begins. */
  readonly value: number;
}

/** The JSON string that begins at `start`; undefined when none does. */
export function textAt(bytes: Uint8Array, start: number): string | undefined {
  const end = afterText(bytes, start);
  return end === notJson ? undefined : (JSON.parse(decodeUtf8(bytes.subarray(start, end))) as string);
}

/** Whether a name may have one of these lengths. A name with an escape may have any, because an escape hides its length. */
export const mayHaveLength = (
  bytes: Uint8Array,
  { start, end }: Pick<Member, 'start' | 'end'>,
  lengths: readonly number[],
): boolean => lengths.includes(end - start - 2) || hasEscape(bytes, start, end);

/** Finds which of the names stands at `start`. It decodes no text without an escape: an object may have a million members. */
function nameAt(bytes: Uint8Array, start: number, names: readonly string[]): string | undefined {
  const end = afterText(bytes, start);
  if (hasEscape(bytes, start, end)) return names.find((name) => name === textAt(bytes, start));
  for (const name of names) if (name.length + 2 === end - start && isAt(bytes, start + 1, name)) return name;
  return undefined;
}

function isAt(bytes: Uint8Array, start: number, ascii: string): boolean {
  for (let index = 0; index < ascii.length; index++)
    if (bytes[start + index] !== ascii.charCodeAt(index)) return false;
  return true;
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === backslash) return true;
  return false;
}

/**
 * Index after the value that begins at `start`, and after the space behind it.
 *
 * @param open empty before and after the call
 */
function afterValue(bytes: Uint8Array, start: number, open: OpenContainers): number {
  let at = start;
  for (;;) {
    const first = bytes[at];
    const isObject = first === openBrace;
    if (isObject || first === openBracket) {
      at = skipSpace(bytes, at + 1);
      if (bytes[at] === (isObject ? closeBrace : closeBracket)) at++;
      else {
        open.push(isObject);
        if (isObject) at = afterName(bytes, at);
        if (at === notJson) return notJson;
        continue;
      }
    } else at = afterScalar(bytes, at);
    if (at === notJson) return notJson;
    at = afterContainers(bytes, at, open);
    if (at === notJson || open.depth === 0) return at;
  }
}

/** Moves from the end of a value to the start of the next, or to the end of the outermost value. */
function afterContainers(bytes: Uint8Array, start: number, open: OpenContainers): number {
  for (let at = skipSpace(bytes, start); ; at = skipSpace(bytes, at + 1)) {
    if (open.depth === 0) return at;
    if (bytes[at] === comma) {
      const next = skipSpace(bytes, at + 1);
      return open.isObject ? afterName(bytes, next) : next;
    }
    if (bytes[at] !== (open.isObject ? closeBrace : closeBracket)) return notJson;
    open.pop();
  }
}

/** One bit for each open object or array. */
class OpenContainers {
  depth = 0;
  isObject = false;
  #bits = new Uint8Array(16);

  push(isObject: boolean): void {
    const byte = this.depth >> 3;
    if (byte === this.#bits.length) {
      const more = new Uint8Array(byte * 2);
      more.set(this.#bits);
      this.#bits = more;
    }
    const bit = 1 << (this.depth & 7);
    this.#bits[byte] = isObject ? this.#bits[byte]! | bit : this.#bits[byte]! & ~bit;
    this.depth++;
    this.isObject = isObject;
  }

  pop(): void {
    this.depth--;
    const last = this.depth - 1;
    this.isObject = last >= 0 && (this.#bits[last >> 3]! & (1 << (last & 7))) !== 0;
  }
}

/** Skips a member's name and the colon: the index of its value. */
function afterName(bytes: Uint8Array, start: number): number {
  const end = afterText(bytes, start);
  if (end === notJson) return notJson;
  const at = skipSpace(bytes, end);
  return bytes[at] === colon ? skipSpace(bytes, at + 1) : notJson;
}

function afterScalar(bytes: Uint8Array, start: number): number {
  switch (bytes[start]) {
    case quote:
      return afterText(bytes, start);
    case 0x74:
      return afterWord(bytes, start, 'true');
    case 0x66:
      return afterWord(bytes, start, 'false');
    case 0x6e:
      return afterWord(bytes, start, 'null');
    default:
      return afterNumber(bytes, start);
  }
}

const afterWord = (bytes: Uint8Array, start: number, word: string): number =>
  isAt(bytes, start, word) ? start + word.length : notJson;

function afterNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start;
  at = bytes[at] === 0x30 ? at + 1 : afterDigits(bytes, at);
  if (at !== notJson && bytes[at] === 0x2e) at = afterDigits(bytes, at + 1);
  if (at === notJson || (bytes[at] !== 0x65 && bytes[at] !== 0x45)) return at;
  const isSigned = bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d;
  return afterDigits(bytes, at + (isSigned ? 2 : 1));
}

/** Skips at least one digit. */
function afterDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
  return at === start ? notJson : at;
}

/** Index after the closing quote. */
function afterText(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== quote) return notJson;
  let at = start + 1;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === quote) return at + 1;
    if (byte >= 0x20 && byte < 0x80 && byte !== backslash) at++;
    else {
      at = byte === backslash ? afterEscape(bytes, at) : afterMultibyte(bytes, at);
      if (at === notJson) return notJson;
    }
  }
  return notJson;
}

const escapes = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));

function afterEscape(bytes: Uint8Array, start: number): number {
  const kind = bytes[start + 1]!;
  if (escapes.has(kind)) return start + 2;
  if (kind !== 0x75) return notJson;
  for (let at = start + 2; at < start + 6; at++) {
    const byte = bytes[at]!;
    const isHex = (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
    if (!isHex) return notJson;
  }
  return start + 6;
}

/** Skips one character beyond ASCII, in the shortest form and no half of a surrogate pair (RFC 3629). */
function afterMultibyte(bytes: Uint8Array, start: number): number {
  const first = bytes[start]!;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0) return notJson;
  const min = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const max = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  const second = bytes[start + 1]!;
  if (!(second >= min && second <= max)) return notJson;
  for (let at = start + 2; at < start + length; at++) if ((bytes[at]! & 0xc0) !== 0x80) return notJson;
  return start + length;
}
