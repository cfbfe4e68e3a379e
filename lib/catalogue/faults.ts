/**
 * Converts a schema's issue to a fault. Gateway, client and events share the facts but word them differently, because each
 * text is read in another place: in a problem's list, in an error's message, in a reply.
 */

import type { BaseIssue } from 'valibot';

/** A fault at one place of a request. */
export interface PlaceFault {
  /** Name of a parameter, or JSON Pointer into a body. */
  readonly name: string;
  readonly detail: string;
  /** Values or form that would be accepted. */
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
 * Names the place by its JSON Pointer, `/` for the whole value. `received` is the value as the schema library prints it,
 * not shortened; both `received` and `allowed` are absent if the member is missing.
 */
export function faultOf(issue: BaseIssue<unknown>, words: FaultWords): PlaceFault {
  const name = (issue.path ?? []).map(({ key }) => `/${toPointerPart(String(key))}`).join('') || '/';
  if (issue.received === 'undefined') return { name, detail: words.missing };
  // For a format, the catalogue's message has words; the schema library has only the regular expression.
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

/** Rewrites the schema library's list of values, `("BUY" | "SELL")`, in words. */
const inWords = ({ type, expected }: BaseIssue<unknown>) =>
  type === 'picklist' ? `one of ${expected?.replace(/[()"]/g, '').replaceAll(' |', ',')}` : expected;

/** Escapes a name for a JSON Pointer, in which two characters have a meaning (RFC 6901). */
export const toPointerPart = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

const maxShown = 100;

/** Cuts a received value, which may be as long as its sender likes, to its start. */
export const shorten = (text: string) => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);

/**
 * Tells why a query parameter cannot be signed; undefined if it can. The algorithm joins names and values without escaping,
 * so that a value with a separator would have the signature of other parameters; half of a surrogate pair has no UTF-8 form.
 */
export function unsignable(name: string, value: string): 'separator' | 'lone-surrogate' | undefined {
  if (/[&=]/.test(name) || value.includes('&')) return 'separator';
  return /\p{Cs}/u.test(name + value) ? 'lone-surrogate' : undefined;
}
