import assert from 'node:assert/strict';
import { test } from 'vitest';
import { type GatewayResponsesOptions, gatewayResponses } from '../../infra/stack/gateway-responses.ts';
import { tokenFaults } from '../../lib/access/verifier.ts';
import { refusalKinds } from '../../lib/gateway/index.ts';

interface GatewayResponse {
  readonly statusCode: string;
  readonly responseParameters: Readonly<Record<string, string>>;
  readonly responseTemplates: Readonly<Record<string, string>>;
}

interface Problem {
  readonly status: number;
  readonly code: keyof typeof refusalKinds;
  readonly detail: string;
  readonly message: string;
  readonly error_code: string;
  readonly request_id: string;
  readonly find_out?: string;
}

const define = (options: Partial<GatewayResponsesOptions> = {}) =>
  gatewayResponses({
    modes: ['api-key'],
    hasSideEffects: false,
    origins: [],
    throttleRetryAfterSeconds: 1,
    ...options,
  }) as unknown as Readonly<Record<string, GatewayResponse>>;

const saysAuthorizer = tokenFaults.expired;
const saysApiGateway = 'Missing required request parameters: [symbols]';

/** What a client gets: API Gateway puts in its variables, and knows no other syntax here. */
function problemOf(response: GatewayResponse | undefined): Problem {
  const template = response?.responseTemplates['application/json'] ?? '';
  const text = template
    .replaceAll('$context.requestId', 'id-1')
    .replaceAll('$context.authorizer.detail', saysAuthorizer)
    .replaceAll('$context.error.messageString', JSON.stringify(saysApiGateway));
  assert.doesNotMatch(text, /[$#]/, 'no other variable, no directive');
  return JSON.parse(text) as Problem;
}

/** Every type of refusal that a REST API has (Developer Guide, "Gateway response types"). */
const types = `ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE
  BAD_REQUEST_BODY BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE
  INTEGRATION_TIMEOUT INVALID_API_KEY INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED
  REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED`
  .trim()
  .split(/\s+/);

for (const modes of [['api-key'], ['api-key', 'iam'], ['api-key', 'jwt', 'bound-key', 'iam']] as const)
  test(`every refusal has our error shape, with groups open with ${modes.join(' and ')}`, () => {
    const responses = define({ modes, hasSideEffects: true, origins: ['https://a.example'] });
    assert.deepEqual(Object.keys(responses).sort(), types);
    for (const [type, response] of Object.entries(responses)) {
      const problem = problemOf(response);
      assert.equal(
        response.statusCode,
        String(problem.status),
        `${type}: the body names the status that is sent`,
      );
      assert.ok(problem.code in refusalKinds, type);
      assert.ok(problem.detail.length > 0 && problem.message === problem.detail, type);
      assert.ok(problem.error_code.length > 0, type);
      assert.equal(problem.request_id, 'id-1', type);
      assert.match(JSON.stringify(response), /^[ -~]*$/, `${type}: ASCII only`);
      const { responseParameters } = response;
      assert.equal(responseParameters['gatewayresponse.header.Content-Type'], "'application/json'");
      assert.equal(responseParameters['gatewayresponse.header.Cache-Control'], "'no-store'");
      assert.equal(responseParameters['gatewayresponse.header.Vary'], "'accept'");
      for (const member of Object.values(problem)) assert.match(typeof member, /^(string|number)$/, type);
      for (const value of Object.values(responseParameters)) assert.match(value, /^'[^']+'$/, type);
    }
  });

const expected: Readonly<Record<string, readonly [status: number, code: string]>> = {
  MISSING_AUTHENTICATION_TOKEN: [404, 'unknown_operation'],
  INVALID_SIGNATURE: [404, 'unknown_operation'],
  EXPIRED_TOKEN: [404, 'unknown_operation'],
  INVALID_API_KEY: [403, 'missing_api_key'],
  ACCESS_DENIED: [403, 'forbidden'],
  THROTTLED: [429, 'throttled'],
  QUOTA_EXCEEDED: [429, 'quota_exceeded'],
  REQUEST_TOO_LARGE: [413, 'payload_too_large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'unsupported_media_type'],
  BAD_REQUEST_PARAMETERS: [400, 'invalid_parameter'],
  BAD_REQUEST_BODY: [400, 'invalid_body'],
  INTEGRATION_FAILURE: [502, 'gateway_error'],
  INTEGRATION_TIMEOUT: [504, 'gateway_timeout'],
  DEFAULT_5XX: [500, 'gateway_error'],
};

test('each refusal has its status and code', () => {
  const responses = define();
  for (const [type, [status, code]] of Object.entries(expected)) {
    const problem = problemOf(responses[type]);
    assert.deepEqual([problem.status, problem.code], [status, code], type);
  }
});

test('with IAM groups the refusal that AWS gives for three cases covers all three', () => {
  const { MISSING_AUTHENTICATION_TOKEN: response } = define({ modes: ['api-key', 'iam'] });
  const { status, code, detail } = problemOf(response);
  assert.deepEqual([status, code], [403, 'forbidden']);
  for (const part of [/path/, /method/, /signature/]) assert.match(detail, part);
});

test('with token groups a client learns why its token is not accepted', () => {
  const responses = define({ modes: ['api-key', 'jwt'] });
  const { UNAUTHORIZED, ACCESS_DENIED } = responses;
  const challenge = 'gatewayresponse.header.Www-Authenticate';
  const missing = problemOf(UNAUTHORIZED);
  assert.deepEqual([missing.status, missing.code], [401, 'missing_token']);
  assert.equal(UNAUTHORIZED?.responseParameters[challenge], "'Bearer'");
  const wrong = problemOf(ACCESS_DENIED);
  assert.deepEqual([wrong.status, wrong.code], [401, 'invalid_token']);
  assert.ok(wrong.detail.endsWith(saysAuthorizer));
  assert.equal(ACCESS_DENIED?.responseParameters[challenge], `'Bearer error="invalid_token"'`);
  for (const type of ['AUTHORIZER_FAILURE', 'AUTHORIZER_CONFIGURATION_ERROR']) {
    const unknown = problemOf(responses[type]);
    assert.deepEqual([unknown.status, unknown.code], [503, 'access_unavailable'], type);
    assert.equal(responses[type]?.responseParameters['gatewayresponse.header.Retry-After'], "'5'");
  }
});

test('a refused AWS identity shares its type with refused tokens, and the text is true of both', () => {
  const { ACCESS_DENIED } = define({ modes: ['api-key', 'jwt', 'iam'] });
  const withoutAuthorizer = ACCESS_DENIED?.responseTemplates['application/json']?.replaceAll(
    '$context.authorizer.detail',
    '',
  );
  const { detail } = JSON.parse(withoutAuthorizer ?? '') as Problem;
  for (const part of [/token/, /AWS identity/]) assert.match(detail, part);
  assert.doesNotMatch(JSON.stringify(define({ modes: ['api-key', 'iam'] })), /authorizer/);
});

test('no sentence of the authorizer breaks the body that it is put into', () => {
  for (const sentence of Object.values(tokenFaults)) assert.doesNotMatch(sentence, /["\\]/);
});

test('missing parameters are named, in API Gateway’s words', () => {
  assert.equal(problemOf(define().BAD_REQUEST_PARAMETERS).detail, saysApiGateway);
});

test('a throttled caller learns when to come back', () => {
  const { THROTTLED, QUOTA_EXCEEDED, INVALID_API_KEY } = define({ throttleRetryAfterSeconds: 10 });
  assert.equal(THROTTLED?.responseParameters['gatewayresponse.header.Retry-After'], "'10'");
  assert.equal(QUOTA_EXCEEDED?.responseParameters['gatewayresponse.header.Retry-After'], "'3600'");
  assert.ok(!('gatewayresponse.header.Retry-After' in (INVALID_API_KEY?.responseParameters ?? {})));
});

const outcomeOpen = ['INTEGRATION_TIMEOUT', 'INTEGRATION_FAILURE', 'DEFAULT_5XX'];

test('a caller whose request found no instance learns when to come back, unless it may have been an order', () => {
  const retryAfter = (type: string, options?: Partial<GatewayResponsesOptions>) =>
    define(options)[type]?.responseParameters['gatewayresponse.header.Retry-After'];
  for (const type of outcomeOpen) {
    assert.equal(retryAfter(type), "'2'", type);
    assert.equal(retryAfter(type, { hasSideEffects: true }), undefined, type);
  }
});

test('a defect of the configuration does not pass by itself: no caller is invited back', () => {
  for (const type of ['API_CONFIGURATION_ERROR', 'AUTHORIZER_CONFIGURATION_ERROR', 'AUTHORIZER_FAILURE'])
    assert.ok(!('gatewayresponse.header.Retry-After' in (define()[type]?.responseParameters ?? {})), type);
});

test('where operations have side effects, a lost answer is said to leave the outcome open', () => {
  for (const type of outcomeOpen) {
    const open = problemOf(define({ hasSideEffects: true })[type]);
    assert.match(open.detail, /may or may not have taken effect/, type);
    assert.match(open.find_out ?? '', /before sending anything again/, type);
    const plain = problemOf(define()[type]);
    assert.equal(plain.find_out, undefined, type);
    assert.doesNotMatch(plain.detail, /effect/, type);
  }
});

test('refusals carry the one origin, * for several, and nothing without any', () => {
  const name = 'gatewayresponse.header.Access-Control-Allow-Origin';
  const of = (...origins: string[]) => define({ origins }).THROTTLED?.responseParameters;
  assert.equal(of('capacitor://localhost')?.[name], "'capacitor://localhost'");
  assert.equal(of('https://a.example', 'https://b.example')?.[name], "'*'");
  assert.equal(of('*')?.[name], "'*'");
  assert.match(of('*')?.['gatewayresponse.header.Access-Control-Expose-Headers'] ?? '', /retry-after/);
  assert.doesNotMatch(JSON.stringify(define()), /access-control/i);
});
