/** The port by which the core hands requests with a side effect over, and asks what became of an order. */

import type { Answer } from '../answer.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { AdmittedRequest } from './admit.ts';
import type { Outcome } from './outcome.ts';
import type { Upstream } from './upstream.ts';
import type { ValidRequest } from './validate.ts';

export type HandOverChange = (
  change: AdmittedRequest,
  send: (change: AdmittedRequest) => Promise<Answer>,
) => Promise<Answer>;

/** The gateway's own work on orders, besides sending them. */
export interface OrderSteps {
  /** Undefined in a gateway that only reads the journal. */
  readonly handOver: HandOverChange | undefined;
  /** Answers from the journal what became of an order. */
  readonly outcome: (request: ValidRequest) => Promise<Outcome>;
}

export interface OrdersStep {
  /** See `OrdersOptions`. */
  readonly lookUps: readonly Operation[];
  readonly members: readonly string[];
  readonly create: (parts: OrderParts) => OrderSteps;
}

export interface OrderParts {
  readonly upstream: Upstream;
  readonly clock: () => number;
  /** The operations that the gateway offers. */
  readonly operations: readonly Operation[];
}
