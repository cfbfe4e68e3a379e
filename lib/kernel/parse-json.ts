/** Parses JSON text from outside without rounding an id or a cursor in it. */

/**
 * Parses JSON. A whole number from 2^53 on becomes a text of the same digits: rounded, it could be another record's id.
 *
 * @returns undefined for a text that is no JSON
 * @example
 * parseJson('{"id":9007199254740993}'); // { id: '9007199254740993' }
 */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return longNumber.test(text) ? JSON.parse(withLongNumbersAsText(text)) : value;
  } catch {
    return undefined;
  }
}

/** Long digits where a value begins. A match inside a text is a false alarm and costs no more than time. */
const longNumber = /(?:^|[:[,])\s*-?\d{16}/;

/** Replaces token by token: an expression that matches a whole string overflows the stack at some megabytes. */
function withLongNumbersAsText(json: string): string {
  let isInText = false;
  return json.replace(/\\.|"|-?\d[\d.eE+-]*/g, (token) => {
    if (token === '"') isInText = !isInText;
    const isLong = !isInText && /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
    return isLong ? `"${token}"` : token;
  });
}
