/**
 * API Gateway's own refusals in the gateway's flat error shape. The texts are those of the core; what AWS cannot tell
 * apart is worded so that it is true of each case.
 */

import { type Refusal, refusalKinds, refusalResponse } from '../../lib/gateway/index.ts';
import { type AccessMode, accessModes, authorizersDetail } from '../access-modes.ts';
import { refusalHeaders } from '../api-gateway-answers.ts';
import type { JsonObject } from '../json.ts';

export interface GatewayResponsesOptions {
  /** With which callers reach the API. */
  readonly modes: readonly AccessMode[];
  /** Some routed operation changes state at the upstream. */
  readonly hasSideEffects: boolean;
  readonly origins: readonly string[];
  readonly throttleRetryAfterSeconds: number;
}

/**
 * Every type gets its status here: the two defaults need one too, because a body that names its status must
 * not be sent with another.
 */
export function gatewayResponses(options: GatewayResponsesOptions): JsonObject {
  const cors = refusalHeaders(options.origins);
  return Object.fromEntries(
    // In one order with any modes: a deployment's id is a hash of the text.
    Object.entries(refusals(options))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([type, refusal]) => {
        const { status, headers, body } = refusalResponse(refusal, '$context.requestId');
        return [
          type,
          {
            statusCode: String(status),
            responseParameters: mapped({ ...headers, ...cors }),
            // One for every Accept: no refusal of these has a list, so that the nested form has the same members. Of
            // several templates AWS takes "the first" where the Accept is not the type of one, and does not say which.
            responseTemplates: { 'application/json': template(new TextDecoder().decode(body)) },
          },
        ];
      }),
  );
}

function refusals({
  modes,
  hasSideEffects,
  throttleRetryAfterSeconds,
}: GatewayResponsesOptions): Readonly<Record<string, Refusal>> {
  const unknown: Refusal = {
    code: 'unknown_operation',
    detail: 'No operation has this path and method, or its group is not open here.',
  };
  // API Gateway refuses here without knowing what became of the request, nor which operation it was: where one
  // of them changes something, no refusal may invite the client to send it again.
  const outcomeOpen = (refusal: Pick<Refusal, 'code' | 'status'>): Refusal =>
    hasSideEffects
      ? {
          ...refusal,
          detail: `${refusalKinds[refusal.code].detail} If the request has a side effect, it may or may not have taken effect.`,
          findOut:
            'After a request with a side effect, read what became of it before sending anything again.',
        }
      : { ...refusal, retryAfterSeconds: instanceFreeSeconds };
  const notAllowed: Refusal = { code: 'forbidden' };
  const ourFault: Refusal = { code: 'gateway_error' };
  return {
    ACCESS_DENIED: notAllowed,
    API_CONFIGURATION_ERROR: ourFault,
    AUTHORIZER_CONFIGURATION_ERROR: ourFault,
    AUTHORIZER_FAILURE: ourFault,
    BAD_REQUEST_BODY: { code: 'invalid_body' },
    BAD_REQUEST_PARAMETERS: { code: 'invalid_parameter', detail: missingParameters },
    DEFAULT_4XX: { code: 'invalid_parameter', detail: 'The request cannot be read.' },
    // A function that crashed or ran out of its time is answered with this one; one that Lambda could not start,
    // because no instance is free, with this one or INTEGRATION_FAILURE: AWS documents neither.
    DEFAULT_5XX: outcomeOpen(ourFault),
    EXPIRED_TOKEN: unknown,
    INTEGRATION_FAILURE: outcomeOpen({ code: 'gateway_error', status: 502 }),
    INTEGRATION_TIMEOUT: outcomeOpen({ code: 'gateway_timeout' }),
    INVALID_SIGNATURE: unknown,
    MISSING_AUTHENTICATION_TOKEN: unknown,
    QUOTA_EXCEEDED: { code: 'quota_exceeded' },
    REQUEST_TOO_LARGE: { code: 'payload_too_large' },
    RESOURCE_NOT_FOUND: { code: 'unknown_operation' },
    THROTTLED: { code: 'throttled', retryAfterSeconds: throttleRetryAfterSeconds },
    UNAUTHORIZED: notAllowed,
    UNSUPPORTED_MEDIA_TYPE: { code: 'unsupported_media_type' },
    WAF_FILTERED: notAllowed,
    ...Object.assign({}, ...modes.map((mode) => accessModes[mode].refusals)),
  };
}

/**
 * When a read makes sense again that Lambda had no instance for. Instances that start meanwhile are warm by then,
 * and each serves tens of reads a second. The figure is the same for all, so those that were refused come back as
 * spread out as they came; API Gateway can put no random one here.
 */
const instanceFreeSeconds = 2;

/** Stands for API Gateway's own text, which names the parameters that are missing. */
const missingParameters = 'missing parameters';

/**
 * API Gateway puts its variables in; `messageString` brings its own quotation marks. Only ASCII: on its way
 * through CloudFormation any other character may become a question mark.
 */
function template(json: string): string {
  return json
    .replaceAll(JSON.stringify(missingParameters), '$context.error.messageString')
    .replaceAll(authorizersDetail, '$context.authorizer.detail')
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function mapped(headers: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(headers)
      // Only constants and request parameters can be mapped here; API Gateway sends the id by itself, as
      // x-amzn-RequestId.
      .filter(([name]) => name !== 'x-request-id')
      .map(([name, value]) => [
        `gatewayresponse.header.${name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())}`,
        constant(name === 'www-authenticate' ? withoutDescription(value) : value),
      ]),
  );
}

/** The authorizer's sentence, which API Gateway puts into a body, but not into a header. */
const withoutDescription = (challenge: string) => challenge.replace(/, error_description=.*$/, '');

/** How API Gateway's parameter mappings write a constant. */
export const constant = (value: string) => `'${value}'`;
