/** Checks the result of a Lambda function under proxy integration, and makes it an HTTP response. */

import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import * as v from 'valibot';

export interface HttpResponse {
  readonly status: number;
  /** Values by name; each value is a header line. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Uint8Array;
  /** Replaces the body: writes until the client leaves, or ends the response by itself. */
  readonly stream?: (response: ServerResponse) => void;
}

const headerValue = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

const proxyResult = v.object({
  // No informational status: after one of these a client waits on for the final one.
  statusCode: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
  headers: v.nullish(v.record(v.string(), headerValue), {}),
  multiValueHeaders: v.nullish(v.record(v.string(), v.array(headerValue)), {}),
  body: v.string(),
  isBase64Encoded: v.nullish(v.boolean(), false),
});

/** Headers of the connection or of API Gateway, which renames them instead of sending them on. */
const remappedHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'server',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
]);

/** Throws when the result is malformed, cannot be sent, or is larger than API Gateway lets through. */
export function responseOf(result: unknown, maxBytes: number): HttpResponse {
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = v.parse(proxyResult, result);
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > maxBytes) {
    throw new RangeError(`The answer has ${bytes.length} bytes, more than API Gateway's ${maxBytes}.`);
  }
  return { status: statusCode, headers: mergeHeaders(headers, multiValueHeaders), body: bytes };
}

/** Merges both header maps, names without regard to case; a pair in both is sent once. */
function mergeHeaders(
  single: Readonly<Record<string, string>>,
  multiple: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>();
  const take = (name: string, values: readonly string[]): void => {
    validateHeaderName(name);
    for (const value of values) validateHeaderValue(name, value);
    const lower = name.toLowerCase();
    const key = remappedHeaders.has(lower) ? `x-amzn-remapped-${lower}` : lower;
    all.set(key, [...(all.get(key) ?? []), ...values]);
  };
  for (const [name, values] of Object.entries(multiple)) take(name, values);
  for (const [name, value] of Object.entries(single)) {
    if (!all.get(name.toLowerCase())?.includes(value)) take(name, [value]);
  }
  // A REST API gives a response this type when the function gives none.
  if (!all.has('content-type')) all.set('content-type', ['application/json']);
  return all;
}
