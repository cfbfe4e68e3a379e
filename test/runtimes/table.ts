/**
 * The one table of checks that runs, unchanged, in every runtime: no test framework, no API but the Web's.
 * A runtime differs from another only in the runner that calls it.
 */

import { getStockSnapshots, placeOrder } from '../../lib/catalogue/index.ts';
import { createClient, direct, isClientError, viaGateway } from '../../lib/client/index.ts';
import {
  createSignedFetch,
  createSigner,
  explain,
  SignError,
  type SignErrorCode,
  type SignInput,
} from '../../lib/signer/index.ts';
import { createVerifier } from '../../lib/verifier/index.ts';
import { isPlain, methodOf, urlOf, type Vector, vectors } from '../support/vectors.ts';
import { expectedVerdicts, tokenAlgorithms, tokenVerdicts } from './tokens.ts';

type Check = readonly [name: string, run: () => Promise<unknown>, expected: unknown];

const appKey = 'test-app-key';
const appSecret = 'test-app-secret';
const url = 'https://api.example.com/a';
const signer = createSigner({ appKey, appSecret });

function checksOf(vector: Vector): Check[] {
  const { request, encodedString, signature, name } = vector;
  const { appKey, appSecret, nonce, timestamp, query, body } = request;
  const input = { url: urlOf(vector), query, ...(body !== undefined && { body }) };
  const clock = () => Date.parse(timestamp);
  const sign = () => createSigner({ appKey, appSecret, clock, nonce: () => nonce }).sign(input);
  if (!isPlain(vector)) return [[`${name}: refused`, () => codeOf(sign), 'path_not_plain']];
  return [
    [`${name}: signature`, async () => (await sign()).headers['x-signature'], signature],
    [`${name}: method`, async () => (await sign()).method, methodOf(vector)],
    [`${name}: body`, async () => (await sign()).body, body || undefined],
    [`${name}: query`, async () => [...new URL((await sign()).url).searchParams], query],
    [
      `${name}: URL as the parser writes it`,
      async () => new URL((await sign()).url).href === (await sign()).url,
      true,
    ],
    [
      `${name}: encoded string`,
      async () => (await explain({ ...input, appKey, nonce, timestamp })).encodedString,
      encodedString,
    ],
    [
      `${name}: verified`,
      async () => createVerifier({ secretOf: () => appSecret, clock }).verify(await sign()),
      { ok: true, appKey },
    ],
  ];
}

async function codeOf(call: () => unknown): Promise<string> {
  try {
    await call();
    return 'nothing thrown';
  } catch (error) {
    return error instanceof SignError ? error.code : `${error}`;
  }
}

const refusals: readonly (readonly [SignErrorCode, SignInput])[] = [
  ['invalid_url', { url: '/a' }],
  ['invalid_url', { url: 'http://example.com/a' }],
  ['path_not_plain', { url: 'https://example.com/a b' }],
  ['path_not_plain', { url: 'https://example.com/é' }],
  ['invalid_method', { url, method: 'GET', body: '{}' }],
  ['invalid_body', { url, body: new Uint8Array(1) }],
  ['invalid_body', { url, body: new URLSearchParams('a=1') }],
  ['lone_surrogate', { url, query: { a: '\ud800' } }],
  ['lone_surrogate', { url: `${url}?a=\udc00` }],
];

/** What a `fetch` is handed, as this runtime's own Request understands it. */
async function handedToFetch() {
  let handed: Request | undefined;
  const send = async (...[to, init]: Parameters<typeof fetch>) => {
    handed = new Request(to, init);
    return new Response();
  };
  const signedFetch = createSignedFetch({ signer, fetch: send });
  await signedFetch(url, {
    body: '{"a":"日本"}',
    headers: { 'X-App-Key': 'other', Host: 'other.example.com' },
  });
  if (!handed) throw new Error('nothing was sent');
  const verifier = createVerifier({ secretOf: () => appSecret });
  const body = new Uint8Array(await handed.arrayBuffer());
  return [handed.redirect, await verifier.verify({ url: handed.url, headers: handed.headers, body })];
}

/** The client over this runtime's Request, Response, timers and AbortController; nothing goes to a network. */
async function clientCalls() {
  const verifier = createVerifier({ secretOf: () => appSecret });
  const answer: typeof fetch = async (...request) => {
    const { url, headers } = new Request(...request);
    const signed = headers.has('x-signature') && (await verifier.verify({ url, headers })).ok;
    return new Response(JSON.stringify([{ symbol: headers.get('x-api-key') ?? signed }]));
  };
  const silent: typeof fetch = () => new Promise(() => {});
  const baseUrl = 'https://api.example.com';
  const operations = { getStockSnapshots, placeOrder };
  const apple = { symbols: ['AAPL'], category: 'US_STOCK' } as const;
  const order = { account_id: '1', new_orders: [placeOrder.example.body.new_orders[0]] } as const;
  const kindOf = (call: Promise<unknown>) =>
    call.catch((error: unknown) => (isClientError(error) ? error.kind : `${error}`));
  const through = createClient(operations, viaGateway({ baseUrl, apiKey: 'key', fetch: answer }));
  const signing = createClient(operations, direct({ baseUrl, signer, fetch: answer }));
  const mute = createClient(operations, viaGateway({ baseUrl, fetch: silent }), { timeoutMs: 10 });
  return [
    await through.getStockSnapshots(apple),
    await signing.getStockSnapshots(apple),
    await kindOf(through.getStockSnapshots({ ...apple, symbols: [] })),
    await kindOf(mute.getStockSnapshots(apple)),
    await kindOf(mute.placeOrder(order)),
    await mute.getStockSnapshots(apple, { signal: AbortSignal.abort('enough') }).catch(String),
  ];
}

const checks: readonly Check[] = [
  ...vectors.flatMap(checksOf),
  ...refusals.map(
    ([code, input]): Check => [`refused: ${code}`, () => codeOf(() => signer.sign(input)), code],
  ),
  ['refused: no secret', () => codeOf(() => createSigner({ appKey, appSecret: '' })), 'invalid_credentials'],
  [
    'refused: a clock that stands wrong',
    () => codeOf(() => createSigner({ appKey, appSecret, clock: () => Number.NaN }).sign({ url })),
    'invalid_nonce_or_time',
  ],
  [
    'a hundred nonces, a hundred signatures',
    async () => {
      const signed = await Promise.all(Array.from({ length: 100 }, () => signer.sign({ url })));
      return ['x-signature-nonce', 'x-signature'].map(
        (name) => new Set(signed.map((one) => one.headers[name])).size,
      );
    },
    [100, 100],
  ],
  [
    'a changed request is refused, a repeated one too',
    async () => {
      const verifier = createVerifier({ secretOf: () => appSecret });
      const signed = await signer.sign({ url, body: '{}' });
      const verdicts = [
        await verifier.verify({ ...signed, body: '{ }' }),
        await verifier.verify(signed),
        await verifier.verify(signed),
      ];
      return verdicts.map((verdict) => verdict.ok || verdict.code);
    },
    ['signature_mismatch', true, 'nonce_reused'],
  ],
  ...tokenAlgorithms.map(
    (alg): Check => [`access tokens of ${alg}`, () => tokenVerdicts(alg), expectedVerdicts],
  ),
  ['signed fetch', handedToFetch, ['manual', { ok: true, appKey }]],
  [
    'client',
    clientCalls,
    [[{ symbol: 'key' }], [{ symbol: true }], 'invalid_request', 'timed_out', 'outcome_unknown', 'enough'],
  ],
];

/** How many checks there are: a table that was lost on the way has no failures either. */
export const count = checks.length;

/** Failures in words; none when all is well. */
export async function run(): Promise<string[]> {
  const failures: string[] = [];
  for (const [name, check, expected] of checks) {
    const got = await check().catch((error: unknown) => `threw ${error}`);
    if (JSON.stringify(got) !== JSON.stringify(expected))
      failures.push(`${name}: ${JSON.stringify(got)} instead of ${JSON.stringify(expected)}`);
  }
  return failures;
}
