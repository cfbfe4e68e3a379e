import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import type { ApiFault } from '../../../infra/simulator/index.ts';
import type { Cause } from '../../../lib/gateway/index.ts';
import { closedPort } from '../../support/closed-port.ts';
import {
  accountsPath,
  ask,
  coreFor,
  credentials,
  gatewayOf,
  orderBody,
  orderPath,
  type Problem,
  problemOf,
  secretText,
  upstreamOf,
} from '../../support/core.ts';
import { senders } from '../../support/senders.ts';

const message = 'words of the upstream';

/** An answer in the upstream's own shape. */
const says = (
  status: number,
  error_code?: string,
  headers: Readonly<Record<string, string>> = {},
): ApiFault => ({
  kind: 'status',
  status,
  headers,
  body: { ...(error_code && { error_code }), message },
});

interface Expected {
  readonly status: number;
  readonly code: string;
  readonly error_code: string;
  readonly retryAfter?: string;
  /** What the answer tells of the upstream besides its request id. */
  readonly upstream?: { readonly status: number; readonly error_code?: string; readonly message?: string };
}

type Case = readonly [name: string, fault: ApiFault, expected: Expected];

/** The upstream said no to the request: its code and words are passed on. */
const rejected: readonly Case[] = (
  [
    [400, 'ILLEGAL_PARAMETER', 400],
    [400, undefined, 400],
    [404, 'ORDER_NOT_FOUND', 404],
    [417, 'INVALID_PARAMETER', 422],
    // The vendor's codes about the request itself; with the other tables here, all that it documents.
    [417, 'ILLEGAL_PARAMETER', 422],
    [417, 'INVALID_SYMBOL', 422],
    [417, 'INSTRUMENT_NOT_FOUND', 422],
    [417, 'TOO_MANY_SYMBOLS', 422],
    [417, 'UNSUPPORTED_CATEGORY', 422],
    [417, 'UNSUPPORTED_TIMESPAN', 422],
    [417, 'UNSUPPORTED_SUB_TYPE', 422],
    [417, 'TOO_MANY_SUBSCRIPTION', 422],
    [417, 'OPENAPI_NO_TRADING_TIME', 422],
    [417, 'OPENAPI_NO_NIGHT_TRADING_TIME', 422],
    [417, 'ORDER_NOT_FOUND', 422],
    [417, 'DAY_BUYING_POWER_INSUFFICIENT', 422],
    [417, 'CAN_SELL_QTY_NOT_ENOUGH', 422],
    [417, 'ORDER_PRICE_ILLEGAL', 422],
    // Seen live.
    [417, 'OPENAPI_PARAM_ERR', 422],
    [417, 'UNSUPPORTED_PERIOD', 422],
    [417, 'OPENAPI_ILLEGAL_PARAMETER', 422],
    [417, 'OPENAPI_TRADE_PLACE_ORDER_REPEAT', 422],
    [403, 'ACCOUNT_ACCESS_DENIED', 403],
    [403, 'OPENAPI_ACCOUNT_ACCESS_DENIED', 403],
    [417, 'AN_UNKNOWN_CODE', 422],
    // Not the gateway's token.
    [417, 'INVALID_PAGE_TOKEN', 422],
    [417, 'constructor', 422],
    [417, undefined, 422],
  ] as const
).map(([status, error_code, ours]) => [
  `${status} ${error_code ?? 'without a code'}`,
  says(status, error_code),
  {
    status: ours,
    code: 'upstream_rejected',
    error_code: error_code ?? 'UPSTREAM_REJECTED',
    upstream: { status, ...(error_code && { error_code }), message },
  },
]);

const unsubscribed: readonly Case[] = ['', 'OPENAPI_', 'OAUTH_OPENAPI_']
  .flatMap((prefix) =>
    ['UNAUTHORIZED_CATEGORY', 'UNAUTHORIZED_SUB_TYPE', 'MARKET_DATA_NOT_SUBSCRIBED'].map(
      (stem) => prefix + stem,
    ),
  )
  .flatMap((error_code) =>
    [401, 403, 417].map((status) => [
      `${status} ${error_code}`,
      says(status, error_code),
      { status: 403, code: 'data_not_subscribed', error_code, upstream: { status, error_code, message } },
    ]),
  );

/** What is about headers, key, token or signature is the gateway's work: the client learns the code alone. */
const authCodes = [
  'MISSING_APP_KEY',
  'MISSING_SIGNATURE',
  'MISSING_ALGORITHM',
  'MISSING_NONCE',
  'MISSING_TIMESTAMP',
  'MISSING_VERSION',
  'UNAUTHORIZED',
  'INCORRECT_SIGN',
  'SIGNATURE_ALGORITHM_NOT_SUPPORTED',
  'VERSION_NOT_SUPPORTED',
  'UNSUPPORTED_API_VERSION',
  'ILLEAGAL_TIMESTAMP',
  'CLOCK_SKEW_EXCEEDED',
  'DUPPLICATED_REQUEST',
  'IP_NOT_ALLOWED',
  'ILLEAGAL_PARAMETER',
];
const unauthorised: readonly Case[] = [
  ...authCodes.flatMap((code) => [400, 401, 403].map((status) => [status, code] as const)),
  ...authCodes.map((code) => [401, `OPENAPI_${code}`] as const),
  [401, undefined] as const,
  [403, undefined] as const,
  [403, 'AN_UNKNOWN_CODE'] as const,
].map(([status, error_code]) => [
  `${status} ${error_code ?? 'without a code'}`,
  says(status, error_code),
  {
    status: 502,
    code: 'upstream_auth_failed',
    error_code: 'UPSTREAM_AUTH_FAILED',
    upstream: { status, ...(error_code && { error_code }) },
  },
]);

/** The same of the access token, for which the operator does something else. */
const withoutToken: readonly Case[] = [
  [400, 'INVALID_TOKEN'] as const,
  [401, 'INVALID_TOKEN'] as const,
  [403, 'OPENAPI_INVALID_TOKEN'] as const,
  [417, 'OAUTH_OPENAPI_INVALID_TOKEN'] as const,
  [401, 'ACCESS_TOKEN_EXPIRED'] as const,
].map(([status, error_code]) => [
  `${status} ${error_code}`,
  says(status, error_code),
  {
    status: 503,
    code: 'upstream_token_expired',
    error_code: 'UPSTREAM_TOKEN_EXPIRED',
    retryAfter: '60',
    upstream: { status, error_code },
  },
]);

const limited: readonly Case[] = [
  ...(
    [
      ['7', '7'],
      ['1.2', '2'],
      ['3600', '3600'],
      ['3601', '3600'],
      ['0', '10'],
      ['-5', '10'],
      ['Wed, 21 Oct 1998 07:28:00 GMT', '10'],
      ['Wed, 21 Oct 2998 07:28:00 GMT', '3600'],
      ['2998', '2998'],
      ['2998-10-21', '10'],
      ['Infinity', '10'],
      [undefined, '10'],
    ] as const
  ).map(
    ([given, retryAfter]): Case => [
      `429 with Retry-After ${given}`,
      says(429, 'TOO_MANY_REQUESTS', given === undefined ? {} : { 'retry-after': given }),
      {
        status: 503,
        code: 'upstream_rate_limited',
        error_code: 'TOO_MANY_REQUESTS',
        retryAfter,
        upstream: { status: 429, error_code: 'TOO_MANY_REQUESTS', message },
      },
    ],
  ),
  [
    '429 without a code',
    { kind: 'status', status: 429 },
    {
      status: 503,
      code: 'upstream_rate_limited',
      error_code: 'TOO_MANY_REQUESTS',
      retryAfter: '10',
      upstream: { status: 429 },
    },
  ],
  [
    '417 that means the limit',
    says(417, 'OPENAPI_TOO_MANY_REQUESTS'),
    {
      status: 503,
      code: 'upstream_rate_limited',
      error_code: 'OPENAPI_TOO_MANY_REQUESTS',
      retryAfter: '10',
      upstream: { status: 417, error_code: 'OPENAPI_TOO_MANY_REQUESTS', message },
    },
  ],
  [
    'a used-up quota',
    says(417, 'REQUEST_TOTAL_COUNT_EXCEEDED'),
    {
      status: 503,
      code: 'upstream_quota_used_up',
      error_code: 'REQUEST_TOTAL_COUNT_EXCEEDED',
      retryAfter: '3600',
      upstream: { status: 417, error_code: 'REQUEST_TOTAL_COUNT_EXCEEDED', message },
    },
  ],
];

const failed: readonly Case[] = [
  ...[500, 501, 502, 503, 504, 599, 402, 405, 418, 201, 204, 206, 300, 302, 304].map(
    (status): Case => [
      `${status}`,
      { kind: 'status', status, headers: { location: '/elsewhere' } },
      { status: 502, code: 'upstream_error', error_code: 'UPSTREAM_ERROR', upstream: { status } },
    ],
  ),
  ...['SYSTEM_ERROR', 'INTERNAL_ERROR', 'SERVICE_NOT_AVAILABLE', 'GATEWAY_TIMEOUT']
    .flatMap((code) => [417, 500].map((status) => [status, code] as const))
    .map(
      ([status, error_code]): Case => [
        `${status} ${error_code}`,
        says(status, error_code),
        { status: 502, code: 'upstream_error', error_code, upstream: { status, error_code, message } },
      ],
    ),
];

/** The bodies of refusals are the upstream's, too: whatever they are, an answer comes of it. */
const oddBodies: readonly Case[] = [
  ['a page', '<!doctype html>', {}],
  ['nothing', '', {}],
  ['null', 'null', {}],
  ['a list', '["INVALID_PARAMETER"]', {}],
  ['a text', '"INVALID_PARAMETER"', {}],
  ['members of other types', '{"error_code":417,"message":{"a":1}}', {}],
  ['empty members', '{"error_code":"","message":""}', {}],
  [
    'long members',
    { error_code: 'C'.repeat(101), message: 'm'.repeat(501) },
    { error_code: 'C'.repeat(100), message: 'm'.repeat(500) },
  ],
].map(([name, body, quoted]) => [
  `417 whose body is ${name}`,
  { kind: 'status', status: 417, body },
  {
    status: 422,
    code: 'upstream_rejected',
    error_code: (quoted as { error_code?: string }).error_code ?? 'UPSTREAM_REJECTED',
    upstream: { status: 417, ...(quoted as object) },
  },
]);

/** The shapes of refusals that were seen live, beside the one that all cases above have. */
const shapes: readonly Case[] = (
  [
    ['with its status', 417, { error_code: 'ILLEGAL_PARAMETER', message, status: 417 }, 'ILLEGAL_PARAMETER'],
    ['of the server in front', 400, { error_msg: message }, undefined],
    [
      'of the server behind it',
      400,
      { timestamp: 1, status: 400, error: 'Bad Request', message, path: '/x' },
      undefined,
    ],
    [
      'of the server behind it without a message',
      400,
      { timestamp: '2026-11-22T11:00:00.000+0000', status: 400, error: message, message: '', path: '/x' },
      undefined,
    ],
  ] as const
).map(([name, status, body, error_code]) => [
  `a refusal in the shape ${name}`,
  { kind: 'status', status, body },
  {
    status: status === 417 ? 422 : status,
    code: 'upstream_rejected',
    error_code: error_code ?? 'UPSTREAM_REJECTED',
    upstream: { status, ...(error_code && { error_code }), message },
  },
]);

const broken = { status: 502, code: 'upstream_broken_answer', error_code: 'UPSTREAM_ERROR' };
const others: readonly Case[] = [
  [
    '404 of the upstream’s router, which knows no codes',
    { kind: 'status', status: 404, body: { error_msg: 'no route and no API found' } },
    {
      status: 404,
      code: 'upstream_path_unknown',
      error_code: 'NOT_FOUND',
      upstream: { status: 404, message: 'no route and no API found' },
    },
  ],
  ['a page of HTML with status 200', { kind: 'not-json' }, broken],
  ['a 200 without a body', { kind: 'status', status: 200 }, broken],
  ['a dropped connection', { kind: 'drop' }, broken],
  ['a connection dropped in place of the answer', { kind: 'drop-after' }, broken],
  ['half an answer', { kind: 'truncate' }, broken],
  [
    'bytes that are not what the content encoding says',
    { kind: 'status', status: 200, headers: { 'content-encoding': 'gzip' }, body: '[1]' },
    broken,
  ],
  [
    'an answer that is too large',
    { kind: 'oversized', bytes: 5001 },
    { status: 502, code: 'upstream_answer_too_large', error_code: 'UPSTREAM_ERROR' },
  ],
  ['no answer', { kind: 'hang' }, { status: 504, code: 'upstream_timeout', error_code: 'GATEWAY_TIMEOUT' }],
  [
    'no answer after the execution',
    { kind: 'hang-after' },
    { status: 504, code: 'upstream_timeout', error_code: 'GATEWAY_TIMEOUT' },
  ],
  [
    'an answer that comes too late',
    { kind: 'delay', ms: 3000 },
    { status: 504, code: 'upstream_timeout', error_code: 'GATEWAY_TIMEOUT' },
  ],
];

/** Why, as far as the answer tells: by the code of the upstream, whatever its prefix and status. */
const causesByCode: Readonly<Record<string, Cause>> = {
  MISSING_APP_KEY: 'header_lost',
  MISSING_SIGNATURE: 'header_lost',
  MISSING_ALGORITHM: 'header_lost',
  MISSING_NONCE: 'header_lost',
  MISSING_TIMESTAMP: 'header_lost',
  MISSING_VERSION: 'header_lost',
  ILLEAGAL_PARAMETER: 'header_lost',
  // None was sent.
  INVALID_TOKEN: 'token_missing',
  UNAUTHORIZED: 'key_refused',
  INCORRECT_SIGN: 'wrong_secret',
  SIGNATURE_ALGORITHM_NOT_SUPPORTED: 'version_refused',
  VERSION_NOT_SUPPORTED: 'version_refused',
  UNSUPPORTED_API_VERSION: 'version_refused',
  ILLEAGAL_TIMESTAMP: 'wrong_clock',
  CLOCK_SKEW_EXCEEDED: 'wrong_clock',
  IP_NOT_ALLOWED: 'address_refused',
  ACCOUNT_ACCESS_DENIED: 'account_not_ours',
};

/** After these a read is sent again, and its last answer is the client's. */
const isSentAgain = (fault: ApiFault, { code, upstream }: Expected): boolean =>
  code === 'upstream_timeout' ||
  (code === 'upstream_broken_answer' && fault.kind !== 'not-json' && !isEmpty(fault)) ||
  (code === 'upstream_error' && (upstream?.status ?? 0) >= 500);

/** A whole answer, which is no JSON. */
const isEmpty = (fault: ApiFault) => fault.kind === 'status' && fault.body === undefined;

function causeExpected(fault: ApiFault, { code, upstream }: Expected): Cause | undefined {
  if (code === 'upstream_rate_limited') return 'limit_tighter';
  if (fault.kind === 'not-json' || upstream?.status === 302) return 'not_the_interface';
  const stem = (upstream?.error_code ?? '').replace(/^(OAUTH_)?OPENAPI_/, '');
  return Object.hasOwn(causesByCode, stem) ? causesByCode[stem] : undefined;
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  422: 'Unprocessable Content',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

for (const [sender, createSend] of senders) {
  describe(`a read over ${sender}, answered with`, { concurrent: true }, () => {
    for (const [name, fault, expected] of [
      ...rejected,
      ...unsubscribed,
      ...unauthorised,
      ...withoutToken,
      ...limited,
      ...failed,
      ...oddBodies,
      ...shapes,
      ...others,
    ]) {
      test(name, async (t) => {
        const waits = 'hang delay hang-after'.includes(fault.kind);
        const { gateway, simulator, reports } = await coreFor(
          t,
          { fault: () => fault },
          { send: createSend(), maxAnswerBytes: 5000, upstreamTimeoutMs: waits ? 3000 : 120_000 },
        );
        const reply = await ask(gateway, accountsPath);
        const problem = problemOf(reply, {
          status: expected.status,
          title: titles[expected.status],
          code: expected.code,
          error_code: expected.error_code,
        });
        assert.equal(problem.message, expected.upstream?.message ?? problem.detail);
        assert.equal(reply.headers['retry-after'], expected.retryAfter);
        assert.equal(problem.find_out, undefined);
        const attempts = isSentAgain(fault, expected) ? 3 : 1;
        assert.equal(simulator.received.length, attempts);
        const requestId = simulator.received.at(-1)?.requestId;
        assert.deepEqual(
          upstreamOf(problem),
          expected.upstream && { ...expected.upstream, request_id: requestId },
        );
        if (!expected.upstream?.message) assert.ok(!reply.text.includes(message));

        const [{ milliseconds, ...report } = assert.fail('no report'), ...more] = reports;
        assert.equal(more.length, 0);
        assert.ok(Number.isFinite(milliseconds));
        const cause = causeExpected(fault, expected);
        assert.equal(problem.cause, cause);
        assert.deepEqual(report, {
          requestId: 'request-1',
          operation: 'listAccounts',
          attempts,
          status: expected.status,
          code: expected.code,
          ...(expected.upstream && { upstreamStatus: expected.upstream.status }),
          ...(expected.upstream?.error_code && { upstreamCode: expected.upstream.error_code }),
          ...(cause && { cause }),
        });
      });
    }
  });

  describe(`an upstream that is not there, asked over ${sender}`, () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      test(`on ${host}`, async () => {
        const gateway = gatewayOf({
          upstreamBaseUrl: `http://${host}:${await closedPort()}`,
          send: createSend(),
        });
        const problem: Problem = problemOf(await ask(gateway, accountsPath));
        assert.equal(problem.status, 502);
        assert.equal(problem.code, 'upstream_unreachable');
        assert.equal(problem.cause, 'host_closed');
        assert.equal(problem.error_code, 'UPSTREAM_UNREACHABLE');
      });
    }
  });
}

describe('a 200 that repeats a secret', () => {
  const accessToken = 'token/of+the=upstream';
  const escaped = (text: string) => text.replace(/[a-z]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
  const coreWith = (t: TestContext, body: string) =>
    coreFor(
      t,
      { accessToken, fault: () => ({ kind: 'status', status: 200, body }) },
      { secrets: { read: async () => secretText(credentials, accessToken) } },
    );
  const isHidden = (text: string) => {
    const plain = decodeURIComponent(JSON.stringify(JSON.parse(text))).toLowerCase();
    for (const secret of [credentials.appKey, credentials.appSecret, accessToken])
      assert.ok(!plain.includes(secret), text);
  };

  for (const [form, write] of Object.entries({
    'as it is': (secret: string) => secret,
    'in upper case': (secret: string) => secret.toUpperCase(),
    'percent-encoded': encodeURIComponent,
    'in escapes of JSON': escaped,
  })) {
    test(`${form}: all but the secret passes, byte for byte`, async (t) => {
      const echo = (shown: (secret: string) => string) =>
        `[{"price":1.10, "big":12345678901234567890, "key":"${shown(credentials.appKey)}", "token":" ${shown(accessToken)} "}]`;
      const { gateway } = await coreWith(t, echo(write));
      const { status, text } = await ask(gateway, accountsPath);
      assert.deepEqual([status, text], [200, echo(() => '[redacted]')]);
    });

    test(`${form}: an order is known to be placed`, async (t) => {
      const { gateway } = await coreWith(
        t,
        `{"client_order_id":"order-1","by":"${write(credentials.appKey)}"}`,
      );
      const { status, text } = await ask(gateway, orderPath, { body: orderBody() });
      assert.deepEqual([status, JSON.parse(text)], [200, { client_order_id: 'order-1', by: '[redacted]' }]);
    });
  }

  for (const [name, body] of [
    ['a long one', JSON.stringify(['x'.repeat(70_000), credentials.appSecret])],
    [
      'one in which it is encoded once more',
      `["${'%2525252541'.repeat(3)}${encodeURIComponent(encodeURIComponent(accessToken))}"]`,
    ],
  ] as const)
    test(`${name}: nothing of it reaches the client`, async (t) => {
      const { gateway } = await coreWith(t, body);
      const { status, text } = await ask(gateway, accountsPath);
      isHidden(text);
      assert.ok(status === 502 || text.includes('[redacted]'), text);
    });

  test('an answer without one is the same bytes', async (t) => {
    const body = '[ {"note":"core-test-app", "url":"https:\\/\\/a.example\\/%41\\u00e9"} ]';
    const { gateway } = await coreWith(t, body);
    assert.equal((await ask(gateway, accountsPath)).text, body);
  });
});
