/**
 * The order of `countersign prove`: one share far below the market, placed in a sandbox and cancelled. An outcome that is
 * not known is reported as unknown. With a stream of order events the order is replaced, too, because the upstream sends
 * no event for a placement.
 */

import {
  cancelOrder,
  getOrder,
  getOrderOutcome,
  getStockSnapshots,
  placeOrder,
  replaceOrder,
} from '../../../lib/catalogue/index.ts';
import { type Connection, createClient, OutcomeUnknownError } from '../../../lib/client/index.ts';
import type { OrderChanged } from '../../../lib/trade-events/bus-events.ts';
import { defined } from '../../defined.ts';
import { codeOf, type Pace } from './prove-calls.ts';
import type { OrderStream } from './prove-order-stream.ts';

export interface OrderTrial {
  readonly clientOrderId: string;
  readonly limitPrice: string;
  readonly placed: 'accepted' | 'refused' | 'unknown';
  /** Error code of a refusal. */
  readonly code?: string;
  readonly ended: 'cancelled' | 'filled' | 'failed' | 'never placed' | 'unknown';
  /** Error code of a cancel that did not succeed. */
  readonly cancelCode?: string;
  /** Milliseconds from each request to its event on the stream; undefined: not in time. */
  readonly told?: { readonly replaced: number | undefined; readonly cancelled: number | undefined };
  /** Error code of a replacement that did not succeed. */
  readonly replaceCode?: string;
}

const symbol = 'AAPL';
/** Share of the last price, so low that an exchange fills no such order. */
const priceShare = 0.5;
const replacedShare = 0.49;
const maxLooks = 12;
const betweenLooksMs = 5000;

const clientOf = (connection: Connection) =>
  createClient({ placeOrder, replaceOrder, cancelOrder, getOrder, getOrderOutcome }, connection);
type OrderClient = ReturnType<typeof clientOf>;

/**
 * @param quotes a connection that reads market data
 * @returns undefined without a quote to stay far away from
 */
export async function tryOrder(
  connection: Connection,
  quotes: Connection,
  account_id: string,
  pace: Pace,
  stream?: OrderStream,
): Promise<OrderTrial | undefined> {
  const [quote] = await createClient({ getStockSnapshots }, quotes).getStockSnapshots({
    symbols: [symbol],
    category: 'US_STOCK',
  });
  const price = Number(quote?.price);
  if (!(price > 0)) return undefined;
  const limitPrice = limitOf(priceShare * price);
  const clientOrderId = `prove-${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
  const order = { account_id, client_order_id: clientOrderId };
  const client = clientOf(connection);
  const sent = await place(client, order, limitPrice);
  const facts = { clientOrderId, limitPrice };
  const { placed, code } = sent.placed === 'unknown' ? await outcomeOf(client, order, pace) : sent;
  if (placed === 'refused') return { ...facts, placed, ...(code && { code }), ended: 'never placed' };
  const isOurs = (change: OrderChanged) => change.client_order_id === clientOrderId;
  let from = pace.clock();
  const replaces = stream && placed === 'accepted';
  const replaceCode = replaces ? await replace(client, order, limitOf(replacedShare * price)) : undefined;
  const replaced = replaces && replaceCode === undefined ? await stream.told(from, isOurs) : undefined;
  from = pace.clock();
  // An order whose placement is unknown is cancelled, too.
  const cancelCode = await cancel(client, order);
  const ended = await endOf(client, order, pace);
  const cancelled = await stream?.told(from, (change) => isOurs(change) && change.status === 'CANCELLED');
  return {
    ...facts,
    placed,
    ended,
    ...defined({ cancelCode, replaceCode }),
    ...(stream && { told: { replaced, cancelled } }),
  };
}

const limitOf = (price: number) => Math.max(0.01, price).toFixed(2);

interface OrderKey {
  readonly account_id: string;
  readonly client_order_id: string;
}

type PlacedTrial = Pick<OrderTrial, 'placed' | 'code'>;

async function place(
  client: OrderClient,
  { account_id, client_order_id }: OrderKey,
  limit_price: string,
): Promise<PlacedTrial> {
  try {
    await client.placeOrder({
      account_id,
      new_orders: [
        {
          client_order_id,
          combo_type: 'NORMAL',
          symbol,
          instrument_type: 'EQUITY',
          market: 'US',
          side: 'BUY',
          order_type: 'LIMIT',
          limit_price,
          quantity: '1',
          entrust_type: 'QTY',
          // DAY is refused after the regular session.
          time_in_force: 'GTC',
          support_trading_session: 'CORE',
        },
      ],
    });
    return { placed: 'accepted' };
  } catch (error) {
    return error instanceof OutcomeUnknownError
      ? { placed: 'unknown' }
      : { placed: 'refused', code: codeOf(error) };
  }
}

/** Asks the gateway's journal for the outcome. `not_recorded` decides nothing: the request may still be under way. */
async function outcomeOf(client: OrderClient, order: OrderKey, { pause }: Pace): Promise<PlacedTrial> {
  for (let look = 0; look < maxLooks; look++) {
    await pause(betweenLooksMs);
    const state = await client.getOrderOutcome(order).then(
      (outcome) => outcome.state,
      () => 'unknown',
    );
    if (state === 'accepted') return { placed: 'accepted' };
    if (state === 'refused') return { placed: 'refused' };
  }
  return { placed: 'unknown' };
}

/** @returns the error code; undefined after success */
const replace = (client: OrderClient, { account_id, client_order_id }: OrderKey, limit_price: string) =>
  client
    .replaceOrder(
      { account_id, modify_orders: [{ client_order_id, limit_price, quantity: '1' }] },
      { idempotencyKey: `${client_order_id}-replace` },
    )
    .then(() => undefined, codeOf);

/** @returns the error code; undefined after success */
const cancel = (client: OrderClient, order: OrderKey, attempt = 0): Promise<string | undefined> =>
  client
    .cancelOrder(order, { idempotencyKey: `${order.client_order_id}-cancel-${attempt}` })
    .then(() => undefined, codeOf);

const endsByStatus: Readonly<Record<string, OrderTrial['ended']>> = {
  CANCELLED: 'cancelled',
  FILLED: 'filled',
  FAILED: 'failed',
};

/** Number of looks at an open order before it is cancelled again. */
const looksEach = 3;

/** Waits until the upstream shows the order's end: an accepted cancel is not yet a cancelled order. */
async function endOf(client: OrderClient, order: OrderKey, { pause }: Pace): Promise<OrderTrial['ended']> {
  for (let look = 1; look <= maxLooks; look++) {
    const status = await client.getOrder(order).then(
      ({ orders }) => orders[0]?.status,
      () => undefined,
    );
    const ended = endsByStatus[status ?? ''];
    if (ended) return ended;
    if (status && look % looksEach === 0) await cancel(client, order, look);
    await pause(betweenLooksMs);
  }
  return 'unknown';
}
