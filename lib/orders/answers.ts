/** Answers and outcomes part by part: what an answer says of each part, and the answer that parts make together. */

import type { Answer } from '../answer.ts';
import { textMembers, textOf } from '../kernel/json-members.ts';
import { elementsOf, membersOf } from '../kernel/json-scan.ts';
import { serverFailures, stemOf } from '../upstream/upstream-code.ts';
import type { EntryOutcome } from './journal.ts';
import { type OrderPart, ordersIn, type Submission } from './parts.ts';
import type { RecordedOutcome } from './record.ts';

export interface PartOutcome extends Omit<RecordedOutcome, 'at'> {
  readonly part: OrderPart;
  readonly state: EntryOutcome['state'];
}

/** What the outcome of a request says of each part that was sent. */
export function partOutcomes(
  change: Submission,
  sent: readonly OrderPart[],
  outcome: Answer,
): readonly PartOutcome[] {
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
    if (!namesAsked(change, answer)) return sent.map((part) => ({ part, state: 'unknown' }));
    return sent.map((part) => ({ part, state: 'accepted', evidence: 'answer', answer }));
  }
  const answers = ordersAnswered(body);
  return sent.map((part) => {
    const own = answers.filter((one) => idOf(one) === part.clientOrderId);
    // Two that speak for one order may contradict each other.
    return eachOutcome(part, own.length === 1 ? own[0] : undefined);
  });
}

const answeredIds = ['client_order_id', 'order_id', 'client_combo_order_id', 'combo_order_id'] as const;

/**
 * Whether an answer speaks for the orders that were asked. One order is named by its own id and gets an `order_id`, a
 * combination gets a `combo_order_id` and is named by its own id where the client chose one. (seen live, vendor docs) What
 * changes a part of a combination may be answered in either form.
 */
function namesAsked({ body, operation }: Submission, answer: string): boolean {
  const { journal, cancels } = operation.sideEffect ?? {};
  const list = journal?.by === 'client_order_id' ? journal.list : 'modify_orders';
  const orders = cancels ? [body] : ordersIn(body, list);
  // Changes of watchlists have none.
  if (orders.length === 0) return true;
  const said = textMembers(answer, answeredIds);
  const [id, orderId, comboId, comboOrderId] = answeredIds.map((name) => said?.get(name));
  const askedComboId = textMembers(body, ['client_combo_order_id'])?.get('client_combo_order_id');
  if (id && !orders.some((order) => idOf(order) === id)) return false;
  if (comboId && askedComboId && comboId !== askedComboId) return false;
  if (list === 'modify_orders') return Boolean(id || comboId || comboOrderId);
  const type = textMembers(orders[0]!, ['combo_type'])?.get('combo_type') ?? 'NORMAL';
  if (orders.length === 1 && type === 'NORMAL') return Boolean(id && orderId);
  return Boolean(comboOrderId && (comboId || !askedComboId));
}

/**
 * Of a part of a batch: a refused one has a code. An id that is used up may be that of an earlier part that was lost, and
 * an order at which a server failed, or that has an id of the upstream all the same, may be placed.
 */
function eachOutcome(part: OrderPart, answer: string | undefined): PartOutcome {
  const members = textMembers(answer ?? '{}', ['error_code', 'order_id']);
  const [code, orderId] = [members?.get('error_code'), members?.get('order_id')];
  if (answer === undefined || (!code && !orderId)) return { part, state: 'unknown' };
  if (!code) return { part, state: 'accepted', evidence: 'answer', answer };
  const stem = stemOf(code);
  if (orderId || stem === 'TRADE_PLACE_ORDER_REPEAT' || serverFailures.includes(stem))
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

export const isEach = ({ operation }: Submission): boolean => {
  const journal = operation.sideEffect?.journal;
  return journal?.by === 'client_order_id' && journal.answered === 'each';
};

/**
 * One answer for all parts.
 *
 * @param answers of each part; of parts that are answered together the same
 */
export function joinAnswers(
  change: Submission,
  all: readonly OrderPart[],
  answers: ReadonlyMap<OrderPart, string>,
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
