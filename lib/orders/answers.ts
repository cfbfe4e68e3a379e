/** Divides an answer into the outcomes of a request's parts, and joins the answers of parts to one answer. */

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

/** The outcome of each part that was sent, read from the answer to the request. */
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
    // Two answers for one order may contradict each other, so neither counts.
    return eachOutcome(part, own.length === 1 ? own[0] : undefined);
  });
}

const answeredIds = ['client_order_id', 'order_id', 'client_combo_order_id', 'combo_order_id'] as const;

/**
 * Whether an answer is about the requested orders. The answer to a single order has its `client_order_id` and an
 * `order_id`; the answer to a combination has a `combo_order_id`, and the combination's own id where the client chose one.
 * (seen live, vendor docs) The answer to a change of a combination's part may have either form.
 */
function namesAsked({ body, operation }: Submission, answer: string): boolean {
  const { journal, cancels } = operation.sideEffect ?? {};
  const list = journal?.by === 'client_order_id' ? journal.list : 'modify_orders';
  const orders = cancels ? [body] : ordersIn(body, list);
  // Changes of watchlists have no orders.
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
 * The outcome of one part of a batch. A refused part has a code, but some codes leave the outcome unknown: a used id may
 * be that of an earlier attempt whose answer was lost, and an order may be placed although a server failed or beside an
 * `order_id`.
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
 * Joins the answers of the parts to the answer of the request.
 *
 * @param answers the answer of each part; parts that are answered together have the same one
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
