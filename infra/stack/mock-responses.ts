/**
 * What API Gateway serves by itself, without a function and without a key: health, operations that a gateway answers
 * with a constant, and browsers' preflights.
 */

import type { Operation } from '../../lib/catalogue/index.ts';
import { healthBody, originHeaders, preflightHeaders } from '../api-gateway-answers.ts';
import type { JsonObject } from '../json.ts';
import { constant } from './gateway-responses.ts';

/** Shows that the API is deployed and nothing else: it knows nothing of the secret or the upstream. */
export const health = (origins: readonly string[]): JsonObject => ({
  get: constantAnswer('health', healthBody, origins),
  // For clients that send their key with everything.
  ...(origins.length > 0 && { options: preflight(origins) }),
});

/** A GET that is always answered with the same JSON. */
export const constantAnswer = (operationId: string, body: string, origins: readonly string[]): JsonObject =>
  mock({
    operationId,
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    body,
    origins,
    contentTypes: anyContentType,
  });

/**
 * API Gateway refuses a type that has no template with 415, also of a GET. No template takes all types, so these are
 * the ones that HTTP clients send by default; parameters such as `charset` do not count.
 */
const anyContentType = ['application/json', 'application/x-www-form-urlencoded', 'text/plain'] as const;

/** @param operation the one that is asked for */
export const preflight = (origins: readonly string[], operation?: Operation): JsonObject =>
  mock({
    status: 204,
    headers: preflightHeaders(operation),
    body: '',
    origins,
  });

function mock({
  operationId,
  status,
  headers,
  body,
  origins,
  contentTypes = ['application/json'],
}: {
  readonly operationId?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly origins: readonly string[];
  /** Of a request; without one it counts as JSON. */
  readonly contentTypes?: readonly string[];
}): JsonObject {
  const all: Readonly<Record<string, string>> = { ...headers, ...originHeaders(origins) };
  const names = Object.keys(all);
  return {
    ...(operationId && { operationId }),
    responses: {
      [status]: {
        description: 'Answered by API Gateway',
        headers: Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }])),
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      passthroughBehavior: 'never',
      requestTemplates: Object.fromEntries(contentTypes.map((type) => [type, `{"statusCode":${status}}`])),
      responses: {
        default: {
          statusCode: String(status),
          responseParameters: Object.fromEntries(
            names.map((name) => [`method.response.header.${name}`, constant(all[name] ?? '')]),
          ),
          responseTemplates: { 'application/json': `${chooseOrigin(origins)}${body}` },
        },
      },
    },
  };
}

/**
 * Puts the caller's origin in place of the first one if it is among the others. A caller that is not gets
 * the first, which its browser refuses. Header names arrive as the client wrote them: HTTP/2 in lower case.
 */
function chooseOrigin(origins: readonly string[]): string {
  if (origins.length < 2) return '';
  const isOne = origins.slice(1).map((origin) => `$origin == "${origin}"`);
  return [
    '#set($origin = $input.params().header.get("origin"))',
    '#if(!$origin || $origin == "")#set($origin = $input.params().header.get("Origin"))#end',
    `#if(${isOne.join(' || ')})`,
    '#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)',
    '#end',
    '',
  ].join('\n');
}
