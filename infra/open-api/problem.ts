/** Which errors an operation can have, and how they are documented. */

import type { Operation } from '../../lib/catalogue/index.ts';
import { type RefusalCode, refusalKinds, refusalResponse } from '../../lib/gateway/index.ts';
import { faultsInWords } from '../../lib/problem.ts';
import type { Json, JsonObject } from '../json.ts';
import { codes, problem, refusal } from './problem-schema.ts';
import type { Schemas } from './schemas.ts';

/** For paths that are in no document. */
const notOfAnOperation: readonly RefusalCode[] = ['unknown_operation', 'method_not_allowed'];
const ofBodies: readonly RefusalCode[] = ['payload_too_large', 'unsupported_media_type'];
/** Of an operation that the gateway answers with a constant. */
const ofConstants: readonly RefusalCode[] = ['invalid_parameter'];
/** The code of a read where a request with a side effect has an unknown outcome. */
const ofReads: readonly RefusalCode[] = [
  'upstream_error',
  'upstream_broken_answer',
  'upstream_answer_too_large',
  'upstream_timeout',
];
const ofShared: readonly RefusalCode[] = ['no_fresh_answer'];
/** Deployed, they may come from API Gateway, with a time to retry after. */
const ofApiGateway: readonly RefusalCode[] = ['gateway_error', 'gateway_timeout'];
const ofSideEffects: readonly RefusalCode[] = ['outcome_unknown'];

/** Codes that come with more statuses than their own. */
const statuses: Partial<Record<RefusalCode, readonly number[]>> = {
  upstream_rejected: [400, 403, 404, 422],
  gateway_error: [500, 502],
  // 504 where the client takes only what is cached.
  no_fresh_answer: [503, 504],
};

const statusesOf = (code: RefusalCode) => statuses[code] ?? [refusalKinds[code].status];

function canAnswer({ body, sideEffect, freshness, gatewayAnswer }: Operation, code: RefusalCode): boolean {
  if (notOfAnOperation.includes(code)) return false;
  if (gatewayAnswer) return ofConstants.includes(code);
  if (ofBodies.includes(code)) return body !== undefined;
  if (ofShared.includes(code)) return freshness !== undefined;
  if (ofReads.includes(code)) return sideEffect === undefined;
  return !ofSideEffects.includes(code) || sideEffect !== undefined;
}

/** References by status, to responses that `components` gives afterwards. */
export interface Refusals {
  of(operation: Operation): JsonObject;
  components(): JsonObject;
}

export function createRefusals(schemas: Schemas): Refusals {
  const components = new Map<string, JsonObject>();
  return {
    of(operation) {
      const possible = codes.filter((code) => canAnswer(operation, code));
      const byStatus = [...new Set(possible.flatMap(statusesOf))].sort((one, other) => one - other);
      return Object.fromEntries(
        byStatus.map((status) => {
          const here = possible.filter((code) => statusesOf(code).includes(status));
          // A constant has fewer refusals of a status than what is sent on.
          const name = `${nameOf(status, here)}${operation.gatewayAnswer ? 'OfConstant' : ''}`;
          if (!components.has(name)) components.set(name, response(status, here, operation, schemas));
          return [String(status), { $ref: `#/components/responses/${name}` }];
        }),
      );
    },
    components: () => Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** The status in words; where orders and reads differ, with what it is about. */
function nameOf(status: number, here: readonly RefusalCode[]): string {
  const { title } = example(status, here[0] as RefusalCode);
  const words = String(title).replaceAll(' ', '');
  if (here.some((code) => ofShared.includes(code))) return `${words}OfSharedRead`;
  return here.some((code) => ofReads.includes(code)) ? `${words}OfRead` : words;
}

function response(
  status: number,
  here: readonly RefusalCode[],
  { sideEffect }: Operation,
  schemas: Schemas,
): JsonObject {
  // From API Gateway itself, for reads only. All operations have the same 500, so it stands there for all.
  const byGateway = here.some((code) => ofApiGateway.includes(code)) && (status === 500 || !sideEffect);
  const waits = byGateway || here.some((code) => 'retry-after' in answerTo(status, code).headers);
  return {
    description: here.map((code) => `- \`${code}\`: ${refusalKinds[code].detail}`).join('\n'),
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      'cache-control': { $ref: '#/components/headers/CacheControl' },
      ...(waits && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: Object.fromEntries(
      forms.map(([accept, schema]) => [
        accept,
        {
          schema: schemas.of(schema, 'response'),
          examples: Object.fromEntries(
            here.map((code) => [
              code,
              { value: example(status, code, { accept, findOut: sideEffect?.findOut }) },
            ]),
          ),
        },
      ]),
    ),
  };
}

/** What a client gets without naming anything comes first. */
const forms = [
  ['application/json', refusal],
  ['application/problem+json', problem],
] as const;

interface Asked {
  readonly accept?: string;
  readonly findOut?: string | undefined;
}

function answerTo(status: number, code: RefusalCode, { accept, findOut }: Asked = {}) {
  return refusalResponse(
    {
      code,
      status,
      ...(code === 'throttled' && { retryAfterSeconds: 1 }),
      ...(ofSideEffects.includes(code) && findOut !== undefined && { findOut }),
      ...(code === 'invalid_parameter' && {
        errors: [wrongCategory],
        detail: faultsInWords([wrongCategory]),
      }),
      ...(code === 'upstream_rejected' && {
        upstream: {
          status: status === 422 ? 417 : status,
          errorCode: 'INVALID_PARAMETER',
          message: 'symbol',
        },
      }),
    },
    '5bede46d-440d-41ae-a2e1-570d323012d3',
    accept,
  );
}

const wrongCategory = {
  in: 'query',
  name: 'category',
  detail: 'not an allowed value',
  allowed: 'one of US_STOCK, US_ETF',
  received: 'US',
} as const;

const example = (status: number, code: RefusalCode, asked?: Asked) =>
  JSON.parse(new TextDecoder().decode(answerTo(status, code, asked).body)) as Record<string, Json>;
