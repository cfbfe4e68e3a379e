/**
 * The gateway that the page calls, and who calls: a key, and beside it the token of a user who has signed in. The page is a
 * client as any other; what it can do besides, a local run answers to the operator's key.
 */

import { signal } from '@preact/signals';
import { mayHaveTakenEffect } from '../../lib/client/answer.ts';
import type { Connection } from '../../lib/client/connection.ts';

const named = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** Empty, as a local run serves it: the page's own origin. A bundle for a deployment names the gateway. */
export const baseUrl = named('gateway') || location.origin;
/** On another origin than the gateway's, for one that is deployed. */
export const isHosted = named('gateway') !== '';
export const isOwnIssuer = named('issuer') === '';
export const issuerUrl = named('issuer') || `${location.origin}/issuer`;
export const clientId = named('client-id') || 'page';

const kept = { key: 'countersign-api-key', token: 'countersign-token' } as const;

/** The tab keeps both over a reload, and no other place does. */
export const key = signal(sessionStorage.getItem(kept.key) ?? '');
export const token = signal(sessionStorage.getItem(kept.token) ?? '');
/** What a local run says of itself. Undefined: not known yet, or there is none. */
export const isLocal = signal<boolean | undefined>(undefined);
/** The last refusal of the key, as the gateway words it. */
export const keyFault = signal('');
/** Why no answer can be read. Empty: answers can be read. */
export const silence = signal('');
/** Why the page has signed a user out. */
export const tokenFault = signal('');

export function useKey(text: string): void {
  key.value = text;
  keyFault.value = '';
  sessionStorage.setItem(kept.key, text);
}

export function useToken(text: string): void {
  tokenFault.value = '';
  token.value = text;
  if (text) sessionStorage.setItem(kept.token, text);
  else sessionStorage.removeItem(kept.token);
}

/** A tab that a link of the console opens asks the others for the key: the address of that link has none. */
export function shareKey(): void {
  const channel = new BroadcastChannel('countersign-key');
  channel.onmessage = ({ data }: MessageEvent<{ key?: string }>) => {
    if (data.key && !key.value) useKey(data.key);
    else if (!data.key && key.value) channel.postMessage({ key: key.value });
  };
  if (!key.value) channel.postMessage({});
}

/** A call as it can be copied. */
export interface ApiCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GatewayAnswer<T> {
  /** 0: no answer came. */
  readonly status: number;
  readonly value: T | undefined;
  readonly header: (name: string) => string | null;
  /** Of a refusal. */
  readonly code?: string;
  readonly detail?: string;
  /** A refusal after which the request may have taken effect. */
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

/** A browser does not say why it keeps an answer back; one that no script may read still shows that the gateway is there. */
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

/** Never rejects: an answer that did not come is one with the status 0. */
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

/** For the streams of the library's own client. */
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

/** In every language the same width, as columns need it. */
export const clock = (ms: number): string => new Date(ms).toLocaleTimeString([], { hour12: false });

/** Also where a page has no secure context, as on a phone in the same network. */
export function freshId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `${prefix}-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
