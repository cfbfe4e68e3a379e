/**
 * Every refusal, read by two clients: one that knows a flat map of texts and nothing else, as existing clients of the
 * interface do, and one that reads problem+json by the OpenAPI document.
 */

import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, type TestContext, test } from 'vitest';
import type { ProxyEvent } from '../../../functions/events/rest-proxy.ts';
import { startLocalRun } from '../../../infra/local/local-run.ts';
import { openApiDocument } from '../../../infra/open-api/document.ts';
import type { ApiFault } from '../../../infra/simulator/index.ts';
import { gatewayResponses } from '../../../infra/stack/gateway-responses.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { tokenFaults } from '../../../lib/access/verifier.ts';
import { exposedOperations, openable, operations } from '../../../lib/catalogue/index.ts';
import {
  createLimiter,
  createMemoryCacheStores,
  createMemoryLimiterStore,
  type GatewayOptions,
  type GatewayRequest,
  limiterLimits,
  type Refusal,
  type RefusalCode,
  refusalKinds,
  refusalResponse,
  type TokenClaims,
} from '../../../lib/gateway/index.ts';
import { restoredControl, restoredScope } from '../../../lib/guard-rails/controls.ts';
import { type Control, createMemoryControls } from '../../../lib/guard-rails/index.ts';
import {
  createMemoryOrderJournal,
  JournalUnavailable,
  type OrderJournal,
} from '../../../lib/orders/index.ts';
import { bearer, claimsOf, createTestAccess } from '../../support/access.ts';
import {
  accountsPath,
  coreFor,
  credentials,
  type Draft,
  orderBody,
  orderPath,
  requestOf,
  snapshotPath,
  snapshotTarget,
} from '../../support/core.ts';
import { startDeployed } from '../../support/deployed.ts';
import { useCalmTime } from '../../world/test-time.ts';

useCalmTime();

interface Seen {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** One refused request, sent with this Accept, or with none. */
type Ask = (accept?: string) => Promise<Seen>;
type Source = (t: TestContext) => Promise<Ask>;

const flat = 'application/json';
const nested = 'application/problem+json';

// The readers ------------------------------------------------------------------------------------------------------

type Members = Readonly<Record<string, unknown>>;

/** Any member that is no text, number or boolean makes the whole refusal unreadable to it. */
function readByFlatReader({ text }: Seen): { readonly errorCode: string; readonly message: string } {
  const body: unknown = JSON.parse(text);
  assert.ok(typeof body === 'object' && body !== null && !Array.isArray(body), text);
  for (const [name, value] of Object.entries(body))
    assert.match(typeof value, /^(string|number|boolean)$/, `${name} is nested in ${text}`);
  const { error_code: errorCode, message } = body as Members;
  assert.ok(typeof errorCode === 'string' && errorCode !== '', text);
  assert.ok(typeof message === 'string' && message !== '', text);
  return { errorCode, message };
}

const { components } = openApiDocument({ operations: exposedOperations(operations, openable), servers: [] });
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const documented = (name: string) => {
  const { schemas } = components as { readonly schemas: Readonly<Record<string, { properties: object }>> };
  return {
    names: new Set(Object.keys(schemas[name]?.properties ?? {})),
    validate: ajv.compile({ $ref: `#/components/schemas/${name}`, components }),
  };
};
const schemaOf = new Map([
  [flat, documented('Refusal')],
  [nested, documented('Problem')],
]);

/** By the schema that the document has for the answer's content type; a member that is not in it is a mistake. */
function readByRichReader({ contentType, text }: Seen): Members {
  const { names, validate } = schemaOf.get(contentType) ?? assert.fail(contentType);
  const body = JSON.parse(text) as Members;
  assert.ok(validate(body), `${JSON.stringify(validate.errors)} in ${text}`);
  for (const name of Object.keys(body)) assert.ok(names.has(name), `${name} is not documented`);
  return body;
}

const withoutLists = (body: Members) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value !== 'object'));

/** Each request has ids of its own. */
const withoutIds = ({ request_id: _, upstream_request_id: __, ...others }: Members) => others;

// Where refusals come from -----------------------------------------------------------------------------------------

const seen = (status: number, headers: Readonly<Record<string, unknown>>, text: string): Seen => ({
  status,
  contentType: String(headers['content-type']),
  text,
});

interface Setting extends Draft {
  readonly method?: string;
  readonly fault?: ApiFault;
  readonly options?: Partial<GatewayOptions>;
  readonly change?: Partial<GatewayRequest>;
  /** Requests that are answered before. */
  readonly before?: readonly string[];
}

function accepting(request: GatewayRequest, accept: string | undefined): GatewayRequest {
  const { accept: _, ...headers } = request.headers;
  return { ...request, headers: { ...headers, ...(accept !== undefined && { accept }) } };
}

/** The gateway's core in front of the simulated upstream. */
const core =
  (target: string, { method, fault, options, change, before = [], ...draft }: Setting = {}): Source =>
  async (t) => {
    const { gateway } = await coreFor(t, fault ? { fault: () => fault } : {}, options);
    for (const one of before) assert.equal((await gateway.handle(requestOf(one))).status, 200);
    return async (accept) => {
      const request = { ...requestOf(target, draft, method), ...change };
      const { status, headers, body } = await gateway.handle(accepting(request, accept));
      return seen(status, headers, new TextDecoder().decode(body));
    };
  };

const order = (more: Setting = {}): Source => core(orderPath, { body: orderBody(), ...more });
const says = (status: number, error_code?: string): ApiFault => ({
  kind: 'status',
  status,
  body: { ...(error_code && { error_code }), message: 'words of the upstream' },
});
const { names } = createIdentity(async () => 'a key of this test that is long enough');
const isAway = async () => {
  throw new JournalUnavailable();
};
const journalAway: OrderJournal = { begin: isAway, finish: isAway, read: isAway, unsettled: isAway };
const noJournal = order({ options: { orders: { journal: journalAway, names } } });
/** An order with the same id was placed before, of another quantity. */
const conflictingOrder: Source = async (t) => {
  const client_order_id = 'order-of-this-test';
  const orders = { journal: createMemoryOrderJournal(), names };
  const { gateway } = await coreFor(t, {}, { orders });
  await gateway.handle(requestOf(orderPath, { body: orderBody({ client_order_id, quantity: '3' }) }));
  return async (accept) => {
    const request = requestOf(orderPath, { body: orderBody({ client_order_id }) });
    const answer = await gateway.handle(accepting(request, accept));
    return seen(answer.status, answer.headers, new TextDecoder().decode(answer.body));
  };
};
/** An operator has stopped trading, or has set a limit below the order; or a table was restored. */
const guarded = (control: Omit<Control, 'version'> | 'away', scope = 'stack'): Source => {
  const controls = createMemoryControls();
  if (control !== 'away') controls.set(scope, control);
  const read = control === 'away' ? async () => Promise.reject(new Error('away')) : controls.read;
  const journal = createMemoryOrderJournal();
  return order({ options: { orders: { journal, names, guard: { controls: { read }, journal } } } });
};
const refusedWith = (fault: ApiFault, options?: Partial<GatewayOptions>): Source =>
  core(accountsPath, { fault, ...(options && { options }) });
/** A gateway that tells users apart, and has granted nothing to any. */
const withUsers = ({
  claims,
  isAway = false,
  ...more
}: Setting & { readonly claims?: TokenClaims; readonly isAway?: boolean } = {}): Source => {
  const { access, state } = createTestAccess();
  state.isAway = isAway;
  return core(accountsPath, {
    options: { access },
    ...(claims && { change: { evidence: { claims } } }),
    ...more,
  });
};
const secretIs = (text: string | undefined): Source =>
  core(accountsPath, { options: { secrets: { read: async () => text } } });

/** The local API Gateway in front of the handlers. */
const local =
  (target: string, init: RequestInit, { times = 1 } = {}): Source =>
  async (t) => {
    const run = await startLocalRun({
      port: 0,
      apiKey: 'key-of-this-test',
      openGroups: openable,
      credentials,
      upstream: { simulatorPort: 0 },
      marketDataLimit: { requests: 5, perSeconds: 3600 },
    });
    t.onTestFinished(() => run.close());
    const ask: Ask = async (accept) => {
      const headers = new Headers(init.headers);
      if (accept !== undefined) headers.set('accept', accept);
      const response = await fetch(run.url + target, { ...init, headers });
      const text = await response.text();
      return seen(response.status, Object.fromEntries(response.headers), text);
    };
    for (let time = 1; time < times; time++) await ask();
    return ask;
  };

interface Template {
  readonly statusCode: string;
  readonly responseParameters: Readonly<Record<string, string>>;
  readonly responseTemplates: Readonly<Record<string, string>>;
}

const templates = gatewayResponses({
  modes: ['api-key', 'jwt', 'iam'],
  hasSideEffects: true,
  origins: [],
  throttleRetryAfterSeconds: 1,
}) as unknown as Readonly<Record<string, Template>>;

/** API Gateway's own, the same for every Accept: it puts its variables into the one template that there is. */
const apiGateway =
  (type: string): Source =>
  async () =>
  async () => {
    const { statusCode, responseParameters, responseTemplates } = templates[type] ?? assert.fail(type);
    assert.deepEqual(Object.keys(responseTemplates), [flat]);
    const text = (responseTemplates[flat] ?? '')
      .replaceAll('$context.requestId', 'id-1')
      .replaceAll('$context.authorizer.detail', tokenFaults.expired)
      .replaceAll('$context.error.messageString', '"Missing required request parameters: [symbols]"');
    const contentType = responseParameters['gatewayresponse.header.Content-Type']?.slice(1, -1);
    return seen(Number(statusCode), { 'content-type': contentType }, text);
  };

/** A deployed function whose environment is wrong. */
const misconfigured: Source = async () => {
  const handler = startDeployed(operations, {}, () => {});
  return async (accept) => {
    const event = {
      resource: accountsPath,
      httpMethod: 'GET',
      headers: accept === undefined ? {} : { Accept: accept },
      multiValueHeaders: {},
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      body: null,
      isBase64Encoded: false,
      requestContext: { requestId: 'id-1' },
    } satisfies ProxyEvent;
    const {
      statusCode,
      headers = {},
      body,
    } = await handler(event, {
      getRemainingTimeInMillis: () => 20_000,
    });
    return seen(statusCode, headers, body);
  };
};

const now = Date.UTC(2026, 10, 17, 9, 30);
const both = `${snapshotPath}?symbols=AAPL,MSFT&category=US_STOCK`;
/** What is read before is answered in time, and is fresh, however long the machine takes. */
const cached = (at = Date.now()): Partial<GatewayOptions> => ({
  cache: createMemoryCacheStores(),
  clock: () => at,
});
const fails = () => {
  throw new Error('a defect');
};

/** One permit for a minute, which the first request takes. */
const onePermit = (): Partial<GatewayOptions> => ({
  limiter: createLimiter({
    store: createMemoryLimiterStore(),
    limits: { ...limiterLimits(), 'market-data': { requests: 1, perSeconds: 60 } },
    bucket: 'test',
    // It does not expire before its request is sent, however busy the machine is.
    margins: { clockOffsetMs: 0, networkMs: 0, heldBack: 0, permitLifeMs: 60_000 },
  }),
});

const sources: Readonly<Record<RefusalCode, Readonly<Record<string, Source>>>> = {
  invalid_parameter: {
    'a wrong query': core(`${snapshotPath}?symbols=AAPL&category=US&page=1`),
    'a wrong body': order({ body: orderBody({ side: 'HOLD' }) }),
    'API Gateway': apiGateway('BAD_REQUEST_PARAMETERS'),
  },
  invalid_body: { 'no JSON': order({ body: '{' }), 'API Gateway': apiGateway('BAD_REQUEST_BODY') },
  missing_api_key: {
    'the local run': local(accountsPath, {}),
    'API Gateway': apiGateway('INVALID_API_KEY'),
  },
  unknown_api_key: { 'the local run': local(accountsPath, { headers: { 'x-api-key': 'of-nobody' } }) },
  forbidden: {
    'a key without a user': withUsers({ change: { evidence: { apiKeyId: 'key-1' } } }),
    'API Gateway': apiGateway('WAF_FILTERED'),
    'a firewall': apiGateway('WAF_FILTERED'),
  },
  missing_token: { 'nobody shown': withUsers(), 'API Gateway': apiGateway('UNAUTHORIZED') },
  invalid_token: {
    'a wrong token': withUsers({ headers: bearer('no token') }),
    'API Gateway': apiGateway('ACCESS_DENIED'),
  },
  insufficient_scope: { 'a token without scopes': withUsers({ claims: claimsOf('anna', { scopes: [] }) }) },
  account_not_granted: { 'a user without accounts': withUsers({ claims: claimsOf('anna') }) },
  access_unavailable: {
    'no directory': withUsers({ claims: claimsOf('anna'), isAway: true }),
    'API Gateway': apiGateway('AUTHORIZER_FAILURE'),
  },
  journal_unavailable: { 'no journal': noJournal },
  data_not_subscribed: { 'the upstream': refusedWith(says(403, 'UNAUTHORIZED_CATEGORY')) },
  unknown_operation: {
    'the gateway': core('/unknown'),
    'the local run': local('/unknown', {}),
    'API Gateway': apiGateway('RESOURCE_NOT_FOUND'),
  },
  upstream_path_unknown: {
    'its router': refusedWith({ kind: 'status', status: 404, body: { error_msg: 'no route' } }),
  },
  method_not_allowed: {
    'the gateway': core(accountsPath, { method: 'PUT' }),
    'the local run': local(accountsPath, { method: 'PUT' }),
  },
  order_blocked: {
    'a pre-trade check': guarded({ limits: { max_order_notional: '0.01', max_orders_per_minute: 0 } }),
    'the kill switch': guarded({ limits: {}, stopped: { at: Date.UTC(2026, 10, 1) } }),
  },
  trading_limits_unavailable: { 'no controls': guarded('away') },
  orders_closed: { 'a restored table': guarded(restoredControl, restoredScope) },
  idempotency_conflict: { 'an id that is used': conflictingOrder },
  payload_too_large: {
    'the gateway': order({ body: ' '.repeat(1024 * 1024 + 1) }),
    'API Gateway': apiGateway('REQUEST_TOO_LARGE'),
  },
  unsupported_media_type: {
    'the gateway': order({ headers: { 'content-type': 'text/plain' } }),
    'API Gateway': apiGateway('UNSUPPORTED_MEDIA_TYPE'),
  },
  upstream_rejected: {
    'a read': refusedWith(says(417, 'INVALID_SYMBOL')),
    'an order': order({ fault: says(417, 'OPENAPI_NO_TRADING_TIME') }),
    'a page': refusedWith({ kind: 'status', status: 417, body: '<html>' }),
  },
  throttled: {
    'the local run': local(accountsPath, { headers: { 'x-api-key': 'key-of-this-test' } }, { times: 2 }),
    'API Gateway': apiGateway('THROTTLED'),
  },
  quota_exceeded: { 'API Gateway': apiGateway('QUOTA_EXCEEDED') },
  budget_used_up: { 'the limiter': core(snapshotTarget, { options: onePermit(), before: [snapshotTarget] }) },
  gateway_error: {
    'a defect': core(accountsPath, { options: { send: fails } }),
    'a wrong environment': misconfigured,
    'API Gateway': apiGateway('DEFAULT_5XX'),
    'no instance': apiGateway('INTEGRATION_FAILURE'),
  },
  upstream_auth_failed: { 'the upstream': refusedWith(says(401, 'INCORRECT_SIGN')) },
  upstream_token_expired: {
    'a read': refusedWith(says(401, 'INVALID_TOKEN')),
    'an order': order({ fault: says(401, 'INVALID_TOKEN') }),
  },
  upstream_error: { 'the upstream': refusedWith(says(500)) },
  upstream_broken_answer: { 'a page': refusedWith({ kind: 'not-json' }) },
  upstream_answer_too_large: {
    'the upstream': refusedWith({ kind: 'oversized', bytes: 5001 }, { maxAnswerBytes: 5000 }),
  },
  upstream_unreachable: {
    'no connection': core(accountsPath, { options: { send: async () => ({ kind: 'unreachable' }) } }),
  },
  outcome_unknown: {
    'a lost answer': order({ fault: { kind: 'drop' } }),
    'a failure': order({ fault: says(500, 'SYSTEM_ERROR') }),
  },
  no_fresh_answer: {
    'nothing is cached': core(both, { options: cached(), headers: { 'cache-control': 'only-if-cached' } }),
    'a part is cached': core(both, {
      options: cached(),
      headers: { 'cache-control': 'only-if-cached' },
      before: [snapshotTarget],
    }),
  },
  upstream_rate_limited: { 'the upstream': refusedWith(says(429, 'TOO_MANY_REQUESTS')) },
  upstream_quota_used_up: { 'the upstream': refusedWith(says(417, 'REQUEST_TOTAL_COUNT_EXCEEDED')) },
  secret_not_set: { 'an empty secret': secretIs('') },
  secret_invalid: { 'half a secret': secretIs('{"app_key":"a"}') },
  secret_unavailable: { 'no secret': core(accountsPath, { options: { secrets: { read: fails } } }) },
  gateway_timeout: {
    'the platform': order({ options: { clock: () => now }, change: { deadline: now + 999 } }),
    'API Gateway': apiGateway('INTEGRATION_TIMEOUT'),
  },
  upstream_timeout: {
    'the upstream': core(accountsPath, { options: { send: async () => ({ kind: 'timeout' }) } }),
  },
};

// The tests --------------------------------------------------------------------------------------------------------

test('no code is left out, and no refusal of API Gateway', () => {
  assert.deepEqual(Object.keys(sources).sort(), Object.keys(refusalKinds).sort());
  for (const [code, own] of Object.entries(sources)) assert.ok(Object.keys(own).length > 0, code);
});

describe('every refusal is read by a flat reader and by a rich one', { concurrent: true }, () => {
  for (const [code, own] of Object.entries(sources))
    for (const [name, source] of Object.entries(own))
      test(`${code}: ${name}`, async (t) => {
        const ask = await source(t);
        const toFlatReader = await ask();
        const toRichReader = await ask(`${nested}, ${flat}`);
        const { errorCode, message } = readByFlatReader(toFlatReader);
        const rich = readByRichReader(toRichReader);
        for (const [body, { status }] of [
          [readByRichReader(toFlatReader), toFlatReader],
          [rich, toRichReader],
        ] as const)
          assert.deepEqual([body.code, body.status], [code, status]);
        assert.equal(toFlatReader.contentType, flat);
        // Both read the same; the rich one gets lists besides.
        assert.deepEqual(withoutIds(JSON.parse(toFlatReader.text)), withoutIds(withoutLists(rich)));
        assert.deepEqual([rich.error_code, rich.message], [errorCode, message]);
      });

  for (const type of Object.keys(templates))
    test(`API Gateway's ${type}`, async (t) => {
      const answer = await (await apiGateway(type)(t))();
      readByFlatReader(answer);
      readByRichReader(answer);
    });
});

describe('what a flat reader has no lists for, it gets in words', { concurrent: true }, () => {
  test('each wrong parameter, and what is allowed', async (t) => {
    const ask = await core(`${snapshotPath}?symbols=AAPL&category=US&page=1`)(t);
    const { message } = readByFlatReader(await ask());
    assert.equal(
      message,
      'category: not an allowed value (one of US_STOCK, US_ETF); page: unknown parameter (symbols, category, extend_hour_required, overnight_required)',
    );
  });

  test('of very many wrong parameters the number', async (t) => {
    const query = Array.from({ length: 1000 }, (_, at) => [`p${at}`, '1'] as const);
    const ask = await core(accountsPath, { query })(t);
    const { message } = readByFlatReader(await ask());
    assert.match(message, /^p0: unknown parameter \(no parameters\); .*; p49: [^;]*; 950 more faults$/);
    assert.equal((readByRichReader(await ask(nested)).errors as unknown[]).length, 1000);
  });

  test('the symbols that are missing, and that others are known', async (t) => {
    const ask = await sources.no_fresh_answer['a part is cached']!(t);
    const { message } = readByFlatReader(await ask());
    assert.match(message, / Missing: MSFT\. 1 of 2 records are known: .*application\/problem\+json/);
    const { known, missing } = readByRichReader(await ask(nested));
    assert.deepEqual(missing, ['MSFT']);
    const [{ snapshot }] = known as [{ readonly snapshot: Members }];
    assert.equal(snapshot.symbol, 'AAPL');
  });

  test('of a hundred missing symbols the first ten', async (t) => {
    const symbols = Array.from({ length: 100 }, (_, at) => `S${at}`);
    const headers = { 'cache-control': 'only-if-cached' };
    const target = `${snapshotPath}?symbols=${symbols}&category=US_STOCK`;
    const ask = await core(target, { headers, options: cached() })(t);
    const { message } = readByFlatReader(await ask());
    assert.match(message, / Missing: S0, S1, S2, S3, S4, S5, S6, S7, S8, S9 and 90 more\.$/);
  });
});

test('any refusal has the two forms', () => {
  const text = fc.string({ unit: 'binary', minLength: 1 });
  const upstream = fc.record(
    { status: fc.integer({ min: 100, max: 599 }), errorCode: text, message: text, requestId: text },
    { requiredKeys: ['status'] },
  );
  const fault = fc.record(
    {
      in: fc.constantFrom('query', 'body', 'header'),
      name: text,
      detail: text,
      allowed: text,
      received: text,
    },
    { requiredKeys: ['in', 'name', 'detail'] },
  );
  const bytes = fc
    .dictionary(text, fc.jsonValue())
    .map((record) => new TextEncoder().encode(JSON.stringify(record)));
  const record = fc.record({ symbol: text, bytes, ageMs: fc.nat() });
  const refusals = fc.record(
    {
      code: fc.constantFrom(...(Object.keys(refusalKinds) as RefusalCode[])),
      detail: text,
      errors: fc.array(fault, { maxLength: 3 }),
      upstream,
      findOut: text,
      retryAfterSeconds: fc.nat(),
      allow: fc.constant(['GET']),
      partial: fc.record({ records: fc.array(record, { maxLength: 3 }), missing: fc.array(text) }),
    },
    { requiredKeys: ['code'] },
  );
  const answer = (refusal: Refusal, accept?: string) => {
    const { status, headers, body } = refusalResponse(refusal, 'id-1', accept);
    return seen(status, headers, new TextDecoder().decode(body));
  };
  fc.assert(
    fc.property(refusals, (refusal) => {
      const plain = answer(refusal);
      readByFlatReader(plain);
      const rich = answer(refusal, nested);
      assert.deepEqual([plain.contentType, rich.contentType], [flat, nested]);
      assert.deepEqual(readByRichReader(plain), withoutLists(readByRichReader(rich)));
    }),
  );
});

describe('the form follows from Accept', () => {
  const ask = (accept?: string) => refusalResponse({ code: 'unknown_operation' }, 'id-1', accept).headers;

  for (const accept of [
    nested,
    'APPLICATION/Problem+JSON',
    `${nested}, ${flat}`,
    `${flat};q=1, ${nested};q=0.1`,
    `text/html;level="a, b", ${nested} ; charset=utf-8 ; q=0.001`,
    `\t${nested}\t`,
  ])
    test(`nested for ${accept}`, () => assert.equal(ask(accept)['content-type'], nested));

  for (const accept of [
    undefined,
    '',
    '*/*',
    'application/*',
    'application/*+json',
    flat,
    'text/html, application/xhtml+xml, */*;q=0.8',
    `${nested};q=0`,
    `${nested};Q=0.000, ${flat}`,
    `${nested}x`,
    `x${nested}`,
    `${flat};profile="${nested}"`,
    `${flat};profile="a, ${nested}, b"`,
    `${flat};profile="a\\", ${nested}, b`,
    `${nested};q=much`,
    ',;,',
  ])
    test(`flat for ${accept}`, () => assert.equal(ask(accept)['content-type'], flat));

  test('and caches learn that it does', () => {
    for (const accept of [undefined, nested]) assert.equal(ask(accept).vary, 'accept');
  });
});
