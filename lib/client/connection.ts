/** What a client talks to: where it is, and what a request there must carry. */

import type { ClientRequest } from './request.ts';

/** Exactly what to send, once. */
export interface PreparedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Connection {
  /**
   * Signs, or puts key and token in. Called once for each request; what it throws reaches the caller as it
   * is, and nothing was sent then.
   */
  prepare(request: ClientRequest): Promise<PreparedRequest>;
  /** Default: the runtime's own, looked up at each call. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A text, or a function that is asked before each request. */
export type TextSource = string | (() => string | Promise<string>);

const allowedUrl =
  /^(https:\/\/[^\s/\\?#@]+|http:\/\/(localhost|127(\.\d+){3}|\[::1])(:\d+)?)(\/[\w.~/-]*)?$/i;

/**
 * The form that paths are put after. Read by hand: React Native's URL cannot tell its own parts.
 * @throws TypeError unless it is https, or http on loopback, with nothing after the path
 */
export function checkBaseUrl(text: string): string {
  if (!allowedUrl.test(text))
    throw new TypeError(
      'baseUrl: https, or http on loopback, without credentials, query, fragment or characters to escape',
    );
  return text.replace(/\/+$/, '');
}

/** @throws TypeError for what a header would not carry as it is; the value is a secret and not named */
export async function textOf(source: TextSource, name: string): Promise<string> {
  return checkToken(typeof source === 'function' ? await source() : source, name);
}

export function checkToken(text: unknown, name: string): string {
  if (typeof text !== 'string' || !/^[!-~]+$/.test(text))
    throw new TypeError(`${name}: visible ASCII characters without spaces`);
  return text;
}
