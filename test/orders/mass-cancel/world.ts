/**
 * A small world for mass cancels: orders that are on their way, lists that lag behind, clocks that differ, stops and failed
 * checks, and runs that fail or die at any call. It knows what is open, and says what must not be.
 */

import {
  createMemoryControls,
  type MassCancel,
  type MassCancelStore,
  maxControlAgeMs,
} from '../../../lib/guard-rails/index.ts';
import {
  type CancelOutcome,
  type createMassCancels,
  createMemoryOrderJournal,
  type MassCancelReport,
} from '../../../lib/orders/index.ts';
import type { ReadOrder } from '../../../lib/orders/order-reads.ts';

/** The code that is judged: as it is, or with one rule broken. */
export interface MassCancelSubject {
  readonly createMassCancels: typeof createMassCancels;
}

export interface Placing {
  readonly account: number;
  /** Undefined: by an API key that is no user's. */
  readonly user: number | undefined;
  /** `foreign`: by another program. `lost`: the answer is lost, and the order comes late. */
  readonly how: 'answered' | 'lost' | 'refused' | 'foreign';
  /** Until it leaves, until the upstream has it, and until lists show it; of what is lost the second is ten times as long. */
  readonly leavesAfterMs: number;
  readonly arrivesAfterMs: number;
  readonly lagMs: number;
  readonly isCombination: boolean;
}

export type Fate = CancelOutcome | 'executed, and the answer lost' | 'taken, and not executed' | 'throws';

/** What goes wrong in a run. */
export interface Trouble {
  /** The call of a port that fails, from 1; 0: none. */
  readonly failsAt: number;
  /** The process ends there. */
  readonly dies: boolean;
  /** After the call had its effect. */
  readonly after: boolean;
  readonly unreadable: number | undefined;
  /** Of its cancels, in turn. */
  readonly fates: readonly Fate[];
}

export const noTrouble: Trouble = { failsAt: 0, dies: false, after: false, unreadable: undefined, fates: [] };

interface Order {
  readonly account: string;
  readonly id: string;
  readonly user: string | undefined;
  readonly isForeign: boolean;
  readonly leftAt: number;
  readonly arrivesAt: number;
  readonly shownAt: number;
  /** Of a combination the id, and its master. */
  readonly combination?: { readonly id: string; readonly master: string };
  /** Since then it is not open any more, and lists show it until then. */
  ended?: { readonly at: number; readonly shownUntil: number };
}

/** What a request promises, by the true time. */
interface Promised {
  readonly scope: string;
  readonly leftBy: number;
}

const accounts = ['a', 'b', 'c'];
const credential = 'credential';
const names = { nameOf: async (...texts: readonly string[]) => texts.join('|') };
const start = Date.UTC(2026, 10, 20, 15);
const callMs = 150;
const minute = 60_000;
/** Of what an operator's or the upstream's clock is ahead or behind. */
export const maxSkewMs = 25_000;
/** From `placedBefore` back to the request, and what clocks differ by. */
const mayCancelMs = 65_000 + 2 * maxSkewMs;

export const scopes = ['stack', 'account account|a', 'account account|b', 'user u0', 'user u1'];
const isIn = (scope: string, { account, user, isForeign }: Pick<Order, 'account' | 'user' | 'isForeign'>) =>
  scope === 'stack' || scope === `account account|${account}` || (!isForeign && scope === `user ${user}`);

class Died extends Error {}

export class MassCancelWorld {
  readonly faults: string[] = [];
  readonly #subject: MassCancelSubject;
  readonly #controls = createMemoryControls();
  readonly #journal = createMemoryOrderJournal();
  readonly #orders: Order[] = [];
  readonly #stops = new Map<string, number>();
  readonly #promised: Promised[] = [];
  /** Outcomes by Idempotency-Key, as the journal has them. */
  readonly #sent = new Map<string, { readonly of: string; readonly outcome: CancelOutcome }>();
  #now = start;
  #calls = 0;

  constructor(subject: MassCancelSubject) {
    this.#subject = subject;
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  async place(given: Placing, skewMs: number): Promise<void> {
    const account = accounts[given.account]!;
    const user = given.user === undefined ? undefined : `u${given.user}`;
    const isForeign = given.how === 'foreign';
    const stoppedAt = Math.min(
      ...[...this.#stops].filter(([scope]) => isIn(scope, { account, user, isForeign })).map(([, at]) => at),
    );
    const leftAt = this.#now + given.leavesAfterMs;
    if (!isForeign && leftAt > stoppedAt + maxControlAgeMs) return;
    const arrivesAt = leftAt + given.arrivesAfterMs * (given.how === 'lost' ? 10 : 1);
    // Of another program's order nothing is known before the upstream has it.
    const common = {
      account,
      user,
      isForeign,
      leftAt: isForeign ? arrivesAt : leftAt,
      arrivesAt,
      shownAt: arrivesAt + given.lagMs,
    };
    const number = this.#calls++;
    const ids = given.isCombination ? ['m', 'p', 'q'].map((part) => `${part}${number}`) : [`o${number}`];
    for (const id of ids) {
      if (!isForeign) await this.#journalEntry({ ...common, id }, given, this.#now + skewMs);
      const combination = given.isCombination && { combination: { id: `c${number}`, master: ids[0]! } };
      if (given.how !== 'refused') this.#orders.push({ ...common, ...combination, id });
    }
  }

  async #journalEntry(order: Pick<Order, 'account' | 'id' | 'user'>, { how }: Placing, at: number) {
    const { account, id, user } = order;
    const asked = { operation: 'placeOrder', kind: 'placement', account_id: account, client_order_id: id };
    const record = JSON.stringify({
      ...asked,
      asked: '{}',
      request_id: 'r',
      begun_at: '',
      ...(user && { user }),
    });
    const key = `entry|order|${account}|${id}`;
    const entry = {
      key,
      attempt: 't',
      hash: '',
      credential,
      at,
      sendBy: at + 30_000,
      record,
      listedAs: 'placements' as const,
    };
    await this.#journal.begin([{ ...entry, state: 'pending' }], at);
    if (how === 'answered' || how === 'refused')
      await this.#journal.finish({ key, attempt: 't', state: how === 'answered' ? 'accepted' : how, record });
  }

  /** By an operator, whose clock is so far ahead. */
  async stop(scope: string, skewMs: number): Promise<void> {
    const at = this.#now + skewMs;
    await this.#controls.massCancels.request({
      id: `${this.#calls++}`,
      scope,
      at,
      placedBefore: at + 65_000,
    });
    if (!this.#stops.has(scope)) this.#stops.set(scope, this.#now);
    this.#promised.push({ scope, leftBy: this.#now + maxControlAgeMs });
  }

  /** By an instance, whose clock is right. */
  async block(scope: string): Promise<void> {
    const at = this.#now;
    await this.#controls.massCancels.request({
      id: `${this.#calls++}`,
      scope,
      at,
      placedBefore: at + 11_000,
    });
    this.#promised.push({ scope, leftBy: this.#now });
  }

  resume(scope: string): void {
    this.#stops.delete(scope);
  }

  /** One that is open is filled. */
  fill(index: number): void {
    const open = this.#orders.filter((order) => this.#isOpen(order));
    if (open.length > 0) this.#end(open[index % open.length]!, 0);
  }

  async run(trouble: Trouble): Promise<MassCancelReport | undefined> {
    await this.#settle();
    let call = 0;
    let isDead = false;
    const through = async <T>(effect: () => T | Promise<T>): Promise<T> => {
      this.#now += callMs;
      if (isDead) throw new Died();
      const fails = ++call === trouble.failsAt;
      isDead = fails && trouble.dies;
      if (fails && !trouble.after) throw new Error('a call fails');
      const result = await effect();
      if (fails) throw new Error('the answer to a call is lost');
      return result;
    };
    const fates = [...trouble.fates];
    const asked = new Set<string>();
    const massCancels = this.#subject.createMassCancels({
      store: this.#store(through),
      orders: {
        accounts: () => through(() => accounts),
        openOrders: (account) =>
          through(() => {
            if (account === accounts[trouble.unreadable ?? -1]) throw new Error('the account cannot be read');
            return this.#list(account);
          }),
      },
      cancel: (account, id, key) => {
        if (asked.has(`${account} ${id}`)) this.faults.push(`one run asks twice to cancel ${id}`);
        asked.add(`${account} ${id}`);
        return through(() => this.#cancel(account, id, key, fates.shift() ?? 'accepted'));
      },
      journal: { read: (keys) => through(() => this.#journal.read(keys)) },
      names,
      clock: () => this.#now,
    });
    try {
      return await massCancels.run(this.#now + 25_000);
    } catch {
      return undefined;
    }
  }

  /** Runs each minute, the first of them with trouble; at the end no request is open. */
  async end(troubles: readonly Trouble[]): Promise<void> {
    for (let runs = 0; runs < troubles.length + 20; runs++) {
      await this.run(troubles[runs] ?? noTrouble);
      this.pass(minute - callMs);
    }
    const open = await this.#controls.massCancels.open();
    if (open.length > 0) this.faults.push(`${open.map(({ scope }) => scope)}: not finished after long`);
  }

  /** The look-ups of the settlement: what came is accepted, and what is not there after long was never placed. */
  async #settle(): Promise<void> {
    for (const { key, attempt, record, sendBy } of await this.#journal.unsettled('placements', '', 10_000)) {
      const id = key.split('|').at(-1);
      const isShown = this.#orders.some((order) => order.id === id && order.arrivesAt <= this.#now);
      const isAbsent = this.#now > sendBy + 11 * minute;
      if (isShown || isAbsent)
        await this.#journal.finish({ key, attempt, record, state: isShown ? 'accepted' : 'refused' });
    }
  }

  #store(through: <T>(effect: () => T | Promise<T>) => Promise<T>): MassCancelStore {
    const store = this.#controls.massCancels;
    return {
      request: store.request,
      open: () => through(() => store.open()),
      finish: (one) =>
        through(async () => {
          const isFinished = await store.finish(one);
          if (isFinished) this.#judge(one);
          return isFinished;
        }),
    };
  }

  #judge({ scope }: MassCancel): void {
    for (const { leftBy } of this.#promised.filter((one) => one.scope === scope))
      for (const order of this.#orders) {
        const isMeant = isIn(scope, order) && order.leftAt <= leftBy;
        if (isMeant && !order.ended)
          this.faults.push(`${scope}: finished, and ${order.id} is open or will be`);
      }
  }

  #isOpen = ({ arrivesAt, ended }: Order) => arrivesAt <= this.#now && !ended;

  #end(order: Order, lagMs: number): void {
    order.ended = { at: this.#now, shownUntil: this.#now + lagMs };
  }

  #list(account: string): readonly ReadOrder[] {
    return this.#orders
      .filter((one) => one.account === account && one.shownAt <= this.#now)
      .filter(({ ended }) => !ended || this.#now < ended.shownUntil)
      .map(shown);
  }

  #cancel(account: string, id: string, key: string, fate: Fate): CancelOutcome {
    const before = this.#sent.get(key);
    if (before && before.of !== `${account} ${id}`) this.faults.push(`${id} has the key of ${before.of}`);
    if (before && before.outcome !== 'refused') return before.outcome;
    const order = this.#orders.find((one) => one.account === account && one.id === id)!;
    const isMeant = this.#promised.some(
      ({ scope, leftBy }) => isIn(scope, order) && order.leftAt <= leftBy + mayCancelMs,
    );
    if (!isMeant) this.faults.push(`${id} is cancelled, and nothing that was asked for means it`);
    if (fate === 'throws') throw new Error('the cancel fails');
    const isExecuted = fate === 'accepted' || fate === 'executed, and the answer lost';
    const outcome = this.#isOpen(order) || fate === 'unknown' ? outcomeOf(fate) : 'refused';
    if (isExecuted && this.#isOpen(order)) {
      const { combination } = order;
      const others = this.#orders.filter(
        (one) => combination?.master === id && one.combination?.id === combination.id,
      );
      for (const one of [order, ...others]) if (!one.ended) this.#end(one, 5000);
    }
    this.#sent.set(key, { of: `${account} ${id}`, outcome });
    return outcome;
  }
}

function outcomeOf(fate: Exclude<Fate, 'throws'>): CancelOutcome {
  if (fate === 'executed, and the answer lost') return 'unknown';
  return fate === 'taken, and not executed' ? 'accepted' : fate;
}

function shown({ account, id, arrivesAt, combination }: Order): ReadOrder {
  const comboType = combination ? (combination.master === id ? 'MASTER' : 'STOP_LOSS') : 'NORMAL';
  const payload = {
    client_order_id: id,
    combo_type: comboType,
    place_time_at: new Date(arrivesAt).toISOString(),
  };
  return {
    state: { account, clientOrderId: id, status: 'SUBMITTED', filled: '0' },
    payload: JSON.stringify(payload),
    ...(combination && { combination: combination.id }),
  };
}
