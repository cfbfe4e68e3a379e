/** Faults for many requests at once: the first answer to each order is lost, or a share of all requests fails. */

import { findRoute, operations, routesOf } from '../../lib/catalogue/index.ts';
import type { ApiFault, ChooseFault, FaultRequest } from './faults.ts';
import { fraction, mix } from './random.ts';

/** Faults that need no further figures. */
const plainKinds = ['drop', 'hang', 'drop-after', 'hang-after', 'repeat'] as const;

type PlainFault = Extract<ApiFault, { readonly kind: (typeof plainKinds)[number] }>['kind'];

export const isPlainFault = (kind: string): kind is PlainFault => plainKinds.some((one) => one === kind);

/** Share of all requests, from 0 to 1, for each fault; together at most 1. */
export type FaultRates = Readonly<Partial<Record<PlainFault, number>>>;

interface ChanceOptions {
  /** Another seed hits other requests; 1 when absent. */
  readonly seed?: number;
  /** Selects the requests that a fault may hit; all when absent. Others draw no random number. */
  readonly of?: (request: FaultRequest) => boolean;
}

/**
 * Hits each request by chance. The same seed and the same order of requests hit the same ones.
 *
 * @throws RangeError when a rate is not from 0 to 1, or all together are more than 1
 *
 * @example
 * const fault = faultsByChance({ 'drop-after': 0.2, repeat: 0.05 }, { seed: 7, of: ({ method }) => method === 'POST' });
 * const simulator = await startSimulator({ appKey, appSecret, fault });
 */
export function faultsByChance(
  rates: FaultRates,
  { seed = 1, of = () => true }: ChanceOptions = {},
): ChooseFault {
  const entries = Object.entries(rates) as [PlainFault, number][];
  const sum = entries.reduce((total, [, rate]) => total + rate, 0);
  if (!entries.every(([, rate]) => rate >= 0) || !(sum <= 1 + Number.EPSILON))
    throw new RangeError('rates of faults are from 0 to 1, and together at most 1');
  let drawn = 0;
  return (request) => {
    if (!of(request)) return undefined;
    let rest = fraction(mix(seed, drawn++));
    for (const [kind, rate] of entries) {
      if (rest < rate) return { kind };
      rest -= rate;
    }
    return undefined;
  };
}

/**
 * Executes the first request that places an order and loses its answer; answers every later request with the same account
 * and `client_order_id`. Other requests are not affected.
 *
 * @param kind how the answer is lost
 *
 * @example
 * simulator.bring(loseFirstAnswers());
 */
export function loseFirstAnswers(kind: 'drop-after' | 'hang-after' = 'drop-after'): ChooseFault {
  const seenOrders = new Set<string>();
  return (request) => {
    let isFirst = false;
    for (const order of ordersIn(request)) {
      isFirst ||= !seenOrders.has(order);
      seenOrders.add(order);
    }
    return isFirst ? { kind } : undefined;
  };
}

const routes = routesOf(operations);
const placingOperations = ['placeOrder', 'batchPlaceOrders'];

interface PlacingBody {
  readonly account_id?: unknown;
  readonly new_orders?: readonly { readonly client_order_id?: unknown }[];
  readonly batch_orders?: readonly { readonly client_order_id?: unknown }[];
}

/** Account and id of each order that a request places; empty for any other or unreadable request. */
function ordersIn({ method, path, body }: FaultRequest): readonly string[] {
  const match = findRoute(routes, method, path);
  if (match.kind !== 'route' || !placingOperations.includes(match.route.operation.id)) return [];
  try {
    const { account_id, new_orders, batch_orders } = JSON.parse(body) as PlacingBody;
    return (new_orders ?? batch_orders ?? []).map((order) =>
      JSON.stringify([account_id, order.client_order_id]),
    );
  } catch {
    // The upstream refuses an unreadable body.
    return [];
  }
}
