/**
 * Finds where a text stops being JSON, and what is expected there. The messages of `JSON.parse` differ between engines and
 * quote the text; these messages hold a place and nothing of the text.
 */

/** Descriptions of the tokens that may stand at a place. */
const expectations = {
  value: 'a value is expected',
  'value or ]': 'a value or ] is expected',
  'name or }': 'a name in double quotes or } is expected',
  name: 'a name in double quotes is expected after the comma',
  colon: 'a colon is expected',
  'comma or }': 'a comma or } is expected',
  'comma or ]': 'a comma or ] is expected',
  end: 'the end is expected',
} as const;

type Expected = keyof typeof expectations;

/**
 * Describes the fault of a text that `JSON.parse` has refused.
 *
 * @returns undefined when the text is JSON
 *
 * @example
 * jsonFault('{ "a": 1,\n}'); // 'at line 2, column 1 a name in double quotes is expected after the comma'
 * jsonFault('[1'); // 'it ends at line 1, column 3, where a comma or ] is expected'
 */
export function jsonFault(text: string): string | undefined {
  if (text.startsWith('\ufeff')) return 'it begins with a byte order mark';
  if (afterSpace(text, 0) === text.length) return 'it is empty';
  const fault = faultIn(text);
  if (!fault) return undefined;
  const { at, what } = fault;
  const place = placeOf(text, at);
  return at < text.length ? `at ${place} ${what}` : `it ends at ${place}, where ${what}`;
}

interface JsonFault {
  readonly at: number;
  readonly what: string;
}

const unexpectedAt = (at: number, expected: Expected): JsonFault => ({ at, what: expectations[expected] });

function faultIn(text: string): JsonFault | undefined {
  /** The brackets that are open, the innermost last. */
  const open: ('{' | '[')[] = [];
  const afterValue = (): Expected => {
    const innermost = open.at(-1);
    if (innermost === undefined) return 'end';
    return innermost === '{' ? 'comma or }' : 'comma or ]';
  };
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at = afterSpace(text, at);
    const char = text[at];
    if (char === undefined && expected === 'end') return undefined;
    if (expected === 'colon') {
      if (char !== ':') return unexpectedAt(at, expected);
      expected = 'value';
      at++;
    } else if (char === ',' && (expected === 'comma or }' || expected === 'comma or ]')) {
      expected = expected === 'comma or }' ? 'name' : 'value';
      at++;
    } else if ((char === '}' || char === ']') && expected.at(-1) === char) {
      open.pop();
      expected = afterValue();
      at++;
    } else if (expected === 'name' || expected === 'name or }') {
      if (char !== '"') return unexpectedAt(at, expected);
      const end = afterString(text, at);
      if (typeof end === 'object') return end;
      expected = 'colon';
      at = end;
    } else if (expected !== 'value' && expected !== 'value or ]') return unexpectedAt(at, expected);
    else if (char === '{' || char === '[') {
      open.push(char);
      expected = char === '{' ? 'name or }' : 'value or ]';
      at++;
    } else {
      const end = char === '"' ? afterString(text, at) : afterWord(text, at);
      if (end === undefined) return unexpectedAt(at, expected);
      if (typeof end === 'object') return end;
      expected = afterValue();
      at = end;
    }
  }
}

/** Skips JSON's white space, which has fewer characters than `\s`. */
function afterSpace(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return at;
}

const knownEscape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const numberOrWord = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null/y;

/** The index after the closing quote, or the fault before it. */
function afterString(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') return at + 1;
    if (char < ' ') return { at, what: 'a text has a raw control character, such as a line break' };
    if (char !== '\\') continue;
    knownEscape.lastIndex = at + 1;
    if (!knownEscape.test(text)) return { at, what: 'an escape that JSON knows is expected' };
    at = knownEscape.lastIndex - 1;
  }
  return { at: text.length, what: 'a closing double quote is expected' };
}

/** The index after a number or one of the words `true`, `false` and `null`. */
function afterWord(text: string, start: number): number | undefined {
  numberOrWord.lastIndex = start;
  return numberOrWord.test(text) ? numberOrWord.lastIndex : undefined;
}

/** Line and column, both from 1; a column is one character, of any number of bytes. */
function placeOf(text: string, at: number): string {
  let line = 1;
  let column = 1;
  for (let index = 0; index < at; index++) {
    const char = text[index]!;
    const isBreak = char === '\n' || char === '\r';
    if (isBreak && !(char === '\n' && text[index - 1] === '\r')) line++;
    if (isBreak) column = 1;
    // The second half of a surrogate pair is no character of its own.
    else if (char < '\udc00' || char > '\udfff') column++;
  }
  return `line ${line}, column ${column}`;
}
