/** `countersign sign`, `explain` and `verify`: one request, without a network. */

import {
  hashBody,
  importSigningKey,
  parameterString,
  percentEncode,
  stringToSign,
  utf8,
} from '../../lib/signer/canonical.ts';
import { createSigner, explain, SignError } from '../../lib/signer/index.ts';
import { createVerifier, type ReceivedRequest } from '../../lib/verifier/index.ts';
import { StartError } from '../environment.ts';
import { readText, secrets } from './credentials.ts';
import type { Report } from './print.ts';

interface RequestArguments {
  readonly url: string;
  readonly method: 'GET' | 'POST' | undefined;
  readonly body: string | undefined;
  readonly credentials: string | undefined;
}

const inputOf = async ({ url, method, body }: RequestArguments) => ({
  url,
  ...(method && { method }),
  ...(body !== undefined && { body: await readText(body) }),
});

async function trySign<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SignError)) throw error;
    throw new StartError(`This request cannot be signed: ${error.code}, ${error.message}.`);
  }
}

export async function signRequest(given: RequestArguments): Promise<Report> {
  const { APP_KEY, APP_SECRET } = await secrets(given.credentials, ['APP_KEY', 'APP_SECRET']);
  const input = await inputOf(given);
  const signed = await trySign(() => createSigner({ appKey: APP_KEY, appSecret: APP_SECRET }).sign(input));
  const headers = Object.entries(signed.headers).map(([name, text]) => `${name}: ${text}`);
  return { lines: [`${signed.method} ${signed.url}`, ...headers], data: signed };
}

interface ExplainRequest extends RequestArguments {
  readonly nonce: string | undefined;
  readonly timestamp: string | undefined;
  readonly compare: string | undefined;
}

export async function explainRequest({
  nonce,
  timestamp,
  compare,
  ...given
}: ExplainRequest): Promise<Report> {
  const { APP_KEY } = await secrets(given.credentials, ['APP_KEY']);
  const input = await inputOf(given);
  const compareWith = compare === undefined ? undefined : (await readText(compare)).trim();
  const { toString: words, ...steps } = await trySign(() =>
    explain({
      ...input,
      appKey: APP_KEY,
      nonce: nonce ?? crypto.randomUUID().replaceAll('-', ''),
      timestamp: timestamp ?? `${new Date().toISOString().slice(0, 19)}Z`,
      ...(compareWith !== undefined && { compareWith }),
    }),
  );
  return { lines: [words()], data: steps };
}

interface VerifyRequest {
  readonly request: string;
  readonly tolerance: number | undefined;
  readonly credentials: string | undefined;
}

export async function verifyRequest({ request, tolerance, credentials }: VerifyRequest): Promise<Report> {
  const { APP_KEY, APP_SECRET } = await secrets(credentials, ['APP_KEY', 'APP_SECRET']);
  const received = await readJson<ReceivedRequest>(request, '{"url": "…", "headers": {"x-app-key": "…"}}');
  if (typeof received.url !== 'string' || typeof received.headers !== 'object' || received.headers === null)
    throw new StartError('--request must be JSON like {"url": "…", "headers": {"x-app-key": "…"}}.');
  const verification = await createVerifier({
    secretOf: (appKey) => (appKey === APP_KEY ? APP_SECRET : undefined),
    toleranceSeconds: tolerance,
  }).verify(received);
  const line = verification.ok
    ? 'The signature is that of this request, app key and secret.'
    : // Only the code: the detail may contain an app key.
      `Refused: ${verification.code}. countersign explain shows what is signed.`;
  return { lines: [line], data: verification, isWell: verification.ok };
}

interface Vector {
  readonly name?: string;
  readonly request: {
    readonly appKey: string;
    readonly appSecret: string;
    readonly nonce: string;
    readonly timestamp: string;
    readonly host: string;
    readonly path: string;
    readonly query?: readonly (readonly [string, string])[];
    readonly body?: string;
  };
  readonly signature: string;
}

export async function verifyVectors({ vectors }: { readonly vectors: string }): Promise<Report> {
  const form = '[{"request": {"appKey": "…", …}, "signature": "…"}]';
  const all = await readJson<readonly Vector[]>(vectors, form);
  const results: { name: string; ok: boolean }[] = [];
  for (const [index, { name = `vector ${index + 1}`, request, signature }] of all.entries())
    try {
      results.push({ name, ok: (await signatureOf(request)) === signature });
    } catch {
      throw new StartError(`--vectors must be JSON like ${form}: ${name} is not.`);
    }
  const wrong = results.filter(({ ok }) => !ok);
  return {
    lines: [
      `${results.length - wrong.length} of ${results.length} vectors have the signature that is computed here.`,
      ...wrong.map(({ name }) => `Another signature: ${name}`),
    ],
    data: { ok: wrong.length === 0, results },
    isWell: wrong.length === 0 && results.length > 0,
  };
}

async function signatureOf({
  path,
  query = [],
  body = '',
  appSecret,
  ...headers
}: Vector['request']): Promise<string> {
  const text = percentEncode(stringToSign(path, parameterString(query, headers), await hashBody(body)));
  const digest = await crypto.subtle.sign('HMAC', await importSigningKey(appSecret, 'sign'), utf8(text));
  return Buffer.from(digest).toString('base64');
}

async function readJson<T>(file: string, form: string): Promise<T> {
  try {
    const value: unknown = JSON.parse(await readText(file));
    if (typeof value === 'object' && value !== null) return value as T;
  } catch (error) {
    if (error instanceof StartError) throw error;
  }
  throw new StartError(`The file must be JSON like ${form}.`);
}
