/**
 * Decides whether orders may be placed or replaced: stops first, then the checks of each order by itself, then those that
 * count it with earlier orders. It writes nothing: its counts are written in the transaction that writes the order's entry.
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

/** Dependencies of the pre-trade checks and the kill switch. */
export interface GuardWiring {
  /** The store of the operators' limits and stops. */
  readonly controls: ControlStore;
  /** Limits of the whole gateway, until an operator sets others. Default none. */
  readonly limits: TradingLimits | undefined;
  /** Last prices of stocks and funds. Without them, orders whose checks need one are blocked. */
  readonly lastPrices: LastPrices | undefined;
  /** Last prices of option contracts, by symbols in the OCC form. Without them, such orders are blocked, too. */
  readonly optionPrices: LastPrices | undefined;
  /** Clock for counting the orders of the last minute, in milliseconds since the epoch. Default the instance's clock. */
  readonly storeTime: () => number;
  /** Receives the cancels that checks with `block_and_cancel` request. Without it, such a check only blocks. */
  readonly massCancels: Pick<MassCancelStore, 'request'>;
}

export type GuardOptions = OptionsOf<GuardWiring, 'controls'>;

interface GuardParts extends GuardOptions {
  readonly names: KeyedNames;
  readonly clock: () => number;
}

/** An order that a request places or replaces. */
export interface AskedOrder {
  /** JSON as the interface places or shows it; undefined for a replaced order that could not be looked up. */
  readonly json: string | undefined;
  /** JSON Pointer to the order in the request. */
  readonly at: string;
  /** JSON of a replacement's changes. */
  readonly replaced?: string;
  /** The order's part of the counters so far. */
  readonly exposure?: Exposure | undefined;
  /** Present when the JSON is from a look-up: another program may have replaced the order since it was counted. */
  readonly isShown?: true;
  /** Why the upstream may take it for another order than its members say, or why there is no JSON. */
  readonly doubt?: Unknown | undefined;
  /** Whether the orders of the request are placed together or not at all. */
  readonly isCombined?: boolean;
  /** Exposure of the whole bracket, where the order is a replaced exit. */
  readonly covered?: Exposure | undefined;
}

interface GuardQuestion {
  /** Account id in clear. */
  readonly account: string;
  /** The user's keyed name. */
  readonly user?: string;
  readonly orders: readonly AskedOrder[];
  /** When the answer is needed, in milliseconds since the epoch. */
  readonly endBy: number;
}

export type ScopeKind = 'gateway' | 'account' | 'user';

/** Scope whose open orders a failed check cancels. */
export interface CancelledScope {
  readonly kind: Exclude<ScopeKind, 'gateway'>;
  /** The scope's key, as in `controls.ts`. */
  readonly key: string;
}

/** A failed check, with the scope that has its limit. */
export interface ScopeFailure extends Failure {
  readonly scope: ScopeKind;
}

export type Verdict =
  | {
      readonly kind: 'allowed';
      readonly counters: readonly CounterChange[];
      /** Exposure of each order, in the order of the question; undefined where no counter counts it. */
      readonly exposures: readonly (Exposure | undefined)[];
      /** Failed checks that are set to notify. */
      readonly noted: readonly ScopeFailure[];
      /** Last moment at which the request may leave: the verdict does not include later stops. */
      readonly leaveBy: number;
      readonly counted: CountedAt;
    }
  | { readonly kind: 'stopped'; readonly scope: ScopeKind; readonly since: number }
  /** A table was restored, so that orders, limits and stops may be out of date. */
  | { readonly kind: 'closed' }
  | {
      readonly kind: 'blocked';
      readonly failures: readonly ScopeFailure[];
      /** Counters that the failures rest on; another instance may have changed them. */
      readonly counters: readonly string[];
      /** Scopes whose open orders are to be cancelled. */
      readonly cancelled: readonly CancelledScope[];
    };

/** Keys of the counters in which orders were counted, for taking orders without effect out again. */
export interface CountedAt {
  readonly at: number;
  /** Rate counters of scopes that users share. */
  readonly shared: readonly string[];
  /** The user's rate counter, which keeps orders that the upstream refuses: nothing else bounds such orders. */
  readonly own: readonly string[];
  /** Counters of the repetitions of each order, in the order of the question. */
  readonly same: readonly (readonly string[])[];
}

export interface Guard {
  /** @throws the store's error when the operators' controls cannot be read */
  verdict(question: GuardQuestion): Promise<Verdict>;
  /** Remembers counters as they are in the store. */
  learn(counters: readonly StoredCounter[]): void;
}

/** The limits of one scope, and the counters for them. */
interface Rule {
  readonly kind: ScopeKind;
  readonly key: string;
  readonly limits: TradingLimits;
  readonly counter: string;
  readonly kept: Kept;
  /** Margin in percent with which the counter values orders. */
  readonly margin: string;
  /** The user's counter, where the scope's limits are those of all users. */
  readonly share: string | undefined;
  readonly control: Control | undefined;
  /** Scope whose open orders are cancelled when a check fails with `block_and_cancel`. */
  readonly cancelled: CancelledScope;
}

/** An order with the facts that its checks need. */
interface Known {
  readonly asked: AskedOrder;
  /** The order as the request makes it. */
  readonly order: OrderToCheck;
  /** The order at its largest, with earlier replacements executed or not. */
  readonly largest: OrderToCheck;
  /**
   * A replaced order as it is now, where no counter has it: the upstream may execute the replacement late, or not at all. An
   * order that is counted is not valued anew, because a later replacement could then grow to that value unchecked.
   */
  readonly standing: OrderToCheck | undefined;
  readonly prices: Prices;
  readonly what: string;
  /** Whether it is the entry order of its bracket; absent outside a bracket. */
  readonly isEntry?: boolean;
}

/** Most counters that an instance remembers; it forgets those learnt longest ago. */
const maxCounters = 1000;
/**
 * Longest idle time after which an instance trusts its counters. In a longer one it may have missed a restore: orders are
 * then closed for at least twice as long, unless an operator confirms the table earlier.
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
    // A restored journal may reuse a revision for another state, so remembered counters are dropped.
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
        // Without a user's counter, refused orders stay in the shared ones: nothing else bounds them.
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
      // Concurrent requests may learn in any order; a lower revision is older.
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
    // An order beyond the gateway's limit cancels only the orders of its own user or account.
    const [forGateway, forUser] = [ofUser ?? ofAccount, ofUser ? [ofUser] : []];
    const scopes = [{ kind: 'gateway', key: stackScope } as const, ofAccount, ...forUser];
    const { controls, ageMs } = await this.#controls.read([...scopes.map(({ key }) => key), restoredScope]);
    const leaveBy = this.#parts.clock() + maxControlAgeMs - ageMs;
    const ofAll = withChanges(limits, controls.get(stackScope)?.limits ?? {});
    const rules = scopes.map((scope): Rule => {
      const { kind, key } = scope;
      const control = controls.get(key);
      const own = kind === 'gateway' ? ofAll : (control?.limits ?? {});
      // Values that the gateway counts over all users are also counted for each user.
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
    // An instrument that was never traded has no price.
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

  /** Counts repetitions in a counter for each contents, so that no counter has all orders of a scope. */
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

/** Whether the bracket's exposure includes the exit: its quantity is at most the entry's. */
const isCovered = ({ quantity }: OrderToCheck, bracket: Exposure | undefined): boolean =>
  quantity !== undefined &&
  bracket?.quantity !== undefined &&
  compareDecimals(quantity, bracket.quantity) <= 0;

interface Total {
  /** JSON Pointer to the order that has the total. */
  readonly at: string;
  readonly before: string;
  readonly total: string;
  readonly unknown: Unknown | undefined;
}

/** Marks the orders of a bracket. Its exits are alike but repeat no order, so only its entry is checked for repetition. */
function asBracket(known: readonly Known[]): readonly Known[] {
  const isCombined = known.every(({ asked }) => asked.isCombined);
  const entry = isCombined ? bracketEntry(known.map(({ order }) => order)) : undefined;
  if (!entry) return known;
  return known.map((one) => {
    const isEntry = one.order === entry;
    return { ...one, isEntry, what: isEntry ? one.what : '' };
  });
}

/** Counts the largest order of a bracket for all of them, in the entry order, until the last of them has ended. */
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

/** A random first revision: stores forget these counters, and a new one must not reuse an old revision. */
const anyRevision = (): number => Math.floor(Math.random() * 2 ** 48);

/** Most items of a store's transaction, besides the counters of three scopes. */
const maxItems = 96;

/** Fails requests with more orders than one transaction can count, and orders whose repetitions cannot be recognised. */
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

/** Key under which two orders count as duplicates. */
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

/** The traded symbols, independent of their spelling and order; an option counts as the contract that it names. */
function thingsOf(symbols: OrderToCheck['symbols'], parts: OrderToCheck['parts']): readonly string[] {
  const things = parts.map(({ symbol }) => symbol);
  const written = things.includes(undefined) ? symbols.map(({ symbol }) => symbol) : things;
  return [...new Set(written.map((symbol = '') => plainSymbol(symbol)))].sort();
}

const counterKey = (scope: string): string => `counter ${scope}`;

const larger = (a: string, b: string): string => (compareDecimals(a, b) < 0 ? b : a);

/** A failure with its rule and its consequence. */
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
    // The gateway's totals would reveal other users' orders; a share reveals only its own user's.
    ...(came !== undefined && (failure.isShare || !isOfOthers(rule, failure)) && { came }),
  }));

const isOfOthers = ({ kind }: Rule, { check, unknown }: Failure): boolean =>
  kind === 'gateway' && countedChecks.some((one) => one === check) && !unknown;

/**
 * The consequence of a failure. An unreadable price or an order that could not be looked up never cancels open orders:
 * otherwise other users' reads, which use up the shared limits, could cause cancels.
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
