/** Which errors an operation can have, and how they are documented. */

import type { Operation } from '../../lib/catalogue/index.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';
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
/** Where the gateway asks who calls. */
const ofUsers: readonly RefusalCode[] = [
  'missing_token',
  'invalid_token',
  'insufficient_scope',
  'access_unavailable',
];
const ofAccounts: readonly RefusalCode[] = ['account_not_granted'];
/** Of requests that the journal keeps. */
const ofJournaled: readonly RefusalCode[] = ['idempotency_conflict', 'journal_unavailable'];
/** Of pre-trade checks and the kill switch. */
const ofGuarded: readonly RefusalCode[] = ['order_blocked', 'trading_limits_unavailable', 'orders_closed'];
/** Of what the gateway answers of its journal: there may be none. Nothing comes from the upstream, and no limit counts. */
const ofJournalAnswers: readonly RefusalCode[] = ['unknown_operation', 'journal_unavailable'];
const ofUpstream = /^(upstream_|data_not_subscribed$|budget_used_up$)/;

/** Codes that come with more statuses than their own. */
const statuses: Partial<Record<RefusalCode, readonly number[]>> = {
  upstream_rejected: [400, 403, 404, 422],
  gateway_error: [500, 502],
  // 504 where the client takes only what is cached.
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

/** References by status, to responses that `components` gives afterwards. */
export interface ProblemResponses {
  /** @param asks whether callers must show who they are */
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
          if (!components.has(name)) components.set(name, response(status, here, operation, schemas));
          return [String(status), { $ref: `#/components/responses/${name}` }];
        }),
      );
    },
    components: () => Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** The status in words; where orders, reads and what the gateway answers by itself differ, with what it is about. */
function nameOf(
  status: number,
  here: readonly RefusalCode[],
  { gatewayAnswer, answeredBy }: Operation,
): string {
  const { title } = example(status, here[0] as RefusalCode);
  const words = String(title).replaceAll(' ', '');
  const has = (some: readonly RefusalCode[]) => here.some((code) => some.includes(code));
  // Where every operation that has the status asks, nothing needs to be told apart.
  const users = status === 401 ? '' : has(ofAccounts) ? 'OfAccount' : has(ofUsers) ? 'OfUser' : '';
  if (gatewayAnswer) return `${words}OfConstant`;
  if (answeredBy) return `${words}OfOwnAnswer${users}`;
  if (has(ofShared)) return `${words}OfSharedRead${users}`;
  if (has(ofGuarded)) return `${words}OfOrder${users}`;
  return `${words}${has(ofReads) ? 'OfRead' : has(ofJournaled) && status !== 409 ? 'OfChange' : ''}${users}`;
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
      ...(status === 401 && { 'www-authenticate': { $ref: '#/components/headers/WwwAuthenticate' } }),
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

const example = (status: number, code: RefusalCode, asked?: ProblemContext) =>
  JSON.parse(new TextDecoder().decode(answerTo(status, code, asked).body)) as Record<string, Json>;
