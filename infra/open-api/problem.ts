/** Finds which errors an operation can have, and documents them. */

import type { Operation } from '../../lib/catalogue/index.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';
import { type RefusalCode, refusalKinds, refusalResponse } from '../../lib/gateway/index.ts';
import { faultsInWords } from '../../lib/problem.ts';
import type { Json, JsonObject } from '../json.ts';
import { codes, problem, refusal } from './problem-schema.ts';
import type { Schemas } from './schemas.ts';

/** Errors of paths and methods that are in no document. */
const notOfAnOperation: readonly RefusalCode[] = ['unknown_operation', 'method_not_allowed'];
const ofBodies: readonly RefusalCode[] = ['payload_too_large', 'unsupported_media_type'];
/** Errors of an operation that the gateway answers with a constant. */
const ofConstants: readonly RefusalCode[] = ['invalid_parameter'];
/** Errors of a read, in place of which a request with a side effect has `outcome_unknown`. */
const ofReads: readonly RefusalCode[] = [
  'upstream_error',
  'upstream_broken_answer',
  'upstream_answer_too_large',
  'upstream_timeout',
];
const ofShared: readonly RefusalCode[] = ['no_fresh_answer'];
/** Errors that in a deployment may come from API Gateway, with a time to retry after. */
const ofApiGateway: readonly RefusalCode[] = ['gateway_error', 'gateway_timeout'];
const ofSideEffects: readonly RefusalCode[] = ['outcome_unknown'];
/** Errors of operations whose callers the gateway identifies. */
const ofUsers: readonly RefusalCode[] = [
  'missing_token',
  'invalid_token',
  'insufficient_scope',
  'access_unavailable',
];
const ofAccounts: readonly RefusalCode[] = ['account_not_granted'];
/** Errors of requests that the journal records. */
const ofJournaled: readonly RefusalCode[] = ['idempotency_conflict', 'journal_unavailable'];
/** Errors of pre-trade checks and of the kill switch. */
const ofGuarded: readonly RefusalCode[] = ['order_blocked', 'trading_limits_unavailable', 'orders_closed'];
/** Errors of answers from the gateway's journal, which a deployment may lack. The upstream and its limits play no part. */
const ofJournalAnswers: readonly RefusalCode[] = ['unknown_operation', 'journal_unavailable'];
const ofUpstream = /^(upstream_|data_not_subscribed$|budget_used_up$)/;

/** Statuses of codes that have more than one. */
const statuses: Partial<Record<RefusalCode, readonly number[]>> = {
  upstream_rejected: [400, 403, 404, 422],
  gateway_error: [500, 502],
  // 504 if the client accepts only cached answers.
  no_fresh_answer: [503, 504],
};

const statusesOf = (code: RefusalCode) => statuses[code] ?? [refusalKinds[code].status];

function canAnswer(
  { body, sideEffect, freshness, gatewayAnswer, answeredBy, accounts }: Operation,
  asks: boolean,
  code: RefusalCode,
): boolean {
  if (answeredBy && ofJournalAnswers.includes(code)) return true;
  if (notOfAnOperation.includes(code) || (answeredBy && ofUpstream.test(code))) return false;
  if (gatewayAnswer) return ofConstants.includes(code);
  if (ofBodies.includes(code)) return body !== undefined;
  if (ofUsers.includes(code)) return asks;
  if (ofAccounts.includes(code)) return asks && accounts !== undefined;
  if (ofJournaled.includes(code)) return sideEffect?.journal !== undefined;
  if (ofGuarded.includes(code)) return sideEffect !== undefined && isGuarded({ sideEffect });
  if (ofShared.includes(code)) return freshness !== undefined;
  if (ofReads.includes(code)) return sideEffect === undefined;
  return !ofSideEffects.includes(code) || sideEffect !== undefined;
}

/** References by status, to responses that `components` returns afterwards. */
export interface ProblemResponses {
  /** @param asks whether callers must authenticate */
  of(operation: Operation, asks: boolean): JsonObject;
  components(): JsonObject;
}

export function createRefusals(schemas: Schemas): ProblemResponses {
  const components = new Map<string, JsonObject>();
  return {
    of(operation, asks) {
      const possible = codes.filter((code) => canAnswer(operation, asks, code));
      const byStatus = [...new Set(possible.flatMap(statusesOf))].sort((one, other) => one - other);
      return Object.fromEntries(
        byStatus.map((status) => {
          const here = possible.filter((code) => statusesOf(code).includes(status));
          const name = nameOf(status, here, operation);
          if (!components.has(name)) components.set(name, responseObject(status, here, operation, schemas));
          return [String(status), { $ref: `#/components/responses/${name}` }];
        }),
      );
    },
    components: () => Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** Names a response after its status and, where orders, reads and the gateway's own answers differ, after their kind. */
function nameOf(
  status: number,
  here: readonly RefusalCode[],
  { gatewayAnswer, answeredBy }: Operation,
): string {
  const { title } = exampleBody(status, here[0] as RefusalCode);
  const words = String(title).replaceAll(' ', '');
  const has = (some: readonly RefusalCode[]) => here.some((code) => some.includes(code));
  // All operations with a 401 identify their callers, so their name needs no suffix.
  const users = status === 401 ? '' : has(ofAccounts) ? 'OfAccount' : has(ofUsers) ? 'OfUser' : '';
  if (gatewayAnswer) return `${words}OfConstant`;
  if (answeredBy) return `${words}OfOwnAnswer${users}`;
  if (has(ofShared)) return `${words}OfSharedRead${users}`;
  if (has(ofGuarded)) return `${words}OfOrder${users}`;
  return `${words}${has(ofReads) ? 'OfRead' : has(ofJournaled) && status !== 409 ? 'OfChange' : ''}${users}`;
}

function responseObject(
  status: number,
  here: readonly RefusalCode[],
  { sideEffect }: Operation,
  schemas: Schemas,
): JsonObject {
  // API Gateway's own refusals concern reads only; but all operations share one 500, which therefore names it, too.
  const byGateway = here.some((code) => ofApiGateway.includes(code)) && (status === 500 || !sideEffect);
  const waits = byGateway || here.some((code) => 'retry-after' in answerTo(status, code).headers);
  return {
    description: here.map((code) => `- \`${code}\`: ${refusalKinds[code].detail}`).join('\n'),
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      'cache-control': { $ref: '#/components/headers/CacheControl' },
      ...(status === 401 && { 'www-authenticate': { $ref: '#/components/headers/WwwAuthenticate' } }),
      ...(waits && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: Object.fromEntries(
      refusalForms.map(([accept, schema]) => [
        accept,
        {
          schema: schemas.of(schema, 'response'),
          examples: Object.fromEntries(
            here.map((code) => [
              code,
              { value: exampleBody(status, code, { accept, findOut: sideEffect?.findOut }) },
            ]),
          ),
        },
      ]),
    ),
  };
}

/** The form that a client gets by default comes first. */
const refusalForms = [
  ['application/json', refusal],
  ['application/problem+json', problem],
] as const;

interface ProblemContext {
  readonly accept?: string;
  readonly findOut?: string | undefined;
}

function answerTo(status: number, code: RefusalCode, { accept, findOut }: ProblemContext = {}) {
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

const exampleBody = (status: number, code: RefusalCode, asked?: ProblemContext) =>
  JSON.parse(new TextDecoder().decode(answerTo(status, code, asked).body)) as Record<string, Json>;
