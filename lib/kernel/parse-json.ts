/** Reads JSON text from outside, and rounds no id and no cursor in it. */

/**
 * Parses JSON. A whole number from 2^53 on becomes a text of the same digits: a binary number would be another record's id.
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

/** Where a value begins; inside a text, a false alarm costs no more than time. */
const longNumber = /(?:^|[:[,])\s*-?\d{16}/;

/** Token by token: an expression that matches a whole text overflows the stack in one of some megabytes. */
function withLongNumbersAsText(json: string): string {
  let isInText = false;
  return json.replace(/\\.|"|-?\d[\d.eE+-]*/g, (token) => {
    if (token === '"') isInText = !isInText;
    const isLong = !isInText && /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
    return isLong ? `"${token}"` : token;
  });
}
