/** Reads the JSON objects of a token, and refuses texts that two readers could understand in two ways. */

/**
 * @returns undefined for bytes that are not UTF-8, not JSON or no object, and for an object in which a name comes twice:
 *   of such a pair one reader takes the first and another the last
 */
export function strictObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    if (namesIn(text) !== Object.keys(value).length) return undefined;
    // Without a prototype, so that a claim's name finds a claim and nothing else.
    return Object.assign(Object.create(null), value);
  } catch {
    return undefined;
  }
}

/** How many members the outer object of a JSON text has. */
function namesIn(text: string): number {
  let depth = 0;
  let names = 0;
  // Each text as a whole, so that no bracket or colon in one counts.
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (part === '{' || part === '[') depth++;
    else if (part === '}' || part === ']') depth--;
    else if (part === ':' && depth === 1) names++;
  }
  return names;
}
