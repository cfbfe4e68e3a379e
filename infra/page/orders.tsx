/** Orders: preview, place, change and cancel one, lose its answer on purpose, and read its story as events come. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isClientError } from '../../lib/client/errors.ts';
import { followOrderEvents } from '../../lib/trade-events/follow-events.ts';
import { CopyCall } from './copy.tsx';
import { type Answer, type Call, clock, connection, freshId, isLocal, key, send, token } from './gateway.ts';
import { bring, run } from './local.ts';

interface Account {
  readonly account_id: string;
}

/** An order of this page, and all that was said of it. */
interface Placed {
  readonly id: string;
  readonly words: string;
  readonly place: Call;
  readonly story: readonly string[];
}

export const accounts = signal<readonly Account[] | string>([]);
const orders = signal<readonly Placed[]>([]);
const preview = signal('');
const isListening = signal('');
const busy = signal(false);

const time = () => clock(Date.now());

function tell(id: string, line: string): void {
  orders.value = orders.value.map((one) =>
    one.id === id ? { ...one, story: [...one.story, `${time()} ${line}`] } : one,
  );
}

/** In a sentence each, what an answer to an order means for who sent it. */
function meaning({ status, code, detail, header }: Answer<unknown>): string {
  if (status === 200)
    return header('idempotent-replayed')
      ? 'answered 200, idempotent-replayed: one order is placed, by an earlier request or one whose answer was lost. Nothing was sent twice.'
      : 'answered 200: the upstream took it.';
  if (code === 'outcome_unknown' || status === 0)
    return `${code}: nobody knows yet whether it is placed. Send it again, unchanged: it cannot be placed twice.`;
  return `${status} ${code}: ${detail}`;
}

async function sendOrder(id: string, what: string, call: Call): Promise<void> {
  busy.value = true;
  tell(id, `${what} …`);
  tell(id, `${what}: ${meaning(await send(call))}`);
  busy.value = false;
}

async function followEvents(stop: AbortSignal): Promise<void> {
  try {
    for await (const update of followOrderEvents(connection, { signal: stop })) {
      if (update.kind === 'connected') isListening.value = 'Events of orders come by themselves.';
      if (update.kind === 'disconnected')
        isListening.value = 'The stream of events was lost; another one follows.';
      if (update.kind !== 'event' || update.event.detailType !== 'OrderChanged') continue;
      const { client_order_id: id, status, scene, filled_quantity: filled } = update.event.detail;
      if (id)
        tell(
          String(id),
          `event: ${[scene, status, filled && `filled ${filled}`].filter(Boolean).join(', ')}`,
        );
    }
  } catch (error) {
    if (!stop.aborted) isListening.value = isClientError(error) ? error.message : String(error);
  }
}

const accountsCall: Call = { method: 'GET', path: '/trading/accounts/list' };

export function Orders() {
  const who = key.value + token.value;
  useEffect(() => {
    if (!who) return;
    const stop = new AbortController();
    accounts.value = [];
    void send<readonly Account[]>(accountsCall).then(({ value, code, detail }) => {
      accounts.value = value ?? `${code}: ${detail}`;
    });
    void followEvents(stop.signal);
    return () => stop.abort();
  }, [who]);
  return (
    <section id="orders" aria-labelledby="orders-title">
      <h2 id="orders-title">Orders</h2>
      <Ticket />
      {isLocal.value && run.value?.simulated && <Faults />}
      <p class="quiet" role="status">
        {isListening.value}
      </p>
      {orders.value.length === 0 && <p class="quiet">No order of this page yet.</p>}
      <ol class="cards" aria-label="Orders of this page, the newest first">
        {orders.value.map((one) => (
          <Order key={one.id} order={one} />
        ))}
      </ol>
    </section>
  );
}

/** What the form says, with an id that no order had. */
function orderOf(form: HTMLFormElement) {
  const given = Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]),
  );
  const { account = '', symbol = '', side = '', quantity = '', limit_price = '' } = given;
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
    const answer = await send<Readonly<Record<string, string>>>({
      method: 'POST',
      path: '/trading/orders/preview',
      body,
    });
    const { estimated_cost, estimated_transaction_fee, currency = '' } = answer.value ?? {};
    preview.value = answer.value
      ? `${words}: costs about ${estimated_cost} ${currency}, fee ${estimated_transaction_fee}.`
      : meaning(answer);
    return;
  }
  const place: Call = { method: 'POST', path: '/trade/place_order', body };
  orders.value = [{ id, words, place, story: [] }, ...orders.value];
  await sendOrder(id, 'place', place);
}

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
        <input name="symbol" required defaultValue="AAPL" maxLength={32} autocomplete="off" />
      </label>
      <label>
        Quantity
        <input name="quantity" required defaultValue="2" inputMode="decimal" autocomplete="off" />
      </label>
      <label>
        Limit price, empty for the market’s
        <input name="limit_price" defaultValue="1.00" inputMode="decimal" autocomplete="off" />
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
  ['hang', 'the upstream hangs'],
  ['down', 'the upstream is down'],
] as const;

function Faults() {
  return (
    <fieldset class="choice" id="faults">
      <legend>What goes wrong at the simulated upstream</legend>
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
  );
}

function Order({ order: { id, words, place, story } }: { readonly order: Placed }) {
  const { account_id } = place.body as { readonly account_id: string };
  const has = run.value?.orders?.filter(({ clientOrderId }) => clientOrderId === id).length;
  const change = (limit_price: string): Call => ({
    method: 'POST',
    path: '/trading/orders/replace',
    body: { account_id, modify_orders: [{ client_order_id: id, limit_price }] },
    headers: { 'idempotency-key': freshId('change') },
  });
  const cancel: Call = {
    method: 'POST',
    path: '/trading/orders/cancel',
    body: { account_id, client_order_id: id },
    headers: { 'idempotency-key': `cancel-${id}` },
  };
  return (
    <li data-order={id}>
      <h3>
        {words} <CopyCall call={place} what={`the order ${id}`} />
      </h3>
      <p class="quiet">
        <code>{id}</code>
        {has !== undefined && <strong class="at-upstream"> {has} at the upstream with this id</strong>}
      </p>
      <p class="row">
        <button type="button" disabled={busy.value} onClick={() => void sendOrder(id, 'place again', place)}>
          Send again, unchanged
        </button>
        <button type="button" disabled={busy.value} onClick={() => void sendOrder(id, 'cancel', cancel)}>
          Cancel
        </button>
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const price = String(new FormData(event.currentTarget).get('price')).trim();
          void sendOrder(id, `change to ${price}`, change(price));
        }}
      >
        <label>
          New limit <input name="price" required defaultValue="1.10" inputMode="decimal" size={6} />
        </label>
        <button type="submit" disabled={busy.value}>
          Change
        </button>
      </form>
      <ol class="story" aria-label={`Story of ${id}`} aria-live="polite">
        {story.map((line, index) => (
          <li key={`${index} ${line}`}>{line}</li>
        ))}
      </ol>
    </li>
  );
}
