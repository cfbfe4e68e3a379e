/**
 * From a schema's issue to a fault. Gateway, client and events share the facts and each has its own words for them,
 * because each is read elsewhere: in a problem's list, in an error's message, in a reply.
 */

import type { BaseIssue } from 'valibot';

/** One wrong place. */
export interface PlaceFault {
  /** A parameter's name, or the place in a body. */
  readonly name: string;
  readonly detail: string;
  /** What would be right. */
  readonly allowed?: string;
  readonly received?: string;
}

export interface FaultWords {
  /** The member is missing. */
  readonly missing: string;
  /** The value has another type or form. */
  readonly notAllowed: string;
  /** The value has the right type, but breaks a bound. */
  readonly outOfBounds: string | ((issue: BaseIssue<unknown>) => string);
}

/**
 * Names the place by its JSON Pointer, `/` for the whole value. `received` is the value as the schema
 * library prints it, not shortened; it and `allowed` are absent where the member is missing.
 */
export function faultOf(issue: BaseIssue<unknown>, words: FaultWords): PlaceFault {
  const name = (issue.path ?? []).map(({ key }) => `/${toPointerPart(String(key))}`).join('') || '/';
  if (issue.received === 'undefined') return { name, detail: words.missing };
  // The catalogue's message describes a format in words; the schema library has only the expression.
  const isFormat = issue.type === 'regex' || issue.type === 'iso_date';
  const { outOfBounds } = words;
  return {
    name,
    detail:
      issue.kind === 'schema' || isFormat
        ? words.notAllowed
        : typeof outOfBounds === 'string'
          ? outOfBounds
          : outOfBounds(issue),
    allowed: isFormat ? issue.message : (inWords(issue) ?? issue.message),
    received: issue.received,
  };
}

/** The schema library has several values as a type: `("BUY" | "SELL")`. */
const inWords = ({ type, expected }: BaseIssue<unknown>) =>
  type === 'picklist' ? `one of ${expected?.replace(/[()"]/g, '').replaceAll(' |', ',')}` : expected;

/** RFC 6901: a name as a part of a JSON Pointer, which gives two characters a meaning. */
export const toPointerPart = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

const maxShown = 100;

/** A received value may be as long as its sender likes; a fault shows its start. */
export const shorten = (text: string) => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);

/**
 * Why a query parameter cannot be signed. The algorithm joins names and values without escaping, so that one
 * with a separator in it would sign like other parameters; half of a surrogate pair has no UTF-8 form to sign.
 */
export function unsignable(name: string, value: string): 'separator' | 'lone-surrogate' | undefined {
  if (/[&=]/.test(name) || value.includes('&')) return 'separator';
  return /\p{Cs}/u.test(name + value) ? 'lone-surrogate' : undefined;
}
