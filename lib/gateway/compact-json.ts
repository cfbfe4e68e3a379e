/**
 * A client's JSON body in the form of the interface's "Body rules", with every token unchanged: key order, `1.10` and
 * long integers stay as the client wrote them. Parsing and serialising would change all three.
 */

import type { GenericSchema } from 'valibot';
import { isDecimal, itemOf, memberOf } from '../catalogue/places.ts';
import { jsonFault } from '../kernel/json-fault.ts';

export type CompactJson =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly detail: string };

/**
 * Removes white space between tokens and reverses the escapes `\u003c`, `\u003e`, `\u0026` (rule 3). Refuses a text
 * that is not JSON, and an object with a duplicate key: parsers differ on which of the two counts.
 *
 * @param schema where it has a decimal, a JSON number is put in quotes, as the interface wants it, with the digits that
 * the client wrote. One with an exponent is not: programs write it for a binary number, which may have lost digits.
 *
 * @example
 * compactJson('{ "price": 1.10 }'); // { ok: true, text: '{"price":1.10}', value: { price: 1.1 } }
 */
export function compactJson(source: string, schema?: GenericSchema): CompactJson {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    const fault = jsonFault(source);
    return { ok: false, detail: `The body is not valid JSON${fault === undefined ? '' : `: ${fault}`}.` };
  }
  // The source is valid from here on, so a token's first character identifies it.
  const tokens = /["{}[\],:]|[^\s{}[\],:"]+/g;
  const position = new Position(schema);
  let text = '';
  let lastString = '';
  let isValueOfText = true;
  for (let match = tokens.exec(source); match; match = tokens.exec(source)) {
    const [token] = match;
    if (token === '"') {
      tokens.lastIndex = endOfString(source, match.index);
      lastString = source.slice(match.index, tokens.lastIndex);
      text += compactString(lastString);
    } else if (plainNumber.test(token) && position.wantsDecimal()) {
      text += `"${token}"`;
      isValueOfText = false;
    } else {
      const twice = position.pass(token, lastString);
      if (twice !== undefined) return { ok: false, detail: `The key ${JSON.stringify(twice)} occurs twice.` };
      text += token;
    }
  }
  return { ok: true, text, value: isValueOfText ? value : JSON.parse(text) };
}

const plainNumber = /^-?\d+(\.\d+)?$/;

interface OpenContainer {
  /** Of an object alone. */
  readonly keys?: Set<string>;
  readonly schema: GenericSchema | undefined;
}

/** Where in the document the next value stands, and the keys of the objects around it. */
class Position {
  #schema: GenericSchema | undefined;
  readonly #open: OpenContainer[] = [];

  constructor(schema: GenericSchema | undefined) {
    this.#schema = schema;
  }

  wantsDecimal(): boolean {
    return this.#schema !== undefined && isDecimal(this.#schema);
  }

  /** @returns the key before a colon, where its object has it already */
  pass(token: string, lastString: string): string | undefined {
    const schema = this.#schema;
    const around = this.#open.at(-1);
    if (token === '{') this.#open.push({ keys: new Set(), schema });
    else if (token === '[') {
      this.#open.push({ schema });
      this.#schema = schema && itemOf(schema);
    } else if (token === '}' || token === ']') this.#open.pop();
    else if (token === ',' && !around?.keys) this.#schema = around?.schema && itemOf(around.schema);
    else if (token === ':') {
      const key: string = JSON.parse(lastString);
      if (around?.keys?.has(key)) return key;
      around?.keys?.add(key);
      this.#schema = around?.schema && memberOf(around.schema, key);
    }
    return undefined;
  }
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
