/**
 * Connects the page to its gateway by an API key and, once a user has signed in, the user's token. The page is a client
 * like any other; a local run answers further calls to the operator's key.
 */

import { signal } from '@preact/signals';
import { mayHaveTakenEffect } from '../../lib/client/answer.ts';
import type { Connection } from '../../lib/client/connection.ts';

const metaContent = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** Address from the page's own `meta`, in a bundle for a deployment; a local run serves the page from its own origin. */
const baseUrl = metaContent('gateway') || location.origin;
/** Whether the page is hosted on another origin than its deployed gateway. */
export const isHosted = metaContent('gateway') !== '';
export const isOwnIssuer = metaContent('issuer') === '';
export const issuerUrl = metaContent('issuer') || `${location.origin}/issuer`;
export const clientId = metaContent('client-id') || 'page';

const storageKeys = { key: 'countersign-api-key', token: 'countersign-token' } as const;

/** Session storage keeps both over a reload, and nothing else does. */
export const key = signal(sessionStorage.getItem(storageKeys.key) ?? '');
export const token = signal(sessionStorage.getItem(storageKeys.token) ?? '');
/** Whether the gateway is a local run; undefined until it has answered. */
export const isLocal = signal<boolean | undefined>(undefined);
/** Gateway's words on the last refusal of the key. */
export const keyFault = signal('');
/** Reason why no answer can be read; empty while answers can. */
export const silence = signal('');
/** Reason why the page has signed a user out. */
export const tokenFault = signal('');

export function useKey(text: string): void {
  key.value = text;
  keyFault.value = '';
  sessionStorage.setItem(storageKeys.key, text);
}

export function useToken(text: string): void {
  tokenFault.value = '';
  token.value = text;
  if (text) sessionStorage.setItem(storageKeys.token, text);
  else sessionStorage.removeItem(storageKeys.token);
}

/** Shares the key among tabs: a console's link opens a tab without one, and the address of the link has none. */
export function shareKey(): void {
  const channel = new BroadcastChannel('countersign-key');
  channel.onmessage = ({ data }: MessageEvent<{ key?: string }>) => {
    if (data.key && !key.value) useKey(data.key);
    else if (!data.key && key.value) channel.postMessage({ key: key.value });
  };
  if (!key.value) channel.postMessage({});
}

/** Call in a form that can be copied. */
export interface ApiCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GatewayAnswer<T> {
  /** Status of the answer; 0 if none came. */
  readonly status: number;
  readonly value: T | undefined;
  readonly header: (name: string) => string | null;
  /** Code and detail of a refusal. */
  readonly code?: string;
  readonly detail?: string;
  /** Whether a refused request may have taken effect. */
  readonly isOpen?: boolean;
}

export function urlOf({ path, query = {} }: ApiCall): string {
  const search = new URLSearchParams(query).toString().replaceAll('%2C', ',');
  return `${baseUrl}${path}${search && `?${search}`}`;
}

const credentials = (): Record<string, string> => ({
  ...(key.value && { 'x-api-key': key.value }),
  ...(token.value && { authorization: `Bearer ${token.value}` }),
});

/** Finds out why answers stay away: a browser only shows whether a response that scripts may not read comes. */
export async function lookAtGateway(): Promise<void> {
  const comes = (mode: RequestMode) =>
    fetch(`${baseUrl}/health`, { mode }).then(
      () => true,
      () => false,
    );
  if (await comes('cors')) silence.value = '';
  else if (await comes('no-cors'))
    silence.value = `The gateway ${baseUrl} answers, but lets no page of ${location.origin} read its answers: its cors.origins must name this origin.`;
  else silence.value = `The gateway ${baseUrl} does not answer. Is it there, and does the network reach it?`;
}

/** Sends a call. Never rejects: a missing answer has the status 0. */
export async function send<T>(call: ApiCall): Promise<GatewayAnswer<T>> {
  const { method, body, headers } = call;
  try {
    const response = await fetch(urlOf(call), {
      method,
      headers: {
        accept: 'application/problem+json, application/json',
        ...credentials(),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const value = (await response.json().catch(() => undefined)) as T & Readonly<Record<string, string>>;
    const header = (name: string) => response.headers.get(name);
    silence.value = '';
    if (response.ok) return { status: response.status, value, header };
    const { code = `${response.status}`, detail = response.statusText } = value ?? {};
    noteKey(code, detail);
    const facts = { status: response.status, code: value?.code, errorCode: value?.error_code };
    const isOpen = mayHaveTakenEffect(facts, value);
    return { status: response.status, value: undefined, header, code, detail, isOpen };
  } catch {
    void lookAtGateway();
    const detail = 'No answer came. Is the gateway running, and does it allow this origin?';
    return { status: 0, value: undefined, header: () => null, code: 'no_answer', detail };
  }
}

function noteKey(code: string, detail: string): void {
  if (/^(missing|unknown)_api_key$/.test(code)) keyFault.value = detail;
  if (!/^(invalid|missing)_token$/.test(code) || !token.value) return;
  useToken('');
  tokenFault.value = `Signed out. ${detail}`;
}

/** Connection for the streams of the library's client. */
export const connection: Connection = {
  async prepare({ operation: { method }, path, query, headers }) {
    const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
    return {
      method,
      url: `${baseUrl}${path}${search && `?${search}`}`,
      headers: { accept: 'application/problem+json, application/json', ...headers, ...credentials() },
    };
  },
};

/** Formats a time with the same width in every language, as columns need it. */
export const clock = (ms: number): string => new Date(ms).toLocaleTimeString([], { hour12: false });

/** Makes an id even without a secure context, as on a phone in the same network. */
export function freshId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `${prefix}-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
