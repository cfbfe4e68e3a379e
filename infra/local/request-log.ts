/**
 * Last requests of the run, for the person at its console: how each was answered, and what was sent upstream for it. The
 * secret, tokens and account ids are left out.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { isRequest, type LogEntry } from '../../functions/log/log.ts';
import type { RequestReport, Send } from '../../lib/gateway/index.ts';
import { createRedactor, decoded } from '../../lib/gateway/redact.ts';
import { explain } from '../../lib/signer/index.ts';
import type { AccessLogEntry } from './options.ts';

/** Request that was sent upstream, and the steps of its signature. */
export interface SentUpstream {
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Steps of the signature, with the names of the interface's section on signatures. */
  readonly steps: readonly (readonly [name: string, value: string])[];
  /** Status of the answer, or what came in its place. */
  readonly answered: string;
  readonly milliseconds: number;
}

export interface SeenRequest extends AccessLogEntry {
  readonly at: number;
  readonly query: string;
  readonly report?: Partial<Omit<RequestReport, 'defect' | 'app' | 'user' | 'account'>>;
}

/** Request with what was sent for it, computed when it is shown. */
export interface ExplainedRequest extends SeenRequest {
  readonly sent: readonly SentUpstream[];
}

export interface RequestLog {
  /** Notes what is sent while the request is being answered. */
  during<T>(requestId: string, answer: () => Promise<T>): Promise<T>;
  /** Wraps the port, and notes what it sends. */
  sending(send: Send): Send;
  report(entry: LogEntry): void;
  access(entry: AccessLogEntry, query: string): SeenRequest;
  /** Lists the requests, the newest first. */
  list(): Promise<readonly ExplainedRequest[]>;
}

const maxRequests = 200;
/** Sends that are noted for one request: a read that others share may go on for long. */
const maxSends = 20;

/**
 * @param mask removes from a text what must not be shown
 * @example
 * const log = createRequestLog({ mask: masking(accountIds, appKey) });
 * const send = log.sending(createNodeSend());
 */
export function createRequestLog({
  mask,
  clock = Date.now,
}: {
  readonly mask: (text: string) => string;
  readonly clock?: () => number;
}): RequestLog {
  const entries: { readonly request: SeenRequest; readonly sends: readonly NotedSend[] }[] = [];
  const current = new AsyncLocalStorage<NotedSend[]>();
  const sendsBy = new Map<string, NotedSend[]>();
  const reports = new Map<string, SeenRequest['report']>();
  const explained = new WeakMap<NotedSend, Promise<SentUpstream>>();
  const explainedOf = (sending: NotedSend) => {
    const one = explained.get(sending) ?? explainSend(sending, mask);
    explained.set(sending, one);
    return one;
  };
  return {
    async during(requestId, answer) {
      const sends: NotedSend[] = [];
      sendsBy.set(requestId, sends);
      return current.run(sends, answer);
    },
    sending: (send) => async (request, limits) => {
      const sends = current.getStore();
      const at = clock();
      const result = await send(request, limits);
      const answered = result.kind === 'answer' ? String(result.status) : result.kind;
      if (sends && sends.length < maxSends) sends.push({ request, at, answered, milliseconds: clock() - at });
      return result;
    },
    report(entry) {
      if (!isRequest(entry)) return;
      const { level: _level, event: _event, defect: _defect, app: _app, user: _user, ...report } = entry;
      const { account: _account, ...rest } = report;
      reports.set(entry.requestId, rest);
    },
    access({ refusal, ...entry }, query) {
      const { requestId } = entry;
      const sends = sendsBy.get(requestId) ?? [];
      const report = reports.get(requestId);
      sendsBy.delete(requestId);
      reports.delete(requestId);
      const request = {
        ...entry,
        at: clock() - entry.milliseconds,
        path: mask(entry.path),
        query: mask(query),
        ...(refusal && { refusal: { ...refusal, detail: mask(refusal.detail) } }),
        ...(report && { report }),
      };
      entries.unshift({ request, sends });
      if (entries.length > maxRequests) entries.pop();
      return request;
    },
    list: () =>
      Promise.all(
        entries.map(async ({ request, sends }) => ({
          ...request,
          sent: await Promise.all(sends.map(explainedOf)),
        })),
      ),
  };
}

/** Request as the gateway sent it to the upstream, before the log redacts its secrets. */
interface NotedSend extends Pick<SentUpstream, 'at' | 'answered' | 'milliseconds'> {
  readonly request: Parameters<Send>[0];
}

async function explainSend(
  { request: { method, url, headers, body }, ...how }: NotedSend,
  mask: (text: string) => string,
): Promise<SentUpstream> {
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const all = Object.fromEntries(names);
  const { 'x-app-key': appKey = '', 'x-signature-nonce': nonce = '', 'x-timestamp': timestamp = '' } = all;
  const signed = { method, url, appKey, nonce, timestamp, ...(body !== undefined && { body }) };
  const { parameters, str1, str2, str3, encodedString } = await explain(signed);
  const steps = [
    ['parameters, sorted by name', parameters.map((pair) => pair.join(' = ')).join('\n')],
    ['str1: joined with &', str1],
    ['str2: SHA-256 of the body', str2 || 'no body, no hash'],
    ['str3: path & str1 & str2', str3],
    ['encoded string', encodedString],
    ['signing key', 'the app secret and a &; it never leaves the gateway'],
    ['signature', 'base64(HMAC-SHA256(signing key, encoded string))'],
  ] as const;
  return {
    ...how,
    method,
    url: mask(url),
    headers: Object.fromEntries(names.map(([name, value]) => [name, mask(shortenHeader(name, value))])),
    ...(body !== undefined && { body: mask(body) }),
    steps: steps.map(([name, value]) => [name, mask(value)] as const),
  };
}

/** Shortens a signature so that two can still be compared, and hides a token altogether. */
function shortenHeader(name: string, value: string): string {
  if (name === 'x-access-token' || name === 'authorization') return '(not shown)';
  return name === 'x-signature' ? `${value.slice(0, 8)}…` : value;
}

/** Length from which ids are shortened; a shorter id would change other words. */
const shortestId = 8;

/**
 * Shortens each id in a text to its first four characters, however the id is encoded. The same happens to texts that look
 * like a token, and to values in the places of an account's id, a token or a key.
 *
 * @param ids called for each text: some ids are known only when the run listens
 * @example
 * masking(() => ['Q7H2ML0V4T9XKD1RBE5ZC8PA3S'])('account_id=Q7H2ML0V4T9XKD1RBE5ZC8PA3S'); // account_id=Q7H2…
 */
export function masking(ids: () => readonly string[]): (text: string) => string {
  const redactors = new Map<string, (text: string) => string>();
  function masked(text: string): string {
    let rest = text;
    for (const id of ids().filter(({ length }) => length >= shortestId)) {
      const redact = redactors.get(id) ?? createRedactor([id], firstCharacters);
      redactors.set(id, redact);
      rest = redact(rest);
    }
    return rest
      .replace(/\beyJ[\w-]{8,}(?:\.[\w-]+){1,4}/g, firstCharacters)
      .replace(secretPlaces, (_, name: string, value: string) => name + firstCharacters(value));
  }
  return (text) => {
    const once = masked(text);
    const plain = decoded(once);
    // Keeps the text's own encoding, unless decoding it would reveal something.
    const again = masked(plain);
    return again === plain ? once : again;
  };
}

const firstCharacters = (hidden: string) => `${hidden.slice(0, 4)}…`;

/** Matches an account, a token or a key in a query, in JSON and in the steps of a signature. */
const secretPlaces =
  /((?:account_id|token|api[_-]?key|app[_-]?key|secret|authorization)(?:"\s*:\s*"|=|%3D| = )(?:Bearer[ +])?)([^"&%\s…]{5,})/gi;
