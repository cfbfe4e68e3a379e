/**
 * The orders of a request as pre-trade checks take them: those that it places, or what it makes of orders that are there,
 * each with the entry that has its exposure.
 */

import type { KeyedNames } from '../access/directory.ts';
import { decodings } from '../catalogue/free-parameters.ts';
import { readExposure } from '../guard-rails/exposure.ts';
import type { AskedOrder } from '../guard-rails/guard.ts';
import { textMembers } from '../kernel/json-members.ts';
import type { JournalEntry, OrderJournal } from './journal.ts';
import type { ReadOrder } from './order-reads.ts';
import { isFinal } from './order-state.ts';
import { askedOrder, type Change, orderKey, ordersIn, type Part } from './parts.ts';
import { type OrderRecord, readRecord, withOutcome } from './record.ts';

export interface AskedOrdersParts {
  readonly journal: Pick<OrderJournal, 'read'>;
  readonly names: KeyedNames;
  readonly clock: () => number;
  /** An order at the upstream that another program placed. */
  readonly lookUp: (account: string, clientOrderId: string) => Promise<ReadOrder | 'not_found' | undefined>;
}

export interface AskedOrdersRequest {
  readonly change: Change;
  /** All of the request, in its order. */
  readonly all: readonly Part[];
  /** Those that are to be begun. */
  readonly open: readonly Part[];
}

/**
 * An order to be checked, and the entry that has its exposure: the part's own, or that of the order it replaces. One that
 * another program placed has no entry yet: it gets one with its first replacement, so that the next one knows of this.
 */
export interface AskedBy {
  readonly order: AskedOrder;
  readonly of:
    | { readonly kind: 'part'; readonly part: Part }
    | { readonly kind: 'entry' | 'elsewhere'; readonly entry: JournalEntry };
}

export async function askedOrders(
  parts: AskedOrdersParts,
  request: AskedOrdersRequest,
): Promise<readonly AskedBy[]> {
  const { change, all, open } = request;
  const { journal } = change.operation.sideEffect ?? {};
  if (journal?.by === 'client_order_id') {
    const orders = ordersIn(change.body, journal.list);
    const categories = categoriesOf(change);
    return open.map((part) => {
      const index = all.indexOf(part);
      const order = orders[index] ?? '{}';
      const json = isOfEach(order, categories) ? order : undefined;
      return { order: { json, at: `/${journal.list}/${index}` }, of: { kind: 'part', part } };
    });
  }
  const [part] = all;
  return part ? replacedOrders(parts, change, part) : [];
}

/** As the vendor's client writes them behind the market, such as `US_STOCK`. */
const instrumentsOf: Readonly<Record<string, string>> = {
  STOCK: 'EQUITY',
  ETF: 'EQUITY',
  OPTION: 'OPTION',
  CRYPTO: 'CRYPTO',
  FUTURES: 'FUTURES',
  EVENT: 'EVENT',
};

/** What is said of all orders of the request beside its body: in the header, in parameters of that name, in the path. */
function categoriesOf({ operation, path = operation.path, query, headers }: Change): readonly string[] {
  const { category } = headers;
  return [
    ...(category === undefined ? [] : [category]),
    ...query.flatMap(([name, value]) =>
      decodings(name).some((one) => /category/i.test(one)) ? [value] : [],
    ),
    ...path
      .toUpperCase()
      .split('/')
      .filter((word) => Object.hasOwn(instrumentsOf, word)),
  ];
}

/** Where one of them and the order say two things, it is not known as what the upstream takes the order. */
function isOfEach(order: string, categories: readonly string[]): boolean {
  if (categories.length === 0) return true;
  const instrument = textMembers(order, ['instrument_type'])?.get('instrument_type');
  return (
    instrument !== undefined &&
    categories.every((category) => instrumentsOf[category.replace(/^[A-Z]+_/, '')] === instrument)
  );
}

const modified = 'modify_orders';

/** As many as a combination has: each takes a request of those that all clients share. */
const maxLookedUp = 7;

/** What a replacement makes of each order: what was asked for when it was placed, or what the upstream shows of it. */
async function replacedOrders(
  { journal, names, clock, lookUp }: AskedOrdersParts,
  change: Change,
  part: Part,
): Promise<readonly AskedBy[]> {
  const { body } = change;
  const account = part.account ?? '';
  const replacements = await Promise.all(
    ordersIn(body, modified).map(async (replaced, index) => {
      const id = textMembers(replaced, ['client_order_id'])?.get('client_order_id') ?? '';
      const key = await orderKey(names, { account, clientOrderId: id });
      return { replaced, id, key, at: `/${modified}/${index}` };
    }),
  );
  const entries = await journal.read(replacements.map(({ key }) => key));
  let lookedUp = 0;
  return Promise.all(
    replacements.map(async ({ replaced, id, key, at }): Promise<AskedBy> => {
      const entry = entries.get(key);
      const known = entry && entry.state !== 'refused' ? entry : undefined;
      const record = known && readRecord(known.record);
      const of = known && ({ kind: 'entry', entry: known } as const);
      const exposure = known?.exposure === undefined ? undefined : readExposure(known.exposure);
      const placed = record && !record.placed_elsewhere ? askedOrder(record) : undefined;
      if (of && placed !== undefined) return { order: { json: placed, at, replaced, exposure }, of };
      const mayLookUp = account !== '' && lookedUp++ < maxLookedUp;
      const looked = mayLookUp ? await lookUp(account, id) : undefined;
      const found = looked === 'not_found' ? undefined : looked;
      // The other program may have replaced it since: the entry has the most that the gateway knew of, not what it is now.
      if (of && record?.placed_elsewhere)
        return { order: { json: found?.payload, at, replaced, exposure, isShown: true }, of };
      // An entry that is there stays, or the request would never begin; an order that has ended leaves its id free.
      if (!found || !isFree(entry) || isFinal(found.state))
        return { order: { json: found?.payload, at, replaced }, of: { kind: 'part', part } };
      const { payload: json } = found;
      const seen = { change, key, account, clientOrderId: id, json, at: clock() };
      return { order: { json, at, replaced }, of: { kind: 'elsewhere', entry: placedElsewhere(seen) } };
    }),
  );
}

/** As the journal takes an entry over. */
const isFree = (entry: JournalEntry | undefined): boolean =>
  !entry || (entry.state === 'refused' && entry.exposure === undefined);

/** An order that another program placed, as a look-up showed it. */
interface SeenElsewhere {
  readonly change: Change;
  readonly key: string;
  readonly account: string;
  readonly clientOrderId: string;
  readonly json: string;
  readonly at: number;
}

/** Without a hash: no request asked for it, so that none is its repetition. */
function placedElsewhere({ change, key, account, clientOrderId, json, at }: SeenElsewhere): JournalEntry {
  const { operation, requestId, credential } = change;
  const record: OrderRecord = {
    operation: operation.id,
    kind: 'placement',
    account_id: account,
    client_order_id: clientOrderId,
    asked: json,
    request_id: requestId,
    begun_at: new Date(at).toISOString(),
    placed_elsewhere: true,
  };
  return {
    key,
    attempt: crypto.randomUUID(),
    hash: '',
    state: 'accepted',
    credential,
    at,
    sendBy: at,
    record: JSON.stringify(withOutcome(record, at, { evidence: 'look_up' })),
    listedAs: 'placements',
  };
}
