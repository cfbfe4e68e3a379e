/**
 * Event that API Gateway's REST API gives a Lambda function under proxy integration (payload version 1.0), made from an
 * HTTP request.
 */

import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Request as it came off the wire, with what API Gateway knows about it. */
export interface WireRequest {
  readonly method: string;
  /** Path as sent, without the stage. */
  readonly path: string;
  /** Query after the first `?`, undecoded; undefined when there is no `?`. */
  readonly query: string | undefined;
  /** Names and values in turn, in the order and the case sent (Node's `rawHeaders`). */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
  /** Path of the matching route. */
  readonly resource: string;
  readonly stage: string;
  readonly requestId: string;
  readonly sourceIp: string;
  readonly apiKey: { readonly id: string; readonly value: string };
  /** Unix time in milliseconds. */
  readonly receivedAt: number;
}

export function proxyEvent(request: WireRequest): APIGatewayProxyEvent {
  const headers = groupByName(pairsOf(request.rawHeaders));
  const query = request.query ? groupByName(decodedQuery(request.query)) : undefined;
  return {
    resource: request.resource,
    path: request.path,
    httpMethod: request.method,
    headers: lastOfEach(headers),
    multiValueHeaders: Object.fromEntries(headers),
    queryStringParameters: query ? lastOfEach(query) : null,
    multiValueQueryStringParameters: query ? Object.fromEntries(query) : null,
    pathParameters: null,
    stageVariables: null,
    requestContext: requestContext(request),
    ...eventBody(request.body, lastHeader(request.rawHeaders, 'content-type')),
  };
}

function requestContext(request: WireRequest): APIGatewayProxyEvent['requestContext'] {
  return {
    accountId: '000000000000',
    apiId: 'local',
    stage: request.stage,
    requestId: request.requestId,
    extendedRequestId: request.requestId,
    // Has no stage, as at a domain whose root is the stage: the local URL has none either.
    path: request.path,
    protocol: 'HTTP/1.1',
    httpMethod: request.method,
    resourceId: 'local',
    resourcePath: request.resource,
    requestTime: logTime(request.receivedAt),
    requestTimeEpoch: request.receivedAt,
    authorizer: null,
    identity: {
      sourceIp: request.sourceIp,
      userAgent: lastHeader(request.rawHeaders, 'user-agent') ?? null,
      apiKey: request.apiKey.value,
      apiKeyId: request.apiKey.id,
      accessKey: null,
      accountId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      user: null,
      userArn: null,
    },
  };
}

type NameAndValue = readonly [name: string, value: string];

/**
 * Values of each name, in the order sent. A Map, because `Object.fromEntries` makes own properties from it: assigning to
 * an object would lose a parameter that is called `__proto__`.
 */
function groupByName(pairs: Iterable<NameAndValue>): ReadonlyMap<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const earlier = values.get(name);
    if (earlier) earlier.push(value);
    else values.set(name, [value]);
  }
  return values;
}

/** API Gateway's single-value maps hold the last value of a name. */
function lastOfEach(values: ReadonlyMap<string, readonly string[]>): Record<string, string> {
  return Object.fromEntries([...values].map(([name, all]) => [name, all[all.length - 1] ?? '']));
}

/**
 * Decodes parameters as API Gateway does: percent-decoded once as UTF-8, `+` as a space, a malformed escape unchanged. So
 * does URLSearchParams, which also drops one leading `?`, hence the one that is added.
 */
function decodedQuery(query: string): Iterable<NameAndValue> {
  return new URLSearchParams(`?${query}`);
}

function pairsOf(rawHeaders: readonly string[]): readonly NameAndValue[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
}

function lastHeader(rawHeaders: readonly string[], lowerCaseName: string): string | undefined {
  return pairsOf(rawHeaders).findLast(([name]) => name.toLowerCase() === lowerCaseName)?.[1];
}

/** Media types with text as their content. */
const textual = /^\s*(text\/[^;]+|application\/(json|xml|x-www-form-urlencoded)|[^;]+\+(json|xml))\s*(;|$)/i;

/**
 * Encodes the body without changing a byte: as text if it decodes exactly, else as base64. API Gateway does so for the
 * media types that an API declares as binary. For an API that declares none it passes everything as text and so damages
 * other bytes, which no handler could notice.
 */
function eventBody(
  bytes: Uint8Array,
  contentType: string | undefined,
): Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'> {
  if (bytes.length === 0) return { body: null, isBase64Encoded: false };
  const isText = (contentType === undefined || textual.test(contentType)) && isUtf8(bytes);
  // Buffer, unlike TextDecoder, keeps a byte order mark.
  return { body: Buffer.from(bytes).toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText };
}

/** Time in the form of access logs: `09/Apr/2026:12:34:56 +0000`. */
function logTime(milliseconds: number): string {
  const [, day, month, year, time] = new Date(milliseconds).toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
