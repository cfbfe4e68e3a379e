/**
 * Rewrites a client's JSON body to the interface's "Body rules" without parsing and serialising it, which would change key
 * order, `1.10` and long integers.
 */

import type { GenericSchema } from 'valibot';
import { isDecimal, itemOf, memberOf } from '../catalogue/places.ts';
import { jsonFault } from '../kernel/json-fault.ts';
import { backslash, closeBracket, colon, comma, openBracket, quote } from '../kernel/json-scan.ts';

export type CompactJson =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly detail: string };

/**
 * Removes white space between tokens and reverses the escapes `\u003c`, `\u003e`, `\u0026` (rule 3). Refuses a text
 * that is not JSON, an object with a duplicate key, because parsers differ on which of the two counts, and a body
 * with more members, levels or tokens than any good body has.
 *
 * @param schema where it expects a decimal, a JSON number is put in quotes, as the interface wants it, with the client's
 * digits. A number with an exponent stays as it is: programs write one for a binary number, which may have lost digits.
 *
 * @example
 * compactJson('{ "price": 1.10 }'); // { ok: true, text: '{"price":1.10}', value: { price: 1.1 } }
 */
export function compactJson(source: string, schema?: GenericSchema): CompactJson {
  const tooMuch = bodySizeFault(source);
  if (tooMuch !== undefined) return { ok: false, detail: tooMuch };
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    const fault = jsonFault(source);
    return { ok: false, detail: `The body is not valid JSON${fault === undefined ? '' : `: ${fault}`}.` };
  }
  const compaction = new Compaction(source, schema);
  const detail = compaction.run();
  if (detail !== undefined) return { ok: false, detail };
  const { text, hasQuoted } = compaction;
  return { ok: true, text, value: hasQuoted ? JSON.parse(text) : value };
}

/** Most members of one object; the largest object of the catalogue has 35. */
const maxMembers = 1000;
/** Deepest nesting; clients' bodies have five levels. */
const maxDepth = 32;
/** Commas, colons and opening brackets; the largest placement, of 96 orders in 43 KiB, has some 5,000 as clients write them. */
const maxTokens = 8192;

/** Why a text is too large to parse: it has more levels or tokens than any good body. The text need not be JSON. */
function bodySizeFault(source: string): string | undefined {
  let depth = 0;
  let tokens = 0;
  let isInText = false;
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === quote) isInText = !isInText;
    else if (isInText) at += code === backslash ? 1 : 0;
    // In ASCII a brace is the bracket plus bit 0x20.
    else if ((code & ~0x20) === closeBracket) depth--;
    else if ((code & ~0x20) === openBracket || code === comma || code === colon) {
      if (code > colon && ++depth > maxDepth) return `The body has more than ${maxDepth} levels.`;
      if (++tokens > maxTokens) return `The body has more than ${maxTokens} values and names.`;
    }
  }
  return undefined;
}

const plainNumber = /^-?\d+(\.\d+)?$/;

const htmlEscapes: Readonly<Record<string, string>> = { '003c': '<', '003e': '>', '0026': '&' };

interface OpenContainer {
  readonly isObject: boolean;
  /** Created with the first key, because a body may have thousands of empty objects. */
  keys?: Set<string>;
  /** Schema of the object, or of the list's items. */
  readonly schema: GenericSchema | undefined;
}

/** One pass over a valid JSON text, where a token's first character identifies it. Copies unchanged text in long runs. */
class Compaction {
  text = '';
  /** Whether a number was put in quotes. */
  hasQuoted = false;
  readonly #source: string;
  /** Start of the text that is not copied yet. */
  #from = 0;
  /** Schema of the next value. */
  #schema: GenericSchema | undefined;
  /** Position of the last string; a colon after it makes it a key. */
  #string: readonly [start: number, end: number] = [0, 0];
  readonly #open: OpenContainer[] = [];
  /** Remembers which schemas are decimals, because a list may have thousands of numbers. */
  readonly #decimals = new Map<GenericSchema, boolean>();

  constructor(source: string, schema: GenericSchema | undefined) {
    this.#source = source;
    this.#schema = schema;
  }

  /** @returns why the text is refused */
  run(): string | undefined {
    const source = this.#source;
    for (let at = 0; at < source.length; ) {
      const code = source.charCodeAt(at);
      if (code <= 0x20) this.#replace(at, ++at, '');
      else if (code === quote) at = this.#passString(at);
      else if (code === colon) {
        const fault = this.#passKey();
        if (fault !== undefined) return fault;
        at++;
      } else if (punctuation.includes(source[at]!)) this.#passPunctuation(source[at++]!);
      else at = this.#passScalar(at);
    }
    this.#replace(source.length, source.length, '');
    return undefined;
  }

  #replace(start: number, end: number, by: string): void {
    if (start > this.#from) this.text += this.#source.slice(this.#from, start);
    this.text += by;
    this.#from = end;
  }

  /** Reads a string escape by escape, so that a `u003c` after an escaped backslash stays as it is. */
  #passString(start: number): number {
    const source = this.#source;
    let at = start + 1;
    for (let code = source.charCodeAt(at); code !== quote; code = source.charCodeAt(at)) {
      const char = code === backslash && source[at + 1] === 'u' && htmlEscapes[source.slice(at + 2, at + 6)];
      if (char) this.#replace(at, at + 6, char);
      at += char ? 6 : code === backslash ? 2 : 1;
    }
    this.#string = [start, at + 1];
    return at + 1;
  }

  #passKey(): string | undefined {
    const written = this.#source.slice(...this.#string);
    const key: string = written.includes('\\') ? JSON.parse(written) : written.slice(1, -1);
    // A colon stands only within an object, so one is open.
    const around = this.#open.at(-1)!;
    around.keys ??= new Set();
    if (around.keys.has(key)) return `The key ${JSON.stringify(key)} occurs twice.`;
    if (around.keys.size === maxMembers) return `An object of the body has more than ${maxMembers} members.`;
    around.keys.add(key);
    this.#schema = around.schema && memberOf(around.schema, key);
    return undefined;
  }

  #passPunctuation(token: string): void {
    const schema = this.#schema;
    if (token === '{') this.#open.push({ isObject: true, schema });
    else if (token === '[') {
      this.#schema = schema && itemOf(schema);
      this.#open.push({ isObject: false, schema: this.#schema });
    } else if (token === ',') {
      const around = this.#open.at(-1);
      if (!around?.isObject) this.#schema = around?.schema;
    } else this.#open.pop();
  }

  #passScalar(start: number): number {
    const source = this.#source;
    let at = start + 1;
    while (at < source.length && source.charCodeAt(at) > 0x20 && !punctuation.includes(source[at]!)) at++;
    if (this.#wantsDecimal()) {
      const token = source.slice(start, at);
      if (plainNumber.test(token)) {
        this.#replace(start, at, `"${token}"`);
        this.hasQuoted = true;
      }
    }
    return at;
  }

  #wantsDecimal(): boolean {
    const schema = this.#schema;
    if (!schema) return false;
    const known = this.#decimals.get(schema) ?? isDecimal(schema);
    this.#decimals.set(schema, known);
    return known;
  }
}

const punctuation = '{}[],';
