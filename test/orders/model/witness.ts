/**
 * Sees all that the gateway sends and says, and all that the upstream does, and counts what must never be: an order that
 * may be doubled, one that is lost, and a word that is not true.
 */

import type { Operation } from '../../../lib/catalogue/operation.ts';
import type { Outcome } from '../../../lib/gateway/outcome.ts';
import type { StoredCounter } from '../../../lib/guard-rails/counter.ts';
import { readExposure } from '../../../lib/guard-rails/exposure.ts';
import { absenceCountsAfterMs, type JournalEntry } from '../../../lib/orders/journal.ts';
import type { Submission } from '../../../lib/orders/parts.ts';
import { readRecord } from '../../../lib/orders/record.ts';
import type { AskedOrder, ModelUpstream } from './upstream.ts';
import { ordersOf } from './upstream.ts';

export interface Asked {
  readonly name: string;
  readonly operation: Operation;
  readonly body: string;
  /** The name of the app key that sends it; one unless told. */
  readonly credential?: string;
}

/** As the gateway hands it over. */
export const changeOf = (
  { operation, body, name, credential = 'credential' }: Asked,
  deadline: number,
): Submission => ({
  operation,
  query: [],
  body,
  headers: {},
  credential,
  requestId: name,
  deadline,
});

export interface Finding {
  readonly kind: 'doubled' | 'lost' | 'misreported' | 'miscounted';
  readonly says: string;
}

/** A request that left an instance. */
export interface Sending {
  readonly by: string;
  readonly ids: readonly string[];
  readonly at: number;
  readonly isTogether: boolean;
  /** Ids of which the instance was told for certain that the upstream did not take them. */
  readonly refused: Set<string>;
}

export const foreigner = 'another app';

/** That look-ups find it shows that they work. */
export const witnessOrder = 'of-another-app';

export class Witness {
  readonly findings: Finding[] = [];
  readonly sendings: Sending[] = [];
  readonly answers: { readonly asked: Asked; readonly outcome: Outcome }[] = [];
  readonly #upstream: ModelUpstream;
  /** Requests whose instance was shown that an order of theirs is placed. */
  readonly #shown = new Set<string>();
  readonly #mayConflict = new Set<string>();
  /** Entries that were accepted at some time. */
  readonly #accepted = new Set<string>();
  /** Orders show later than any bound: what is concluded of that they do not show may be untrue. */
  #mayDeny = false;

  constructor(upstream: ModelUpstream) {
    this.#upstream = upstream;
  }

  /** Has seen the same, and goes on by itself. */
  fork(upstream: ModelUpstream): Witness {
    const fork = new Witness(upstream);
    fork.findings.push(...this.findings);
    fork.sendings.push(...this.sendings.map((one) => ({ ...one, refused: new Set(one.refused) })));
    fork.answers.push(...this.answers);
    for (const name of this.#shown) fork.#shown.add(name);
    for (const name of this.#mayConflict) fork.#mayConflict.add(name);
    for (const key of this.#accepted) fork.#accepted.add(key);
    return fork;
  }

  /** Before the upstream has it. `now` is the true time. */
  sends({ name, operation }: Asked, body: string, now: number): Sending {
    const ids = ordersOf(body).map(({ client_order_id: id }) => id);
    for (const id of this.#mayDeny ? [] : ids)
      if (this.sendings.some((earlier) => this.#mayBeTaken(earlier, id, now)))
        this.#find('doubled', `${name} sends ${id} while an earlier request may have placed it`);
    const journal = operation.sideEffect?.journal;
    const isTogether = journal?.by === 'client_order_id' && journal.answered === 'together';
    const sending = { by: name, ids, at: now, isTogether, refused: new Set<string>() };
    this.sendings.push(sending);
    return sending;
  }

  #mayBeTaken({ ids, refused, at, by, isTogether }: Sending, id: string, now: number): boolean {
    if (!ids.includes(id)) return false;
    const { book } = this.#upstream;
    const placing = book.get(id);
    if (placing) return placing.by === by;
    // Parts of a combination are placed together or not at all.
    if (isTogether && ids.some((other) => book.has(other) && book.get(other)?.by !== by)) return false;
    return !refused.has(id) && now <= at + absenceCountsAfterMs;
  }

  mayDeny(): void {
    this.#mayDeny = true;
  }

  /** What does not show for so long shows now: all is true from here on. */
  deniesNothing(): void {
    this.#mayDeny = false;
    this.answers.length = 0;
    this.sendings.length = 0;
  }

  /** The journal was restored: it has entries as they were earlier. */
  forgetsAccepted(): void {
    this.#accepted.clear();
  }

  /** The instance of a request was shown these entries. */
  showsEntries(asked: Asked, entries: Iterable<JournalEntry>): void {
    for (const entry of entries) {
      if (!isAskedBy(asked, entry)) this.#mayConflict.add(asked.name);
      else if (entry.state === 'accepted') this.#shown.add(asked.name);
    }
  }

  showsOrder(asked: Asked, id: string): void {
    if (this.#isPlaced(asked, id)) this.#shown.add(asked.name);
    else this.#mayConflict.add(asked.name);
  }

  /** The instance has the upstream's answer: of these ids it says for certain that they are not placed. */
  closes({ ids, refused, by }: Sending, outcome: Outcome): void {
    const isUnknown = outcome.kind === 'refused' && outcome.refusal.code === 'outcome_unknown';
    for (const id of ids) if (!isUnknown && this.#upstream.book.get(id)?.by !== by) refused.add(id);
  }

  hears(asked: Asked, outcome: Outcome): void {
    this.answers.push({ asked, outcome });
  }

  /** A client that asks again after all bounds of time learns the truth. */
  mustKnow({ name }: Asked): void {
    const heard = this.answers.find(({ asked }) => asked.name === name)?.outcome;
    if (!this.#mayDeny && heard?.kind === 'refused' && heard.refusal.code === 'outcome_unknown')
      this.#find('lost', `${name} does not learn what became of it`);
  }

  /** All on which a later judgement depends. */
  get state(): unknown {
    return [
      this.sendings.map(({ by, ids, at, refused }) => `${by} ${ids} ${at} ${[...refused].sort()}`).sort(),
      this.answers.map(({ asked, outcome }) => [asked.name, saysOf(outcome)]).sort(),
      [...this.#shown].sort(),
      [...this.#mayConflict].sort(),
      this.findings,
    ];
  }

  /** What the journal says is true at any time. */
  checkJournal(entries: Iterable<JournalEntry>): void {
    for (const entry of entries) {
      const { client_order_id: id = '', request_id: by } = readRecord(entry.record);
      const placing = this.#upstream.book.get(id);
      if (entry.state === 'accepted' && !(placing && isSameOrder(entry, id, placing.order, placing.by)))
        this.#find('misreported', `the journal has ${id} as accepted, and it is not placed`);
      if (entry.state === 'accepted') this.#accepted.add(entry.key);
      else if (this.#accepted.has(entry.key))
        this.#find('misreported', `the journal had ${id} as accepted, and does not any more`);
      if (entry.state === 'refused' && placing?.by === by && !this.#mayDeny)
        this.#find('misreported', `the journal has ${id} as refused, and it is placed`);
    }
  }

  /** The counter has what its entries have, and that is no less than what is open. */
  checkCounter(counter: StoredCounter | undefined, exposed: readonly JournalEntry[]): void {
    const counted = counter ? Number((JSON.parse(counter.state) as { readonly open: string }).open) : 0;
    const sum = exposed.reduce((all, { exposure }) => all + countedOf(exposure!), 0);
    const live = this.#upstream.open.flatMap((id) => this.#upstream.book.get(id)!);
    const truth = live.reduce((all, { order, by }) => all + (by === foreigner ? 0 : notionalOf(order)), 0);
    if (counted !== sum) this.#find('miscounted', `counted are ${counted}, and entries have ${sum}`);
    if (counted < truth && !this.#mayDeny)
      this.#find('miscounted', `counted are ${counted}, and ${truth} is open`);
  }

  /** All orders have ended, and the settlement has seen it. */
  checkUncounted(counter: StoredCounter | undefined): void {
    if (counter && (JSON.parse(counter.state) as { readonly open: string }).open !== '0')
      this.#find('miscounted', 'what has ended stays counted');
  }

  /** After the end: each answer, and each order. */
  judge(entries: ReadonlyMap<string, JournalEntry>): void {
    this.checkJournal(entries.values());
    for (const { asked, outcome } of this.answers) this.#judgeAnswer(asked, outcome);
    const accepted = [...entries.values()].filter(({ state }) => state === 'accepted');
    const known = new Set(accepted.map(({ record }) => readRecord(record).client_order_id));
    for (const [id, { by }] of this.#upstream.book)
      if (by !== foreigner && !known.has(id))
        this.#find('lost', `${id} is placed, and the journal does not know`);
  }

  #judgeAnswer(asked: Asked, outcome: Outcome): void {
    const { name, body } = asked;
    if (outcome.kind !== 'refused') {
      const refused = refusedParts(outcome);
      for (const { client_order_id: id } of ordersOf(body)) {
        const isPlaced = this.#isPlaced(asked, id);
        const by = this.#upstream.book.get(id)?.by;
        if (!refused.has(id) && !isPlaced) this.#find('misreported', `${name} was told that ${id} is placed`);
        // Another request may place it later.
        if (refused.has(id) && isPlaced && (by === name || by === foreigner))
          this.#find('misreported', `${name} was told that ${id} is refused`);
      }
      return;
    }
    const { code } = outcome.refusal;
    if (code === 'outcome_unknown') return;
    const own = this.sendings.filter(({ by }) => by === name);
    const placed = ordersOf(body).filter(
      ({ client_order_id: id }) => this.#upstream.book.get(id)?.by === name,
    );
    if (placed.length > 0) this.#find('misreported', `${name} was told ${code}, and placed an order`);
    if (code === 'journal_unavailable' && own.length > 0)
      this.#find('misreported', `${name} was told ${code}, and was sent`);
    if (code === 'idempotency_conflict') {
      if (!this.#mayConflict.has(name))
        this.#find('misreported', `${name} was told ${code}, and no other request had the id`);
    } else if (this.#shown.has(name))
      this.#find('misreported', `${name} was told ${code} by an instance that knew of its order`);
  }

  #isPlaced({ body }: Asked, id: string): boolean {
    const placing = this.#upstream.book.get(id);
    const order = ordersOf(body).find((one) => one.client_order_id === id);
    return (
      placing !== undefined &&
      order !== undefined &&
      isAlike(JSON.stringify(order), placing.order, placing.by)
    );
  }

  #find(kind: Finding['kind'], says: string): void {
    if (!this.findings.some((one) => one.says === says)) this.findings.push({ kind, says });
  }
}

/** What every order of these worlds is counted in. */
export const counterKey = 'counter stack';

const countedOf = (exposure: string): number => Number(readExposure(exposure).counted[counterKey] ?? '0');

const notionalOf = (order: string): number => {
  const { quantity, limit_price } = JSON.parse(order) as AskedOrder;
  return Number(quantity) * Number(limit_price);
};

/** Of what another app placed the gateway sees symbol, side and terms; what the gateway placed is the same to the byte. */
function isAlike(asked: string, placed: string, by: string): boolean {
  if (by !== foreigner) return asked === placed;
  const [a, b] = [asked, placed].map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>);
  return ['symbol', 'side', 'combo_type', 'quantity'].every((name) => a![name] === b![name]);
}

function isSameOrder({ record }: JournalEntry, id: string, placed: string, by: string): boolean {
  const { asked, seen_after_restore } = readRecord(record);
  if (seen_after_restore) return true;
  const orders = ordersOf(asked);
  const order = orders.find((one) => one.client_order_id === id);
  return isAlike(order ? JSON.stringify(order) : asked, placed, by);
}

function isAskedBy({ body }: Asked, { record }: JournalEntry): boolean {
  const { asked } = readRecord(record);
  return asked === body || ordersOf(body).some((order) => JSON.stringify(order) === asked);
}

const saysOf = (outcome: Outcome): string => {
  if (outcome.kind === 'refused') return outcome.refusal.code;
  return 'body' in outcome ? new TextDecoder().decode(outcome.body) : '';
};

/** Of a batch: orders whose answer has a code. */
function refusedParts(outcome: Exclude<Outcome, { kind: 'refused' }>): ReadonlySet<string> {
  if (!('body' in outcome)) return new Set();
  const { batch_orders: parts = [] } = JSON.parse(new TextDecoder().decode(outcome.body)) as {
    readonly batch_orders?: readonly { readonly client_order_id: string; readonly error_code?: string }[];
  };
  return new Set(
    parts.flatMap(({ client_order_id: id, error_code }) => (error_code === undefined ? [] : [id])),
  );
}
