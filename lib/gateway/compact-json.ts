/**
 * A client's JSON body in the form of the interface's "Body rules", with every token unchanged: key order, `1.10` and
 * long integers stay as the client wrote them. Parsing and serialising would change all three.
 */

export type CompactJson =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly detail: string };

/**
 * Removes white space between tokens and reverses the escapes `\u003c`, `\u003e`, `\u0026` (rule 3). Refuses a text
 * that is not JSON, and an object with a duplicate key: parsers differ on which of the two counts.
 *
 * @example
 * compactJson('{ "price": 1.10 }'); // { ok: true, text: '{"price":1.10}', value: { price: 1.1 } }
 */
export function compactJson(source: string): CompactJson {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return { ok: false, detail: 'The body is not valid JSON.' };
  }
  // The source is valid from here on, so a token's first character identifies it.
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

/** A loop: a regular expression that skips escapes overflows the stack in a string of some megabytes. */
function endOfString(source: string, start: number): number {
  let at = start + 1;
  while (source[at] !== '"') at += source[at] === '\\' ? 2 : 1;
  return at + 1;
}

const htmlEscapes: Readonly<Record<string, string>> = { '\\u003c': '<', '\\u003e': '>', '\\u0026': '&' };

/** Escape by escape, so that a `u003c` after an escaped backslash stays as it is. */
const compactString = (token: string) =>
  token.replace(/\\(?:u[0-9a-fA-F]{4}|.)/g, (sequence) => htmlEscapes[sequence] ?? sequence);
