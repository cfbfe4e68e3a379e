/** Log of the requests that arrived at the simulated upstream, for tests. */

import type { ApiFault } from './faults.ts';

export interface ReceivedHeaders {
  /** X-Request-Id of the answer. */
  readonly requestId: string;
  readonly method: string;
  /** Path and query exactly as in the request line. */
  readonly target: string;
  /** Headers with names in lower case; the lines of a repeated one are joined with a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the body, cut after 32 768 characters. */
  readonly body: string;
  /** The upstream's clock on arrival, Unix time in milliseconds. */
  readonly time: number;
  /** `ok`, the error code of the refusal, `unknown-path`, `other-method` or `fault` (nothing executed). */
  readonly outcome: string;
  /** Fault that was caused, if any. */
  readonly fault: ApiFault['kind'] | undefined;
}

const keptRequests = 10_000;
const keptCharacters = 32_768;

/** Remembers the last 10 000 requests and counts all of them. */
export class ReceivedLog {
  readonly #requests: ReceivedHeaders[] = [];
  readonly #counts = new Map<string, number>();

  get requests(): readonly ReceivedHeaders[] {
    return this.#requests;
  }

  /** Number of requests with each outcome, since the start. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  add(request: ReceivedHeaders): void {
    this.#requests.push({ ...request, body: request.body.slice(0, keptCharacters) });
    if (this.#requests.length > keptRequests) this.#requests.shift();
    this.#counts.set(request.outcome, (this.#counts.get(request.outcome) ?? 0) + 1);
  }
}

/** Converts header lines to an object. */
export function headersOf(rawHeaders: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const value = rawHeaders[at + 1]!;
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
