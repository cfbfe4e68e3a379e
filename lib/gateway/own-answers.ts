/** What the gateway answers of what it keeps itself: nothing is sent. */

import type { Operation } from '../catalogue/operation.ts';
import type { OrdersOptions } from '../orders/hand-over.ts';
import { orderOutcome } from '../orders/order-outcome.ts';
import { type Outcome, refused } from './outcome.ts';
import type { ValidRequest } from './validate.ts';

type OwnAnswer = (request: ValidRequest) => Promise<Outcome>;

export type OwnAnswers = Readonly<Record<NonNullable<Operation['answeredBy']>, OwnAnswer>>;

/** @param orders absent for a gateway without a journal */
export const createOwnAnswers = (orders: OrdersOptions | undefined, clock: () => number): OwnAnswers => ({
  async journal({ query }) {
    if (!orders) return refused({ code: 'unknown_operation', detail: noJournal });
    const { account_id: account = '', client_order_id: clientOrderId = '' } = Object.fromEntries(query);
    const asked = { account, clientOrderId };
    try {
      const outcome = await orderOutcome(orders, asked, clock());
      return { kind: 'uncached', body: new TextEncoder().encode(JSON.stringify(outcome)) };
    } catch (cause) {
      orders.reportFailure?.('read', cause);
      return refused({ code: 'journal_unavailable', detail: notRead });
    }
  },
});

const noJournal = 'This gateway keeps no journal of orders: getOrder reads the order from the upstream.';
const notRead =
  'The gateway cannot read its journal of orders now; what became of the order is not known from this.';
