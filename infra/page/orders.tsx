/** Orders: preview, place, change and cancel one, lose its answer on purpose, and follow its events. */

import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isClientError } from '../../lib/client/errors.ts';
import { isFinal, phaseOf, quantityOf } from '../../lib/orders/order-state.ts';
import { followOrderEvents } from '../../lib/trade-events/follow-events.ts';
import { requestScenes } from '../../lib/trade-events/order-changes.ts';
import { CopyCall } from './copy.tsx';
import {
  type ApiCall,
  clock,
  connection,
  freshId,
  type GatewayAnswer,
  isLocal,
  key,
  keyFault,
  send,
  token,
} from './gateway.ts';
import { isStopped } from './guard.tsx';
import { bring, run } from './local.ts';

interface ListedAccount {
  readonly account_id: string;
}

type ShownOutcome = 'placed' | 'not known' | 'refused';

/** Order of this page, with every line that was written about it. */
interface PageOrder {
  readonly id: string;
  readonly words: string;
  readonly place: ApiCall;
  readonly story: readonly string[];
  /** Result of its answers; absent before the first. */
  readonly outcome?: ShownOutcome;
  /** Status by its newest event; absent or empty before the first. */
  readonly status?: string;
  /** Terms of the last requested change, which hold once an event confirms it. */
  readonly changed?: string;
}

const accountOf = ({ place }: PageOrder) => (place.body as { readonly account_id: string }).account_id;

const storageKey = 'countersign-orders';
/** Number of orders kept over a reload, with the ids by which each can be sent again unchanged. */
const keptOrders = 50;

export const accounts = signal<readonly ListedAccount[] | string>([]);
const orders = signal<readonly PageOrder[]>(JSON.parse(sessionStorage.getItem(storageKey) ?? '[]'));
effect(() => sessionStorage.setItem(storageKey, JSON.stringify(orders.value.slice(0, keptOrders))));
const preview = signal('');
const isListening = signal('');
/** Ids of orders that wait for an answer. */
const waitingIds = signal<readonly string[]>([]);

const time = () => clock(Date.now());

function edit(id: string, change: (order: PageOrder) => Partial<PageOrder>): void {
  orders.value = orders.value.map((one) => (one.id === id ? { ...one, ...change(one) } : one));
}

const note = (id: string, line: string) =>
  edit(id, ({ story }) => ({ story: [...story, `${time()} ${line}`] }));

/** Notes an event, which may come late: an order that has ended stays so. The id of a failed order is free for another. */
function noteEvent(id: string, scene: string, status: string, filled: string): void {
  if (scene === 'MODIFY_SUCCESS') edit(id, ({ words, changed = words }) => ({ words: changed }));
  if (requestScenes.has(scene)) return;
  const heard = phaseOf({ status, filled: quantityOf(filled) });
  const isEnded = (known: string) => isFinal({ status: known }) && known !== 'FAILED';
  edit(id, ({ status: known = '' }) => ({ status: isEnded(known) ? known : heard }));
}

/** Forgets states that were not final: events that would have changed them may have been missed. */
function forgetOpen(): void {
  orders.value = orders.value.map((one) =>
    isFinal({ status: one.status ?? '' }) ? one : { ...one, status: '' },
  );
}

const placePath = '/trade/place_order';
const previewPath = '/trading/orders/preview';

/** Tells whether the order may have been placed, changed or cancelled despite the answer. */
const isUnknown = ({ status, isOpen }: GatewayAnswer<unknown>) => status === 0 || isOpen === true;

/** Explains an answer to the person who sent the order. */
function meaningOf(answer: GatewayAnswer<unknown>, { path, body }: ApiCall, isAgain = false): string {
  const { status, code, detail, header } = answer;
  const isPlace = path === placePath;
  if (status === 200 && header('idempotent-replayed'))
    return isPlace
      ? `answered 200: the order is placed, once. ${isAgain ? 'It had been sent before' : 'The upstream’s answer was lost'}, so the gateway looked it up. Nothing was sent twice.`
      : 'answered 200: an earlier request did it. Nothing was sent twice.';
  if (status === 200) return 'answered 200: the upstream took it.';
  if (isUnknown(answer) && path !== previewPath)
    return isPlace
      ? `${code}: the gateway cannot tell yet whether it is placed. Send it again, unchanged: it cannot be placed twice.`
      : `${code}: it cannot be told yet whether that was done. Look at the order before you press the button again.`;
  const isNotional = /_notional.* comes to \d/.test(detail ?? '') && /"MARKET"/.test(JSON.stringify(body));
  return `${status > 0 ? `${status} ` : ''}${code}: ${detail}${isNotional ? ' A market order counts as the last price and a margin of some percent.' : ''}`;
}

async function sendOrder(id: string, what: string, call: ApiCall): Promise<void> {
  waitingIds.value = [...waitingIds.value, id];
  note(id, `${what} …`);
  const answer = await send(call);
  note(id, `${what}: ${meaningOf(answer, call, what === 'place again')}`);
  if (call.path === placePath) edit(id, (one) => outcomeAfter(one, answer));
  waitingIds.value = waitingIds.value.filter((other) => other !== id);
}

/** Result after an answer. An order that an earlier answer may have placed stays so, whatever a later one says. */
function outcomeAfter(
  { outcome, status = '' }: PageOrder,
  answer: GatewayAnswer<unknown>,
): Pick<PageOrder, 'outcome' | 'status'> {
  // The id of a failed order was used for another one.
  const isAnother = status === 'FAILED' && !answer.header('idempotent-replayed');
  if (answer.status === 200) return { outcome: 'placed', status: isAnother ? '' : status };
  if (outcome === 'placed' || outcome === 'not known') return { outcome };
  return { outcome: isUnknown(answer) ? 'not known' : 'refused' };
}

async function followEvents(stop: AbortSignal): Promise<void> {
  forgetOpen();
  try {
    for await (const update of followOrderEvents(connection, { signal: stop })) {
      if (update.kind === 'connected') {
        isListening.value = 'Events of orders come by themselves.';
        if (update.missed) forgetOpen();
      }
      if (update.kind === 'disconnected')
        isListening.value = 'The stream of events broke off; the page connects again.';
      if (update.kind !== 'event' || update.event.detailType !== 'OrderChanged') continue;
      const { client_order_id: id, status, scene, filled_quantity: filled } = update.event.detail;
      if (!id) continue;
      note(String(id), `event: ${[scene, status, filled && `filled ${filled}`].filter(Boolean).join(', ')}`);
      if (status) noteEvent(String(id), String(scene), String(status), String(filled ?? '0'));
    }
  } catch (error) {
    if (stop.aborted) return;
    // A wrong key is reported beside the accounts.
    isListening.value = keyFault.value ? '' : isClientError(error) ? error.message : String(error);
  }
}

const accountsCall: ApiCall = { method: 'GET', path: '/trading/accounts/list' };

export function Orders() {
  const who = key.value + token.value;
  useEffect(() => {
    if (!who) return;
    const stop = new AbortController();
    accounts.value = [];
    void send<readonly ListedAccount[]>(accountsCall).then(({ value, code, detail }) => {
      accounts.value = value ?? `${code}: ${detail}`;
    });
    void followEvents(stop.signal);
    return () => stop.abort();
  }, [who]);
  const may = accounts.value;
  const shownOrders = orders.value.filter(
    (one) => typeof may !== 'string' && may.some(({ account_id }) => account_id === accountOf(one)),
  );
  const others = typeof may === 'string' || may.length === 0 ? 0 : orders.value.length - shownOrders.length;
  return (
    <section id="orders" aria-labelledby="orders-title">
      <h2 id="orders-title">Orders</h2>
      <Ticket />
      {isStopped() && (
        <p class="state ill">Trading is stopped: orders are refused until it is resumed; cancels go on.</p>
      )}
      <p class="quiet" role="status">
        {isListening.value}
      </p>
      {orders.value.length === 0 && <p class="quiet">No order of this page yet.</p>}
      {others > 0 && (
        <p class="quiet">
          {others} not shown: they are of accounts that this caller may not use. Sign in as who placed them.
        </p>
      )}
      <ol class="cards" aria-label="Orders of this page, the newest first">
        {shownOrders.map((one) => (
          <Order key={one.id} order={one} />
        ))}
      </ol>
    </section>
  );
}

/** Reads the order from the form, with an id that no order had. */
function orderOf(form: HTMLFormElement) {
  const fields = Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]),
  );
  const { account = '', symbol = '', side = '', quantity = '', limit_price = '' } = fields;
  const isLimit = limit_price !== '';
  const id = freshId('page');
  const order = {
    client_order_id: id,
    combo_type: 'NORMAL',
    symbol: symbol.toUpperCase(),
    instrument_type: 'EQUITY',
    market: 'US',
    side,
    order_type: isLimit ? 'LIMIT' : 'MARKET',
    ...(isLimit && { limit_price }),
    quantity,
    entrust_type: 'QTY',
    time_in_force: 'GTC',
    support_trading_session: 'CORE',
  };
  const words = `${side} ${quantity} ${order.symbol} ${isLimit ? `at ${limit_price}` : 'at the market'}`;
  return { id, words, body: { account_id: account, new_orders: [order] } };
}

async function onTicket(event: SubmitEvent): Promise<void> {
  event.preventDefault();
  const { id, words, body } = orderOf(event.currentTarget as HTMLFormElement);
  if ((event.submitter as HTMLButtonElement | null)?.value === 'preview') {
    const call: ApiCall = { method: 'POST', path: previewPath, body };
    preview.value = `${words} …`;
    const answer = await send<Readonly<Record<string, string>>>(call);
    const { estimated_cost, estimated_transaction_fee, currency = '' } = answer.value ?? {};
    preview.value = answer.value
      ? `${words}: costs about ${estimated_cost} ${currency}, fee ${estimated_transaction_fee}.`
      : meaningOf(answer, call);
    return;
  }
  const place: ApiCall = { method: 'POST', path: placePath, body };
  orders.value = [{ id, words, place, story: [] }, ...orders.value];
  await sendOrder(id, 'place', place);
}

/** Constraints of a field; the browser shows the title for an invalid entry. */
const aboveZero = {
  inputMode: 'decimal',
  pattern: '\\s*(?=.*[1-9])[0-9]*\\.?[0-9]+\\s*',
  title: 'A number above 0, with a point and without a comma: 2 or 1.50',
} as const;

function Ticket() {
  const list = accounts.value;
  if (typeof list === 'string') return <p class="state ill">{list}</p>;
  return (
    <form class="ticket" onSubmit={(event) => void onTicket(event)} aria-label="Order ticket">
      <label>
        Account
        <select name="account" required>
          {list.map(({ account_id }) => (
            <option key={account_id} value={account_id}>
              {account_id.slice(0, 4)}…
            </option>
          ))}
        </select>
      </label>
      <label>
        Side
        <select name="side">
          <option>BUY</option>
          <option>SELL</option>
        </select>
      </label>
      <label>
        Symbol
        <input
          name="symbol"
          required
          defaultValue="AAPL"
          maxLength={32}
          pattern=".*\S.*"
          title="A symbol, such as AAPL"
          autocomplete="off"
        />
      </label>
      <label>
        Quantity
        <input name="quantity" required defaultValue="2" autocomplete="off" {...aboveZero} />
      </label>
      <label>
        Limit price (empty: a market order)
        <input name="limit_price" defaultValue="1.00" autocomplete="off" {...aboveZero} />
      </label>
      <p class="row">
        <button type="submit" value="preview" disabled={list.length === 0}>
          Preview
        </button>
        <button type="submit" value="place" class="main" disabled={list.length === 0}>
          Place
        </button>
      </p>
      <p role="status" id="preview">
        {preview.value}
      </p>
    </form>
  );
}

const faults = [
  ['none', 'nothing'],
  ['lose_answer', 'lose the answer to each order'],
  ['lose_answer_and_look_ups', 'lose the answer, and look-ups for 15 s'],
  ['hang', 'the upstream hangs: quotes turn stale after 30 s'],
  ['down', 'the upstream is down: quotes turn stale after 30 s'],
] as const;

export function Faults() {
  if (!isLocal.value || !run.value?.simulated) return null;
  return (
    <section id="faults" aria-labelledby="faults-title">
      <h2 id="faults-title">Faults: what goes wrong at the simulated upstream</h2>
      <fieldset class="choice">
        <legend class="unseen">One of these</legend>
        {faults.map(([kind, words]) => (
          <label key={kind}>
            <input
              type="radio"
              name="fault"
              value={kind}
              checked={run.value?.fault === kind}
              onChange={() => void bring(kind)}
            />
            {words}
          </label>
        ))}
      </fieldset>
    </section>
  );
}

const phaseWords: Readonly<Record<string, string>> = {
  PENDING: 'pending',
  SUBMITTED: 'open',
  PARTIAL_FILLED: 'filled in part',
  FILLED: 'filled',
  CANCELLED: 'cancelled',
  FAILED: 'failed',
};

function Order({ order: { id, words, place, story, outcome, status = '' } }: { readonly order: PageOrder }) {
  const isBusy = waitingIds.value.includes(id);
  // An event that shows the order outranks an answer; that of a failure may concern an earlier order with the id.
  const isOver = status && status !== 'FAILED' ? isFinal({ status }) : outcome === 'refused';
  const failedCancels = story.filter((line) => line.includes('CANCEL_FAILED')).length;
  const { account_id } = place.body as { readonly account_id: string };
  const has = run.value?.orders?.filter(({ clientOrderId }) => clientOrderId === id).length;
  const change = (limit_price: string): ApiCall => ({
    method: 'POST',
    path: '/trading/orders/replace',
    body: { account_id, modify_orders: [{ client_order_id: id, limit_price }] },
    headers: { 'idempotency-key': freshId('change') },
  });
  const cancel: ApiCall = {
    method: 'POST',
    path: '/trading/orders/cancel',
    body: { account_id, client_order_id: id },
    // A repeated cancel is sent once. After a failed one it gets another key.
    headers: { 'idempotency-key': `cancel-${id}${failedCancels > 0 ? `-${failedCancels}` : ''}` },
  };
  return (
    <li data-order={id}>
      <h3>
        {words} <span class="order-state">{phaseWords[status] ?? outcome}</span>{' '}
        <CopyCall call={place} what={`the order ${id}`} />
      </h3>
      <p class="quiet">
        <code>{id}</code>
        {has !== undefined && <span class="at-upstream"> The simulator has placed {has} with this id.</span>}
      </p>
      <p class="row">
        <button type="button" disabled={isBusy} onClick={() => void sendOrder(id, 'place again', place)}>
          Send again, unchanged
        </button>
        {!isOver && (
          <button type="button" disabled={isBusy} onClick={() => void sendOrder(id, 'cancel', cancel)}>
            Cancel
          </button>
        )}
      </p>
      {!isOver && (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            const price = String(new FormData(event.currentTarget).get('price')).trim();
            edit(id, () => ({ changed: words.replace(/ at [\d.]+$/, ` at ${price}`) }));
            void sendOrder(id, `change to ${price}`, change(price));
          }}
        >
          <label>
            New limit <input name="price" required defaultValue="1.10" size={6} {...aboveZero} />
          </label>
          <button type="submit" disabled={isBusy}>
            Change
          </button>
        </form>
      )}
      <ol class="story" aria-label={`Story of ${id}`} aria-live="polite">
        {story.map((line, index) => (
          <li key={`${index} ${line}`}>{line}</li>
        ))}
      </ol>
    </li>
  );
}
