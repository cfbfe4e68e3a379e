/** Adapter between API Gateway's REST proxy event (payload version 1.0) and the core's request and response. */

import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { principalArn } from '../../lib/access/evidence.ts';
import type { GatewayRequest, GatewayResponse } from '../../lib/gateway/http.ts';
import { callerOf, type NetworkPrefix } from '../../lib/identity/caller.ts';
import { evidenceIn, type SenderContext } from './evidence.ts';

/** The part of the event that this module reads. */
export type ProxyEvent = Pick<
  APIGatewayProxyEvent,
  | 'resource'
  | 'httpMethod'
  | 'headers'
  | 'multiValueHeaders'
  | 'queryStringParameters'
  | 'multiValueQueryStringParameters'
  | 'body'
  | 'isBase64Encoded'
> & { readonly requestContext: ProxyContext } & Partial<Pick<APIGatewayProxyEvent, 'pathParameters'>>;

type ProxyContext = Pick<APIGatewayProxyEvent['requestContext'], 'requestId'> & SenderContext;

/**
 * @param prefix length of the part of an address that counts as one network
 * @throws TypeError for an event of another kind
 */
export async function toGatewayRequest(event: ProxyEvent, prefix?: NetworkPrefix): Promise<GatewayRequest> {
  if (typeof event?.resource !== 'string' || !event.requestContext) throw new TypeError(otherEvent(event));
  const evidence = evidenceIn(event.requestContext);
  return {
    method: event.httpMethod,
    path: pathOf(event),
    query: toQuery(event),
    headers: toHeaders(event),
    requestId: event.requestContext.requestId,
    ...(await callerIn(event.requestContext, prefix)),
    ...(evidence && { evidence }),
    ...(event.body !== null && { body: Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8') }),
  };
}

/** Tells the operator, who finds it in the function's log, what the caller sent in place of a request. */
function otherEvent(event: unknown): string {
  const { version } = (event ?? {}) as { readonly version?: unknown };
  const sent =
    version === '2.0'
      ? 'an event of payload version 2.0, from an HTTP API or a function URL: put a REST API in front, or set the integration’s payload version to 1.0'
      : 'no request, such as a warm-up: let its schedule call another function, or give it the event of a request';
  return `This handler takes proxy events of API Gateway with payload version 1.0, and was sent ${sent}.`;
}

/**
 * The route's path, not `path`, which contains the base-path mapping of a custom domain. A greedy resource, such as
 * `/{proxy+}`, has the rest of its path in a parameter.
 */
const pathOf = ({ resource, pathParameters }: ProxyEvent): string =>
  resource.replace(/\{(\w+)\+\}$/, (whole, name: string) => pathParameters?.[name] ?? whole);

/**
 * Identifies the caller as API Gateway does: by the id, not the value, of an API key, or by an AWS signature, where all
 * sessions of a role count as the role; and by the address that the client connected from, which no header can change.
 */
async function callerIn(
  { identity }: ProxyContext,
  prefix: NetworkPrefix | undefined,
): Promise<Pick<GatewayRequest, 'caller'>> {
  const key = identity?.apiKeyId || principalArn(identity?.userArn ?? '');
  const address = identity?.sourceIp || undefined;
  return key || address ? { caller: await callerOf({ key, address }, prefix) } : {};
}

/** API Gateway passes decoded values; it has lost the order of different names already. */
function toQuery(event: ProxyEvent): readonly (readonly [string, string])[] {
  const many = event.multiValueQueryStringParameters;
  if (many)
    return Object.entries(many).flatMap(([name, values]) =>
      (values ?? []).map((value) => [name, value] as const),
    );
  return Object.entries(event.queryStringParameters ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
}

/**
 * Names arrive in the case in which the client wrote them. The last line of a repeated header counts, with two exceptions.
 * The lines of Accept are one list (RFC 9110, 5.3), and any of them may name the format of refusals. Two lines of
 * Authorization are joined into an invalid one, because the gateway must not guess which is meant.
 */
function toHeaders({ headers, multiValueHeaders }: ProxyEvent): Readonly<Record<string, string>> {
  const single =
    headers ??
    Object.fromEntries(
      Object.entries(multiValueHeaders ?? {}).map(([name, values]) => [name, values?.at(-1)]),
    );
  const linesOf = (wanted: string) =>
    Object.entries(multiValueHeaders ?? {}).flatMap(([name, values]) =>
      name.toLowerCase() === wanted ? (values ?? []) : [],
    );
  const joined = ['accept', 'authorization'].flatMap((name) => {
    const lines = linesOf(name);
    return lines.length > 1 ? [[name, lines.join(', ')]] : [];
  });
  return Object.fromEntries([
    ...Object.entries(single).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), value]],
    ),
    ...joined,
  ]);
}

/** Sends valid UTF-8 as text and other bytes as base64, so that no byte changes on the way. */
export function toProxyResult({ status, headers, body }: GatewayResponse): APIGatewayProxyResult {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const exact = isUtf8(bytes);
  return {
    statusCode: status,
    headers: { ...headers },
    body: bytes.toString(exact ? 'utf8' : 'base64'),
    isBase64Encoded: !exact,
  };
}
