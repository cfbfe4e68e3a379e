/** Converts a caller's request to the one form that is both signed and sent. */

import { type Pair, percentEncode } from './canonical.ts';
import { SignError } from './errors.ts';

/** `null` and `undefined` mean absent; `['A', 'B']` becomes `A,B`, the interface's form of several values. */
export type QueryValue = string | number | boolean | readonly (string | number)[] | null | undefined;

/** An object, or pairs when a name occurs more than once, such as `URLSearchParams`. */
export type Query = Iterable<readonly [string, QueryValue]> | { readonly [name: string]: QueryValue };

export interface SignInput {
  /** Default: POST with a body, else GET. */
  readonly method?: 'GET' | 'POST';
  /**
   * Absolute; a query in it comes before `query`. User info and fragment are not sent, and dot segments are
   * resolved as in every URL: the result's `url` is what was signed.
   */
  readonly url: string | URL;
  readonly query?: Query;
  /** Text is sent verbatim; anything else is serialised once, compactly. `''` is no body. */
  readonly body?: string | object | null | undefined;
}

interface PlainRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly host: string;
  readonly path: string;
  readonly query: readonly Pair[];
  readonly body: string;
}

/** Whether the connection keeps the request from third parties: https, or loopback. */
export const isPrivate = ({ protocol, hostname }: URL) =>
  protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1])$/.test(hostname));

/** Whether a path is sent in the same characters in which it is signed. */
export const isPlainPath = (path: string) => !/[^\w.~/-]/.test(path);

/** @throws SignError for a request that would be sent in another form than the signed one */
export function toPlainRequest(input: SignInput): PlainRequest {
  const body = bodyText(input.body);
  const method = input.method ?? (body ? 'POST' : 'GET');
  if (!/^(GET|POST)$/.test(method) || (body && method === 'GET'))
    throw new SignError('invalid_method', 'GET without body, or POST');
  refuseLoneSurrogate(`${input.url}`);

  let url: URL;
  try {
    url = new URL(input.url);
  } catch {
    throw new SignError('invalid_url', 'not an absolute URL');
  }
  const { host, pathname: path } = url;
  if (!isPrivate(url)) throw new SignError('invalid_url', 'neither https nor loopback');
  if (!isPlainPath(path)) throw new SignError('path_not_plain', path);

  const query: Pair[] = url.search ? [...url.searchParams] : [];
  const more = input.query ?? {};
  for (const [name, value] of Symbol.iterator in more ? more : Object.entries(more))
    if (value != null) query.push([name, queryText(name, value)]);

  let sent = '';
  for (const [name, value] of query) {
    refuseLoneSurrogate(`${name} ${value}`);
    sent += `${sent ? '&' : '?'}${percentEncode(name)}=${percentEncode(value)}`;
  }
  return { method, url: url.origin + path + sent, host, path, query, body };
}

function queryText(name: string, value: QueryValue): string {
  for (const one of Array.isArray(value) ? value : [value])
    if (!/^[sb]/.test(typeof one) && !Number.isFinite(one)) throw new SignError('invalid_query', name);
  return `${value}`;
}

function bodyText(body: SignInput['body']): string {
  let text: string | undefined;
  try {
    if (body == null || typeof body === 'string') text = body ?? '';
    else if (typeof body === 'object') text = JSON.stringify(body, faithful);
  } catch {}
  if (text === undefined) throw new SignError('invalid_body', 'not JSON');
  return refuseLoneSurrogate(text);
}

/**
 * Throws for what JSON would carry as something else: bytes, forms and maps as an object of indices or an empty one, `NaN`
 * as null, a function not at all. An absent member stays absent.
 */
function faithful(this: unknown, _name: string, value: unknown): unknown {
  const isAbsent = value === undefined && !Array.isArray(this);
  if (
    !isAbsent &&
    !/ (Object|Array|Null|String|Boolean)]$/.test({}.toString.call(value)) &&
    !Number.isFinite(value)
  )
    throw new TypeError();
  return value;
}

export function refuseLoneSurrogate(text: string): string {
  if (/[\ud800-\udfff]/u.test(text)) throw new SignError('lone_surrogate', 'no UTF-8 form');
  return text;
}
