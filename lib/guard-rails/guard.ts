/**
 * Decides whether orders may be placed or replaced: stops first, then what each order is by itself, then what it comes to
 * with those before it. It writes nothing: what it counts is written in the transaction that writes the order's entry.
 */

import type { KeyedNames } from '../access/directory.ts';
import { type Ages, createAges, type Moment } from '../kernel/age.ts';
import { compareDecimals, subtractDecimals } from '../kernel/decimals.ts';
import type { OptionsOf } from '../kernel/options-of.ts';
import {
  type Failure,
  failuresOf,
  marginOf,
  maxQuoteAgeMs,
  notKnown,
  quotesTaken,
  repetitionsInWords,
} from './checks.ts';
import { plainSymbol } from './contracts.ts';
import {
  accountScope,
  type Control,
  type ControlStore,
  type Controls,
  createControls,
  maxControlAgeMs,
  restoredScope,
  stackScope,
  userScope,
} from './controls.ts';
import {
  type CountedOrder,
  type CounterChange,
  type CounterState,
  count,
  countSame,
  emptyCounter,
  type Kept,
  readCounter,
  type StoredCounter,
} from './counter.ts';
import { asReplaced, atMost, type Exposure, exposureAfter } from './exposure.ts';
import type { LastPrices } from './last-price.ts';
import {
  type CheckAction,
  type CheckName,
  countedChecks,
  isCounted,
  type TradingLimits,
  type Unknown,
  withChanges,
} from './limits.ts';
import type { MassCancelStore } from './mass-cancels.ts';
import { notionalOf, type PricedSymbol, type Prices, priceKey, stray } from './notional.ts';
import { bracketEntry, hasStrayLegs, type OrderToCheck, orderToCheck } from './order.ts';

/** Pre-trade checks and the kill switch. */
export interface GuardWiring {
  /** What operators have set. */
  readonly controls: ControlStore;
  /** Limits of the whole gateway, until an operator sets others. Default none. */
  readonly limits: TradingLimits | undefined;
  /** Of stocks and funds. Without them, what needs the last price of one is blocked. */
  readonly lastPrices: LastPrices | undefined;
  /** The same of option contracts, by their symbols in the OCC form. */
  readonly optionPrices: LastPrices | undefined;
  /** By which orders of the last minute are counted, in milliseconds since the epoch. Default the instance's clock. */
  readonly storeTime: () => number;
  /** Where a check of action `block_and_cancel` asks for cancels. Without it such a check blocks, and that is all. */
  readonly massCancels: Pick<MassCancelStore, 'request'>;
}

export type GuardOptions = OptionsOf<GuardWiring, 'controls'>;

interface GuardParts extends GuardOptions {
  readonly names: KeyedNames;
  readonly clock: () => number;
}

/** An order that a request places, or what it makes of one. */
export interface AskedOrder {
  /** JSON, as the interface places it or shows it; undefined for one that is replaced, and could not be looked up. */
  readonly json: string | undefined;
  /** Where it stands in the request, as a JSON Pointer. */
  readonly at: string;
  /** JSON of what a replacement changes. */
  readonly replaced?: string;
  /** What is counted of it already. */
  readonly exposure?: Exposure | undefined;
  /** The JSON is of a look-up for this request: another program may have replaced the order since it was counted. */
  readonly isShown?: true;
  /** Why the upstream may take it for another order than its members say, or why there is no JSON. */
  readonly doubt?: Unknown | undefined;
  /** The orders of the request are placed together or not at all. */
  readonly isCombined?: boolean;
  /** Exposure of the whole bracket, where the order is an exit that is replaced. */
  readonly covered?: Exposure | undefined;
}

interface GuardQuestion {
  /** In clear. */
  readonly account: string;
  /** The user's keyed name. */
  readonly user?: string;
  readonly orders: readonly AskedOrder[];
  /** When the answer is needed, in milliseconds since the epoch. */
  readonly endBy: number;
}

export type ScopeKind = 'gateway' | 'account' | 'user';

/** Whose open orders a failed check cancels. */
export interface CancelledScope {
  readonly kind: Exclude<ScopeKind, 'gateway'>;
  /** As in `controls.ts`. */
  readonly key: string;
}

/** A check that failed, and whose limit it is. */
export interface ScopeFailure extends Failure {
  readonly scope: ScopeKind;
}

export type Verdict =
  | {
      readonly kind: 'allowed';
      readonly counters: readonly CounterChange[];
      /** Of each order, in the order of the question; undefined where nothing counts it. */
      readonly exposures: readonly (Exposure | undefined)[];
      /** Failed, and set to notify. */
      readonly noted: readonly ScopeFailure[];
      /** The request leaves by then or not at all: a stop that came since is not known. */
      readonly leaveBy: number;
      readonly counted: CountedAt;
    }
  | { readonly kind: 'stopped'; readonly scope: ScopeKind; readonly since: number }
  /** A table was restored: what is known of orders, limits and stops may be of earlier. */
  | { readonly kind: 'closed' }
  | {
      readonly kind: 'blocked';
      readonly failures: readonly ScopeFailure[];
      /** Counters on which that rests, and which another instance may have changed. */
      readonly counters: readonly string[];
      /** What is to be cancelled for it. */
      readonly cancelled: readonly CancelledScope[];
    };

/** Keys of the counters in which orders were counted: those that have no effect are taken out again. */
export interface CountedAt {
  readonly at: number;
  /** Of those who share a scope. */
  readonly shared: readonly string[];
  /** Of the user, for whom orders count that the upstream refuses for what they are: nothing else bounds them. */
  readonly own: readonly string[];
  /** Of the repetitions of each order, in the order of the question. */
  readonly same: readonly (readonly string[])[];
}

export interface Guard {
  /** @throws the store's error when it is not known what operators have set */
  verdict(question: GuardQuestion): Promise<Verdict>;
  /** Counters as they are in the store. */
  learn(counters: readonly StoredCounter[]): void;
}

/** What one scope demands. */
interface Rule {
  readonly kind: ScopeKind;
  readonly key: string;
  readonly limits: TradingLimits;
  readonly counter: string;
  readonly kept: Kept;
  /** At which its counter values orders. */
  readonly margin: string;
  /** The user's counter, where the scope's limits are those of all users. */
  readonly share: string | undefined;
  readonly control: Control | undefined;
  /** Whose open orders go when a check of it fails with `block_and_cancel`. */
  readonly cancelled: CancelledScope;
}

/** An order with what is known for its checks. */
interface Known {
  readonly asked: AskedOrder;
  /** As the request makes it. */
  readonly order: OrderToCheck;
  /** As it may be at most, with the replacements before. */
  readonly largest: OrderToCheck;
  /**
   * Of one that is replaced, as it stands where no counter has that: the upstream may execute the replacement late, or not
   * at all. What a counter has of an order is not valued anew: a later replacement could grow to that value unchecked.
   */
  readonly standing: OrderToCheck | undefined;
  readonly prices: Prices;
  readonly what: string;
  /** Whether it enters its bracket; absent outside one. */
  readonly isEntry?: boolean;
}

/** Counters of accounts and users that have not ordered for a while are forgotten. */
const maxCounters = 1000;
/**
 * An instance that had no order for so long may not have seen orders closed: after a restore they are for twice as long,
 * unless an operator confirms the table before.
 */
const maxIdleMs = 5 * 60_000;

/** @example const guard = createGuard({ controls, limits: { max_order_notional: '10000' }, names, clock: Date.now }); */
export const createGuard = (parts: GuardParts): Guard => new OrderGuard(parts);

class OrderGuard implements Guard {
  readonly #parts: GuardParts;
  readonly #controls: Controls;
  readonly #counters = new Map<string, StoredCounter>();
  readonly #ages: Ages;
  #askedAt: Moment;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    this.#ages = createAges(parts.clock);
    this.#askedAt = this.#ages.now();
    this.#controls = createControls(parts.controls, parts.clock);
  }

  async verdict(question: GuardQuestion): Promise<Verdict> {
    const { rules, leaveBy, isClosed } = await this.#rules(question);
    // A restored journal has revisions again that it had before, with other states.
    if (isClosed || this.#ages.since(this.#askedAt) > maxIdleMs) this.#counters.clear();
    this.#askedAt = this.#ages.now();
    if (isClosed) return { kind: 'closed' };
    const stop = rules.find(({ control }) => control?.stopped);
    if (stop?.control?.stopped) return { kind: 'stopped', scope: stop.kind, since: stop.control.stopped.at };
    const known = asBracket(
      await Promise.all(question.orders.map((asked) => this.#know(asked, rules, question))),
    );
    const { clock, storeTime = clock } = this.#parts;
    const now = storeTime();
    const counted = rules
      .filter(({ limits, kept }) => isCounted(limits) || kept.open || kept.rate)
      .map((rule) => this.#count(rule, known, now));
    const failures = [
      ...rules.flatMap((rule) =>
        known.flatMap((one) => ofRule(rule, failuresOf(one.order, rule.limits, one.prices))),
      ),
      ...counted.flatMap(({ rule, failures }) => ofRule(rule, failures)),
    ];
    const blocking = failures.filter(({ action }) => action !== 'notify');
    if (blocking.length > 0) {
      const counters = counted.flatMap(({ rule: { share }, changes, failures }) =>
        failures.length > 0
          ? [...changes.map(({ key }) => key), ...(share === undefined ? [] : [share])]
          : [],
      );
      const cancelling = blocking.filter(({ action }) => action === 'block_and_cancel');
      const cancelled = [...new Set(cancelling.map(({ rule }) => rule.cancelled))];
      return { kind: 'blocked', failures: blocking.map(asTold), counters: [...new Set(counters)], cancelled };
    }
    const isUserBounded = rules.some(({ kind, kept }) => kind === 'user' && kept.rate);
    const rated = counted.flatMap(({ rule }) => (rule.kept.rate ? [rule] : []));
    return {
      kind: 'allowed',
      counters: counted.flatMap(({ changes }) => changes),
      exposures: known.map((one, index) =>
        exposureOf(
          one,
          counted.map(({ rule, totals }) => [rule, totals[index]!]),
        ),
      ),
      noted: failures.map(asTold),
      leaveBy,
      counted: {
        at: now,
        // Where nothing counts them for the user, refused orders count for all: nothing else bounds them.
        shared: isUserBounded
          ? rated.filter(({ kind }) => kind !== 'user').map(({ counter }) => counter)
          : [],
        own: rated.filter(({ kind }) => kind === 'user' || !isUserBounded).map(({ counter }) => counter),
        same: known.map((_, index) => counted.flatMap(({ same }) => same[index] ?? [])),
      },
    };
  }

  learn(counters: readonly StoredCounter[]): void {
    for (const counter of counters) {
      // Requests of this instance learn side by side: what comes late is older.
      if ((this.#counters.get(counter.key)?.revision ?? 0) > counter.revision) continue;
      this.#counters.delete(counter.key);
      this.#counters.set(counter.key, counter);
    }
    for (const key of [...this.#counters.keys()].slice(0, Math.max(0, this.#counters.size - maxCounters)))
      this.#counters.delete(key);
  }

  async #rules({ account, user }: GuardQuestion) {
    const { names, limits = {} } = this.#parts;
    const ofAccount = { kind: 'account', key: accountScope(await names.nameOf('account', account)) } as const;
    const ofUser = user === undefined ? undefined : ({ kind: 'user', key: userScope(user) } as const);
    // An order that is beyond the gateway's limit never cancels the orders of others.
    const [forGateway, forUser] = [ofUser ?? ofAccount, ofUser ? [ofUser] : []];
    const scopes = [{ kind: 'gateway', key: stackScope } as const, ofAccount, ...forUser];
    const { controls, ageMs } = await this.#controls.read([...scopes.map(({ key }) => key), restoredScope]);
    const leaveBy = this.#parts.clock() + maxControlAgeMs - ageMs;
    const ofAll = withChanges(limits, controls.get(stackScope)?.limits ?? {});
    const rules = scopes.map((scope): Rule => {
      const { kind, key } = scope;
      const control = controls.get(key);
      const own = kind === 'gateway' ? ofAll : (control?.limits ?? {});
      // Whatever the gateway counts over all users, it counts of each.
      const kept = [own, ...(kind === 'user' ? [ofAll] : [])];
      return {
        kind,
        key,
        limits: own,
        counter: counterKey(key),
        kept: {
          open: kept.some(({ max_open_notional }) => max_open_notional !== undefined),
          rate: kept.some(({ max_orders_per_minute }) => max_orders_per_minute !== undefined),
        },
        margin: marginOf(own.max_open_notional === undefined ? ofAll : own),
        share:
          kind === 'gateway' && ofUser && own.user_shares !== 'none' ? counterKey(ofUser.key) : undefined,
        control,
        cancelled: scope.kind === 'gateway' ? forGateway : scope,
      };
    });
    return { rules, leaveBy, isClosed: controls.get(restoredScope)?.stopped !== undefined };
  }

  async #know(given: AskedOrder, rules: readonly Rule[], question: GuardQuestion): Promise<Known> {
    const read = orderToCheck(given.json, given.at, given.replaced, given.doubt);
    const standing = standingOf(given);
    const { exposure } = given;
    const asked = standing ? { ...given, exposure: exposureAfter(standing, { exposure }, {}) } : given;
    const [order, largest] = [asReplaced(read, asked), atMost(read, asked)];
    const { names } = this.#parts;
    const taken = rules.map(({ limits }) => ({
      maxAgeMs: maxQuoteAgeMs(limits),
      quotes: [order, largest, ...(standing ? [standing] : [])].flatMap((one) => quotesTaken(one, limits)),
    }));
    const wanting = taken.filter(({ quotes }) => quotes.length > 0);
    const maxAgeMs = Math.min(...wanting.map(({ maxAgeMs }) => maxAgeMs));
    const prices = await this.#prices(
      wanting.flatMap(({ quotes }) => quotes),
      maxAgeMs,
      question,
    );
    const repeats = rules.some(({ limits }) => limits.max_duplicative_orders) && !order.isReplacement;
    return {
      asked,
      order,
      largest,
      standing,
      prices,
      what: repeats ? await names.nameOf('asked', question.account, contentsOf(order)) : '',
    };
  }

  async #prices(
    quotes: readonly PricedSymbol[],
    maxAgeMs: number,
    { endBy, user }: GuardQuestion,
  ): Promise<Prices> {
    const { lastPrices, optionPrices } = this.#parts;
    const distinct = new Map(quotes.map((one) => [priceKey(one), one]));
    const read = await Promise.all(
      [...distinct].map(async ([key, { kind, symbol }]) => {
        const source = kind === 'stock' ? lastPrices : optionPrices;
        return [key, await source?.lastPrice(symbol, maxAgeMs, endBy, user)] as const;
      }),
    );
    // Of what was never traded there is none.
    return new Map(
      read.flatMap(([key, last]) =>
        last && compareDecimals(last.price, '0') > 0 ? [[key, last.price] as const] : [],
      ),
    );
  }

  #count(rule: Rule, known: readonly Known[], now: number) {
    const stored = this.#counters.get(rule.counter) ?? emptyCounter(rule.counter);
    const repetitions = this.#countSame(rule, known, now);
    const { kept, margin, share } = rule;
    const each = known.map(({ asked, largest, standing, prices }) => {
      const before = asked.exposure?.counted[rule.counter] ?? '0';
      const covered = (isCovered(largest, asked.covered) && asked.covered?.counted[rule.counter]) || '0';
      const worth = (one: OrderToCheck) =>
        kept.open ? notionalOf(one, prices, margin) : { value: before, unknown: undefined };
      const [most, stands] = [worth(largest), standing && worth(standing)];
      return {
        at: largest.at,
        before,
        total: larger(subtractDecimals(larger(most.value, stands?.value ?? '0'), covered), before),
        unknown: most.unknown ?? stands?.unknown,
      };
    });
    const totals = inBracket(known, each);
    const orders = known.map(({ order }, index): CountedOrder => {
      const { at: addedAt, before, total, unknown } = totals[index]!;
      const same = repetitions.same[index];
      return {
        at: order.at,
        addedAt,
        added: subtractDecimals(total, before),
        ...(unknown && { unknown }),
        ...(same !== undefined && { same }),
      };
    });
    const ofUser =
      share === undefined ? undefined : readCounter(this.#counters.get(share) ?? emptyCounter(share));
    const { after, failures } = count(readCounter(stored), rule.limits, orders, now, kept, ofUser);
    const own = { key: rule.counter, revision: stored.revision, next: JSON.stringify(after) };
    return {
      rule,
      changes: [own, ...repetitions.changes],
      same: repetitions.keys,
      failures: [...failures, ...uncountable(rule.limits, known, repetitions.changes)],
      totals: totals.map(({ total }) => total),
    };
  }

  /** A counter for each of their contents, so that none has all orders of a scope. */
  #countSame({ key: scope, limits }: Rule, known: readonly Known[], now: number) {
    const { max_duplicative_orders: limit } = limits;
    const counters = new Map<string, { readonly stored: StoredCounter; state: CounterState }>();
    const expiries = new Map<string, number>();
    const keys: (string | undefined)[] = [];
    const same = known.map(({ what }) => {
      const key = limit && what !== '' ? `same ${scope} ${what}` : undefined;
      keys.push(key);
      if (!limit || key === undefined) return undefined;
      const stored = this.#counters.get(key) ?? emptyCounter(key, anyRevision());
      const counter = counters.get(key) ?? { stored, state: readCounter(stored) };
      const counted = countSame(counter.state, limit, now);
      counters.set(key, { stored, state: counted.after });
      expiries.set(key, counted.expiresAt);
      return counted.same;
    });
    const changes = [...counters].map(
      ([key, { stored, state }]): CounterChange => ({
        key,
        revision: stored.revision,
        next: JSON.stringify(state),
        expiresAt: expiries.get(key)!,
      }),
    );
    return { same, changes, keys };
  }
}

/** An exit takes the place of no more than the entry. */
const isCovered = ({ quantity }: OrderToCheck, bracket: Exposure | undefined): boolean =>
  quantity !== undefined &&
  bracket?.quantity !== undefined &&
  compareDecimals(quantity, bracket.quantity) <= 0;

interface Total {
  /** The order that the total is of. */
  readonly at: string;
  readonly before: string;
  readonly total: string;
  readonly unknown: Unknown | undefined;
}

/** The exits of a bracket are alike, and repeat nothing: its entry says whether the bracket does. */
function asBracket(known: readonly Known[]): readonly Known[] {
  const isCombined = known.every(({ asked }) => asked.isCombined);
  const entry = isCombined ? bracketEntry(known.map(({ order }) => order)) : undefined;
  if (!entry) return known;
  return known.map((one) => {
    const isEntry = one.order === entry;
    return { ...one, isEntry, what: isEntry ? one.what : '' };
  });
}

/** The entry of a bracket counts the largest of its orders for all of them, until the last of them has ended. */
function inBracket(known: readonly Known[], totals: readonly Total[]): readonly Total[] {
  if (known[0]?.isEntry === undefined) return totals;
  const { at, total } = totals.reduce((most, one) =>
    larger(most.total, one.total) === most.total ? most : one,
  );
  return totals.map((one, index) =>
    known[index]!.isEntry ? { ...one, at, total } : { ...one, total: one.before },
  );
}

function standingOf({ json, at, replaced, exposure, isShown }: AskedOrder): OrderToCheck | undefined {
  if (json === undefined || replaced === undefined) return undefined;
  return exposure === undefined || isShown ? orderToCheck(json, at) : undefined;
}

/** A store forgets such a counter: one that is begun anew has no revision that it had before. */
const anyRevision = (): number => Math.floor(Math.random() * 2 ** 48);

/** So many items go into one transaction of a store, with the counters of three scopes. */
const maxItems = 96;

/** A request of more different orders than can be counted at once, and an order of which it is not known what it repeats. */
function uncountable(
  { max_duplicative_orders: limit }: TradingLimits,
  known: readonly Known[],
  changes: readonly CounterChange[],
): readonly Failure[] {
  if (!limit) return [];
  const check = 'max_duplicative_orders';
  const told = repetitionsInWords(limit);
  for (const { order } of known) {
    if (order.isReplacement) continue;
    const unknown = order.doubt ?? (hasStrayLegs(order) ? stray : undefined);
    if (unknown) return [{ check, at: order.at, limit: told, came: notKnown, unknown }];
  }
  if (known.length + 3 * changes.length <= maxItems) return [];
  const most = `${told}, of at most ${maxItems / 4} orders in a request`;
  return [{ check, at: known[0]!.order.at, limit: most, came: `${known.length}` }];
}

/** What two orders have in common of which one may be the repetition of the other. */
const contentsOf = ({ symbols, parts, sides, quantity, amount, isByAmount, ...one }: OrderToCheck): string =>
  JSON.stringify([
    thingsOf(symbols, parts),
    sidesOf(sides),
    isByAmount,
    isByAmount ? amount : quantity,
    one.instrument === 'EVENT' ? one.eventOutcome : null,
  ]);

/** The order's own side, and those of its legs, in whatever order the caller writes the legs. */
const sidesOf = ([own, ...ofLegs]: readonly string[]) => [own, ...ofLegs.sort()];

/** However the caller writes them, and in whatever order: an option is the contract that it names. */
function thingsOf(symbols: OrderToCheck['symbols'], parts: OrderToCheck['parts']): readonly string[] {
  const things = parts.map(({ symbol }) => symbol);
  const written = things.includes(undefined) ? symbols.map(({ symbol }) => symbol) : things;
  return [...new Set(written.map((symbol = '') => plainSymbol(symbol)))].sort();
}

const counterKey = (scope: string): string => `counter ${scope}`;

const larger = (a: string, b: string): string => (compareDecimals(a, b) < 0 ? b : a);

/** A failure, and what comes of it. */
interface RuleFailure extends ScopeFailure {
  readonly rule: Rule;
  readonly action: CheckAction;
}

const ofRule = (rule: Rule, failures: readonly Failure[]): readonly RuleFailure[] =>
  failures.map(({ came, ...failure }) => ({
    ...failure,
    rule,
    scope: rule.kind,
    action: actionOf(rule.limits, failure.check, failure.unknown),
    // What the gateway's counters come to is the business of other users; a share tells of its own user alone.
    ...(came !== undefined && (failure.isShare || !isOfOthers(rule, failure)) && { came }),
  }));

const isOfOthers = ({ kind }: Rule, { check, unknown }: Failure): boolean =>
  kind === 'gateway' && countedChecks.some((one) => one === check) && !unknown;

/**
 * A price that could not be read, or an order that could not be looked up, blocks and says nothing against what is open:
 * reads of others that use up the shared limits must not cancel it.
 */
function actionOf(
  { actions, allow_unknown: allowed }: TradingLimits,
  check: CheckName,
  unknown: Unknown | undefined,
): CheckAction {
  const action = actions?.[check] ?? 'block';
  if (unknown === undefined) return action;
  const { name } = unknown;
  if (allowed?.some((one) => one === name || (one === 'order' && name === 'category'))) return 'notify';
  return action === 'block_and_cancel' ? 'block' : action;
}

const asTold = ({ action: _action, rule: _rule, ...failure }: RuleFailure): ScopeFailure => failure;

function exposureOf(
  { asked, largest }: Known,
  counted: readonly (readonly [Rule, string])[],
): Exposure | undefined {
  const own = counted.flatMap(([{ counter, kept }, total]) => (kept.open ? [[counter, total] as const] : []));
  if (own.length === 0 && !asked.exposure && asked.replaced === undefined) return undefined;
  return exposureAfter(largest, asked, Object.fromEntries(own));
}
