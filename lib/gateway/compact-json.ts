/**
 * A client's JSON body, brought to the interface's "Body rules" without touching a token: key order, `1.10`
 * and long integers stay what the client wrote. Parsing and writing again would change all three.
 */

export type CompactJson =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly detail: string };

/**
 * Drops white space between tokens and reverses the escapes `\u003c`, `\u003e`, `\u0026` (rule 3). Refuses
 * what is not JSON, and an object that names a key twice: readers differ on which of the two counts.
 */
export function compactJson(source: string): CompactJson {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return { ok: false, detail: 'The body is not valid JSON.' };
  }
  // From here on the source is known to be valid, so a token's first character tells what it is.
  const openObjects: (Set<string> | undefined)[] = [];
  const tokens = /["{}[\],:]|[^\s{}[\],:"]+/g;
  let text = '';
  let lastString = '';
  for (let match = tokens.exec(source); match; match = tokens.exec(source)) {
    const [token] = match;
    if (token === '"') {
      tokens.lastIndex = endOfString(source, match.index);
      lastString = source.slice(match.index, tokens.lastIndex);
      text += compactString(lastString);
      continue;
    }
    if (token === '{') openObjects.push(new Set());
    else if (token === '[') openObjects.push(undefined);
    else if (token === '}' || token === ']') openObjects.pop();
    else if (token === ':') {
      const key: string = JSON.parse(lastString);
      const keys = openObjects.at(-1);
      if (keys?.has(key)) return { ok: false, detail: `The key ${JSON.stringify(key)} occurs twice.` };
      keys?.add(key);
    }
    text += token;
  }
  return { ok: true, text, value };
}

/** By hand: an expression that steps over escapes runs out of stack in a string of some megabytes. */
function endOfString(source: string, start: number): number {
  let at = start + 1;
  while (source[at] !== '"') at += source[at] === '\\' ? 2 : 1;
  return at + 1;
}

const htmlEscapes: Readonly<Record<string, string>> = { '\\u003c': '<', '\\u003e': '>', '\\u0026': '&' };

/** Reads escape by escape, so that the `u003c` after an escaped backslash is left alone. */
const compactString = (token: string) =>
  token.replace(/\\(?:u[0-9a-fA-F]{4}|.)/g, (sequence) => htmlEscapes[sequence] ?? sequence);
