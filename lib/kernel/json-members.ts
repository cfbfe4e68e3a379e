/** Members of a JSON object as texts. A number stays as it was written: parsing would round it. */

import { isJson, membersOf, textAt } from './json-scan.ts';

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

/** JSON text, byte for byte, without the space around it. */
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).trim();
