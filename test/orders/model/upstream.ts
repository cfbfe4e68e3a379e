/** A model of the upstream: an order book in which each id is taken once. */

import type { Answer } from '../../../lib/answer.ts';
import { refused } from '../../../lib/answer.ts';
import type { ReadOrder } from '../../../lib/orders/order-reads.ts';
import { termsOf } from '../../../lib/orders/order-state.ts';

export interface Placing {
  /** The JSON of the order. */
  readonly order: string;
  /** The request that placed it. */
  readonly by: string;
  readonly at: number;
  readonly isFilled?: true;
}

export interface AskedOrder {
  readonly client_order_id: string;
  readonly symbol: string;
  readonly side: string;
  readonly combo_type: string;
  readonly quantity: string;
  readonly limit_price: string;
}

interface AskedBody {
  readonly new_orders?: readonly AskedOrder[];
  readonly batch_orders?: readonly AskedOrder[];
}

export const ordersOf = (body: string): readonly AskedOrder[] => {
  const { new_orders, batch_orders } = JSON.parse(body) as AskedBody;
  return new_orders ?? batch_orders ?? [];
};

const isBatch = (body: string): boolean => 'batch_orders' in JSON.parse(body);

/** The request was sent, and no answer came. */
export const lost: Answer = refused({ code: 'outcome_unknown' });
/** The gateway did not send it. */
export const notSent: Answer = refused({ code: 'gateway_timeout' });
export const refusedByUpstream: Answer = refused({
  code: 'upstream_rejected',
  upstream: { status: 417, errorCode: 'OPENAPI_NO_TRADING_TIME' },
});
const repeated: Answer = refused({
  code: 'outcome_unknown',
  upstream: { status: 417, errorCode: 'OPENAPI_TRADE_PLACE_ORDER_REPEAT' },
});

const answer = (value: unknown): Answer => ({
  kind: 'uncached',
  body: new TextEncoder().encode(JSON.stringify(value)),
});

/** An answer that speaks for no order that was asked, or for none alone. @param drawn between 0 and 1 */
export function answerOfAnother(body: string, drawn: number): Answer {
  const wrong = ({ client_order_id }: AskedOrder): readonly object[] =>
    [
      [{ client_order_id: `${client_order_id}-of-another`, order_id: '7' }],
      [{ order_id: '7' }],
      [{ client_order_id, message: 'something went wrong' }],
      [
        { client_order_id, order_id: '7' },
        { client_order_id, error_code: 'OPENAPI_NO_TRADING_TIME' },
      ],
    ][Math.floor(drawn * 4)]!;
  const [first, ...more] = ordersOf(body);
  if (isBatch(body)) return answer({ batch_orders: [first!, ...more].flatMap(wrong) });
  return answer(Object.assign({}, wrong(first!)[0], drawn >= 0.75 && { order_id: undefined }));
}

/** What the upstream does with some orders of a batch: it refuses the last one, or does not mention it. */
export type Oddity = 'refuses_last' | 'silent_of_last';

export class ModelUpstream {
  readonly book = new Map<string, Placing>();

  /** Executes a request, and answers as the gateway reads the answer. */
  execute(body: string, by: string, at: number, oddity?: Oddity): Answer {
    const orders = ordersOf(body);
    if (isBatch(body)) return this.#executeEach(orders, by, at, oddity);
    if (orders.some(({ client_order_id: id }) => this.book.has(id))) return repeated;
    for (const order of orders) this.#place(order, by, at);
    const [first, ...more] = orders;
    const id = first!.client_order_id;
    return answer(
      more.length > 0
        ? { client_combo_order_id: id, combo_order_id: `combo-${id}` }
        : { client_order_id: id, order_id: `order-${id}` },
    );
  }

  #executeEach(orders: readonly AskedOrder[], by: string, at: number, oddity?: Oddity): Answer {
    const results = orders.map((order, index) => {
      const id = order.client_order_id;
      const isLast = index === orders.length - 1;
      if (this.book.has(id))
        return { client_order_id: id, error_code: 'OPENAPI_TRADE_PLACE_ORDER_REPEAT', message: 'used' };
      if (isLast && oddity === 'refuses_last')
        return { client_order_id: id, error_code: 'OPENAPI_NO_TRADING_TIME', message: 'no' };
      this.#place(order, by, at);
      return { client_order_id: id, order_id: `order-${id}` };
    });
    const told = oddity === 'silent_of_last' ? results.slice(0, -1) : results;
    return answer({ total: told.length, batch_orders: told });
  }

  #place(order: AskedOrder, by: string, at: number): void {
    this.book.set(order.client_order_id, { order: JSON.stringify(order), by, at });
  }

  /** It is executed as a whole. */
  fill(id: string): void {
    const placing = this.book.get(id);
    if (placing) this.book.set(id, { ...placing, isFilled: true });
  }

  get open(): readonly string[] {
    return [...this.book].flatMap(([id, { isFilled }]) => (isFilled ? [] : [id]));
  }

  lookUp(account: string, id: string): ReadOrder | 'not_found' {
    const placing = this.book.get(id);
    return placing ? shown(account, placing) : 'not_found';
  }

  list(account: string, ids: Iterable<string>): readonly ReadOrder[] {
    return [...ids].flatMap((id) => shown(account, this.book.get(id)!));
  }
}

function shown(account: string, { order, at, isFilled }: Placing): ReadOrder {
  const { client_order_id: clientOrderId, quantity, limit_price, ...more } = JSON.parse(order) as AskedOrder;
  const terms = { total_quantity: quantity, limit_price };
  const [status, filled] = isFilled ? ['FILLED', quantity] : ['SUBMITTED', '0'];
  return {
    state: { account, clientOrderId, status, filled, terms: termsOf(new Map(Object.entries(terms))) },
    payload: JSON.stringify({
      ...more,
      ...terms,
      client_order_id: clientOrderId,
      order_id: `order-${clientOrderId}`,
      place_time: Math.ceil(at),
    }),
  };
}
