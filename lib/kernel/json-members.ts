/** Members of a JSON object as texts. A number stays as it was written: parsing would round it. */

import { isJson, membersOf, textAt, visitMembers } from './json-scan.ts';
import { decodeUtf8 } from './utf8.ts';

/**
 * @param json an object
 * @returns the named members that are text, number or boolean; undefined when the JSON is no object
 */
export function textMembers(
  json: string | Uint8Array,
  names: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const bytes = typeof json === 'string' ? new TextEncoder().encode(json) : json;
  const members = isJson(bytes) ? membersOf(bytes, names) : undefined;
  if (!members) return undefined;
  const texts = new Map<string, string>();
  for (const [name, value] of members) {
    const text = textAt(value, 0);
    const written = textOf(value);
    // A text that begins with a bracket was added above: here a bracket means an object or a list.
    if (text !== undefined) texts.set(name, text);
    else if (written !== 'null' && !/^[{[]/.test(written)) texts.set(name, written);
  }
  return texts;
}

export interface WrittenMember {
  /** JSON, byte for byte, without the space around it. */
  readonly text: string;
  /** Index of its first byte among the object's bytes. */
  readonly start: number;
  readonly end: number;
}

/**
 * The members of an object, each as it is written. An ASCII object is decoded once for all of them.
 *
 * @param bytes JSON
 * @param names of ASCII characters; default all
 * @returns undefined when the JSON is no object
 */
export function writtenMembers(
  bytes: Uint8Array,
  names?: readonly string[],
): ReadonlyMap<string, WrittenMember> | undefined {
  const members = new Map<string, WrittenMember>();
  const whole = decodeUtf8(bytes);
  const isAscii = whole.length === bytes.length;
  const isObject = visitMembers(bytes, names, (name, start, after) => {
    let end = after;
    while (bytes[end - 1]! <= 0x20) end--;
    const text = isAscii ? whole.slice(start, end) : decodeUtf8(bytes.subarray(start, end));
    members.set(name, { text, start, end });
  });
  return isObject ? members : undefined;
}

/** JSON text, byte for byte, without the space around it. */
export const textOf = (bytes: Uint8Array): string => decodeUtf8(bytes).trim();
