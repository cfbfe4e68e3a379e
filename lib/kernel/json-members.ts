/** Members of a JSON object as texts. A number stays as it was written: parsing would round it. */

import { isJson, membersOf, textAt, visitMembers } from './json-scan.ts';

/**
 * @param json an object
 * @returns the named members that are text, number or boolean; undefined for what is no object
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
    // A text may begin as an object or a list does.
    if (text !== undefined) texts.set(name, text);
    else if (written !== 'null' && !/^[{[]/.test(written)) texts.set(name, written);
  }
  return texts;
}

export interface WrittenMember {
  /** JSON, byte for byte, without the space around it. */
  readonly text: string;
  /** Where it stands in the bytes of the object. */
  readonly start: number;
  readonly end: number;
}

/**
 * The members of an object, each as it is written. One decoding serves all of them, where the object is ASCII.
 *
 * @param bytes JSON
 * @param names of ASCII characters; default all
 * @returns undefined for what is no object
 */
export function writtenMembers(
  bytes: Uint8Array,
  names?: readonly string[],
): ReadonlyMap<string, WrittenMember> | undefined {
  const members = new Map<string, WrittenMember>();
  const whole = decoder.decode(bytes);
  const isAscii = whole.length === bytes.length;
  const isObject = visitMembers(bytes, names, (name, start, after) => {
    let end = after;
    while (bytes[end - 1]! <= 0x20) end--;
    const text = isAscii ? whole.slice(start, end) : decoder.decode(bytes.subarray(start, end));
    members.set(name, { text, start, end });
  });
  return isObject ? members : undefined;
}

const decoder = new TextDecoder();

/** JSON text, byte for byte, without the space around it. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes).trim();
