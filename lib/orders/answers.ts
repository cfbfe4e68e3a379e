/** Answers and outcomes part by part: what an answer says of each part, and the answer that parts make together. */

import type { Answer } from '../answer.ts';
import { textMembers, textOf } from '../kernel/json-members.ts';
import { elementsOf, membersOf } from '../kernel/json-scan.ts';
import { serverFailures, stemOf } from '../upstream/upstream-code.ts';
import type { EntryOutcome } from './journal.ts';
import type { Change, Part } from './parts.ts';
import type { RecordedOutcome } from './record.ts';

export interface PartOutcome extends Omit<RecordedOutcome, 'at'> {
  readonly part: Part;
  readonly state: EntryOutcome['state'];
}

/** What the outcome of a request says of each part that was sent. */
export function partOutcomes(change: Change, sent: readonly Part[], outcome: Answer): readonly PartOutcome[] {
  if (outcome.kind === 'refused') {
    const { code, upstream } = outcome.refusal;
    const state = code === 'outcome_unknown' ? 'unknown' : 'refused';
    const evidence = state === 'refused' && {
      evidence: upstream ? ('answer' as const) : ('not_sent' as const),
    };
    const said = { code, ...(upstream?.errorCode && { upstream_code: upstream.errorCode }), ...evidence };
    return sent.map((part) => ({ part, state, ...said }));
  }
  const body = 'body' in outcome ? outcome.body : new Uint8Array();
  if (!isEach(change)) {
    const answer = textOf(body);
    return sent.map((part) => ({ part, state: 'accepted', evidence: 'answer', answer }));
  }
  const answers = new Map(ordersAnswered(body).map((one) => [idOf(one), one]));
  return sent.map((part) => eachOutcome(part, answers.get(part.clientOrderId)));
}

/**
 * Of a part of a batch: a refused one has a code. An id that is used up may be that of an earlier part that was lost, and
 * an order at which a server failed, or that has an id of the upstream all the same, may be placed.
 */
function eachOutcome(part: Part, answer: string | undefined): PartOutcome {
  if (answer === undefined) return { part, state: 'unknown' };
  const members = textMembers(answer, ['error_code', 'order_id']);
  const code = members?.get('error_code');
  if (!code) return { part, state: 'accepted', evidence: 'answer', answer };
  const stem = stemOf(code);
  if (members?.get('order_id') || stem === 'TRADE_PLACE_ORDER_REPEAT' || serverFailures.includes(stem))
    return { part, state: 'unknown', upstream_code: code, answer };
  return {
    part,
    state: 'refused',
    evidence: 'answer',
    code: 'upstream_rejected',
    upstream_code: code,
    answer,
  };
}

export const isEach = ({ operation }: Change): boolean => {
  const journal = operation.sideEffect?.journal;
  return journal?.by === 'client_order_id' && journal.answered === 'each';
};

/**
 * One answer for all parts.
 *
 * @param answers of each part; of parts that are answered together the same
 */
export function joinAnswers(
  change: Change,
  all: readonly Part[],
  answers: ReadonlyMap<Part, string>,
): Uint8Array {
  const texts = all.flatMap((part) => answers.get(part) ?? []);
  return new TextEncoder().encode(isEach(change) ? batchAnswer(texts) : texts[0]);
}

function batchAnswer(orders: readonly string[]): string {
  const failed = orders.filter((one) => textMembers(one, ['error_code'])?.get('error_code')).length;
  const counts = `"total":${orders.length},"success":${orders.length - failed},"failed":${failed}`;
  return `{${counts},"batch_orders":[${orders.join(',')}]}`;
}

function ordersAnswered(body: Uint8Array): readonly string[] {
  const list = membersOf(body, ['batch_orders'])?.get('batch_orders');
  return list ? [...elementsOf(list)].map(textOf) : [];
}

const idOf = (order: string): string | undefined =>
  textMembers(order, ['client_order_id'])?.get('client_order_id');
