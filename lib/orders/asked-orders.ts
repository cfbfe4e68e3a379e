/**
 * The orders of a request for pre-trade checks: the orders that it places, or existing orders as it replaces them, each
 * with the entry that has its exposure.
 */

import type { KeyedNames } from '../access/directory.ts';
import { shorten } from '../catalogue/faults.ts';
import { decodings } from '../catalogue/free-parameters.ts';
import { instrumentTypes } from '../catalogue/order-words.ts';
import { type Exposure, readExposure } from '../guard-rails/exposure.ts';
import type { AskedOrder } from '../guard-rails/guard.ts';
import type { Unknown } from '../guard-rails/limits.ts';
import { needsLegIds, orderMembers } from '../guard-rails/order.ts';
import { textMembers } from '../kernel/json-members.ts';
import { isAbsent } from './evidence.ts';
import type { CountingJournal, JournalEntry } from './journal.ts';
import type { ReadOrder } from './order-reads.ts';
import { isFinal } from './order-state.ts';
import { askedOrder, bracketIn, type OrderPart, orderKey, ordersIn, type Submission } from './parts.ts';
import { type OrderRecord, readRecord, withOutcome } from './record.ts';
import { othersOf, settleSeen } from './release-ended.ts';

export interface AskedOrdersParts {
  readonly journal: CountingJournal;
  readonly names: KeyedNames;
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Looks up an order at the upstream that another program placed, or that counted as not placed. */
  readonly lookUp: (account: string, clientOrderId: string) => Promise<ReadOrder | 'not_found' | undefined>;
}

export interface AskedOrdersRequest {
  readonly change: Submission;
  /** All parts of the request, in its order. */
  readonly all: readonly OrderPart[];
  /** The parts to begin. */
  readonly open: readonly OrderPart[];
}

/**
 * An order to check, and the entry that has its exposure: the part's own, or that of the replaced order. An order that
 * another program placed gets an entry with its first replacement, so that the next replacement knows of this one.
 */
export interface AskedBy {
  readonly order: AskedOrder;
  readonly of:
    | { readonly kind: 'part'; readonly part: OrderPart }
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
    const sayings = sayingsOf(change);
    return open.map((part) => {
      const index = all.indexOf(part);
      const json = orders[index] ?? '{}';
      const doubt = contradictionOf(json, sayings);
      const at = `/${journal.list}/${index}`;
      const isCombined = journal.answered === 'together';
      return { order: { json, at, doubt, isCombined }, of: { kind: 'part', part } };
    });
  }
  const [part] = all;
  return part ? replacedOrders(parts, change, part) : [];
}

/** Instrument types by the words for them after a market, as in `US_EQUITY`; STOCK and ETF are older words. */
const instrumentsByWord: ReadonlyMap<string, string> = new Map([
  ...instrumentTypes.map((type) => [type, type] as const),
  ['STOCK', 'EQUITY'],
  ['ETF', 'EQUITY'],
]);

const singular = (word: string) => word.replace(/S$/, '');

/** A category stated outside the body, for all orders of a request; `place` names its source for the client. */
interface Saying {
  readonly place: string;
  readonly word: string;
}

function sayingsOf({ operation, path = operation.path, query, headers }: Submission): readonly Saying[] {
  const { category } = headers;
  return [
    ...(category === undefined ? [] : [{ place: 'the header category', word: category }]),
    ...query.flatMap(([name, word]) =>
      decodings(name).some((one) => /category/i.test(one)) ? [{ place: `the parameter ${name}`, word }] : [],
    ),
    ...path
      .toUpperCase()
      .split('/')
      .flatMap((word) => (instrumentsByWord.has(word) ? [{ place: `the path ${path}`, word }] : [])),
  ];
}

/** The category that contradicts the order; a contradiction to its members comes before an unknown word. */
function contradictionOf(order: string, sayings: readonly Saying[]): Unknown | undefined {
  const members = sayings.length > 0 ? orderMembers(order) : undefined;
  const all = members ? sayings.flatMap((saying) => contradictionBy(saying, members) ?? []) : [];
  return all.find(({ name }) => name === 'order') ?? all[0];
}

function contradictionBy({ place, word }: Saying, members: ReadonlyMap<string, string>): Unknown | undefined {
  const says = `${place} says ${shorten(word)}`;
  const instrument = members.get('instrument_type');
  const market = members.get('market') ?? 'US';
  // The upstream may accept another spelling of the word.
  const words = word.toUpperCase().split(/[^A-Z]+/);
  const meant = [...instrumentsByWord].filter(([one]) =>
    words.some((other) => singular(other) === singular(one)),
  );
  if (meant.some(([, one]) => one !== instrument))
    return { name: 'order', why: `${says}, and instrument_type is ${instrument ?? 'missing'}` };
  const [, ofMarket = market, type = ''] = /^(?:([A-Z]+)_)?([A-Z]+)$/.exec(word) ?? [];
  if (!instrumentsByWord.has(type))
    return { name: 'category', why: `${says}, which is no <market>_<instrument type> such as US_EQUITY` };
  return ofMarket === market ? undefined : { name: 'order', why: `${says}, and market is ${market}` };
}

const unknownId: Unknown = {
  name: 'order',
  why: 'the upstream has no order with this client_order_id',
  remedy: 'Check the client_order_id.',
};

const modified = 'modify_orders';

/** Most look-ups for one request, as many as a combination has orders: each uses the limit that all clients share. */
const maxLookedUp = 7;

/** The orders that a replacement changes: as requested when they were placed, or as the upstream shows them. */
async function replacedOrders(
  parts: AskedOrdersParts,
  change: Submission,
  part: OrderPart,
): Promise<readonly AskedBy[]> {
  const { journal, names, clock, lookUp } = parts;
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
      let looked: ReadOrder | 'not_found' | undefined;
      const look = async () => {
        looked ??= account !== '' && lookedUp++ < maxLookedUp ? await lookUp(account, id) : undefined;
        return looked === 'not_found' ? undefined : looked;
      };
      const stored = entries.get(key);
      const seen = isAbsent(stored) ? await look() : undefined;
      const entry = stored && seen ? await shownAfterAll(parts, stored, seen) : stored;
      const known = entry && entry.state !== 'refused' ? entry : undefined;
      const record = known && readRecord(known.record);
      const of = known && ({ kind: 'entry', entry: known } as const);
      const exposure = known?.exposure === undefined ? undefined : readExposure(known.exposure);
      const placed = record && !record.placed_elsewhere ? askedOrder(record) : undefined;
      if (of && placed !== undefined && !needsLegIds(placed, replaced)) {
        const covered = await coveredIn(parts, of.entry);
        return { order: { json: placed, at, replaced, exposure, covered }, of };
      }
      const found = await look();
      const json = found?.payload ?? placed;
      const doubt = looked === 'not_found' && json === undefined ? unknownId : undefined;
      // Another program may have replaced the order: the exposure is the largest that the gateway knew of, not the present one.
      if (of && (placed !== undefined || record?.placed_elsewhere))
        return { order: { json, at, replaced, exposure, isShown: true, doubt }, of };
      // An existing entry keeps its user and contents; an order that has ended leaves its id free.
      if (!found || entry || isFinal(found.state))
        return { order: { json, at, replaced, doubt }, of: { kind: 'part', part } };
      const elsewhere = { change, key, account, clientOrderId: id, json: found.payload, at: clock() };
      return { order: { json, at, replaced }, of: { kind: 'elsewhere', entry: placedElsewhere(elsewhere) } };
    }),
  );
}

/** The exposure of the bracket to which an exit order belongs; the bracket's entry order has it. */
async function coveredIn(parts: AskedOrdersParts, exit: JournalEntry): Promise<Exposure | undefined> {
  const bracket = bracketIn(readRecord(exit.record));
  const others = bracket ? await othersOf(exit, parts) : [];
  const entry = others.find(({ record }) => readRecord(record).client_order_id === bracket?.entry);
  return entry?.exposure === undefined ? undefined : readExposure(entry.exposure);
}

/** Settles the entry of an order that had counted as absent, so that the order counts again. @returns the entry as it is now */
async function shownAfterAll(
  parts: AskedOrdersParts,
  entry: JournalEntry,
  found: ReadOrder,
): Promise<JournalEntry | undefined> {
  const { journal } = parts;
  await settleSeen(entry, { by: 'look_up', found }, (outcome) => journal.finish(outcome), parts);
  return (await journal.read([entry.key])).get(entry.key);
}

/** An order that another program placed, as a look-up showed it. */
interface SeenElsewhere {
  readonly change: Submission;
  readonly key: string;
  readonly account: string;
  readonly clientOrderId: string;
  readonly json: string;
  readonly at: number;
}

/** The entry of another program's order. It has no hash: no request asked for the order, so none repeats it. */
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
