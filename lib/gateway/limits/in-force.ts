/**
 * The choice of limits in force. After the upstream's 429, requests of the refused kind pause, and if a tighter choice would
 * have sent less, all instances switch to it, as if that choice had been deployed.
 */

import { choicesFrom, limitsText, type UpstreamLimits } from '../../catalogue/limits.ts';
import type { Operation } from '../../catalogue/operation.ts';
import type { OptionsOf } from '../../kernel/options-of.ts';
import { endOf } from '../../kernel/pauses.ts';
import type { Limiter } from '../../limiter/index.ts';
import { type LimitsInForce, tightenAfter, type Verdict } from '../../limiter/tightening.ts';
import {
  countersOf,
  type LimitRules,
  limitsOf,
  type OperationLimits,
  operationLimitsFault,
} from './operation-limits.ts';

/** Options for switching to tighter limits. */
export interface Tightening {
  readonly inForce: LimitsInForce;
  /** Creates the limiter of a tighter choice over the store of the configured limiter. Called once for each choice. */
  readonly limiterFor: (upstreamLimits: UpstreamLimits) => Limiter;
  /** This deployment's part of each limit. Default 1. */
  readonly share?: number;
  readonly report?: (report: RateLimitReport) => void;
}

/** Report on a 429 of the upstream. */
export interface RateLimitReport {
  readonly operation: string;
  readonly verdict: Verdict;
  /** The choice of limits that all instances keep from now on, as a text. */
  readonly kept: string;
  /** How many steps `kept` is tighter than the configured choice. */
  readonly steps: number;
}

/** A request that the upstream refused with 429. */
interface RateLimited {
  readonly operation: Operation;
  readonly appKey: string;
  /** The answer's `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  /** Time left to answer the client, in milliseconds. */
  readonly timeLeft: number;
}

/** Options of a gateway's limits. */
export interface LimitsWiring {
  /** The operations that this gateway offers; it refuses any other as unknown. */
  readonly operations: readonly Operation[];
  /**
   * Grants a permit for every attempt that counts against a limit. It must know all limits that `limiterLimits` returns:
   * requests that count against another are answered with `gateway_error`. Default: none, and everything is sent.
   */
  readonly limiter: Limiter | undefined;
  /** The deployer's limits besides the catalogue's; the limiter must know them, too. */
  readonly operationLimits: OperationLimits | undefined;
  /** Choice of the upstream's limits; the limiter must use the same one. Default `interface`. */
  readonly upstreamLimits: UpstreamLimits | undefined;
  /** Switches to tighter limits when the upstream answers 429 although the limits were kept. Default: no switch. */
  readonly tightening: Tightening | undefined;
}

type LimitsOptions = OptionsOf<LimitsWiring, 'operations'>;

/** Parts of a gateway that depend on the choice of limits in force. */
export interface LimitParts extends LimitRules {
  readonly limiter: Limiter | undefined;
  /** Called after the upstream's 429. Never rejects. */
  readonly afterRateLimit: (refused: RateLimited) => Promise<void>;
  /** Whether all instances still keep these limits, for work that lasts longer than a request. */
  readonly isInForce: () => Promise<boolean>;
}

/**
 * The key of the store's item. It contains the configured choice, so that another configured choice begins without steps.
 *
 * @example
 * limitsInForceKey('countersign', 'interface'); // 'countersign.limits#interface'
 */
export const limitsInForceKey = (bucket: string, configured: UpstreamLimits): string =>
  `${bucket}.limits#${limitsText(configured)}`;

/** Longest delay of the client's answer while a pause or a step is stored for other instances. */
const maxWaitMs = 1500;

/**
 * Returns a function that resolves to what `create` made for the choice in force.
 *
 * @param create called with the parts of one choice, as if that choice had been deployed
 */
export function forLimitsInForce<T>(
  options: LimitsOptions,
  create: (parts: LimitParts) => T,
): () => Promise<T> {
  if (options.tightening) return createByStep(options, options.tightening, create);
  const { limiter, operationLimits = {}, upstreamLimits = 'interface' } = options;
  const rules = { operationLimits, upstreamLimits };
  const configured = create({
    ...rules,
    limiter,
    isInForce: async () => true,
    async afterRateLimit({ operation, appKey, retryAfterMs, timeLeft }) {
      const [limit] = limitsOf(operation, rules) ?? [];
      if (!limiter || !limit) return;
      await endOf(limiter.block(appKey, limit, retryAfterMs), Math.min(maxWaitMs, timeLeft));
    },
  });
  return async () => configured;
}

function createByStep<T>(
  { limiter, operations, operationLimits = {}, upstreamLimits }: LimitsOptions,
  { inForce, limiterFor, share = 1, report }: Tightening,
  create: (parts: LimitParts) => T,
): () => Promise<T> {
  const all = choicesFrom(upstreamLimits);
  const unfit = all.findIndex(
    (choice, steps) => steps > 0 && operationLimitsFault(operationLimits, operations, choice),
  );
  /** The configured choice and the tighter ones, up to the first that does not fit the deployer's own limits. */
  const choices = unfit < 0 ? all : all.slice(0, unfit);
  const limiters = new Map([[0, limiter]]);
  function limiterAt(steps: number): Limiter | undefined {
    if (!limiters.has(steps)) limiters.set(steps, limiterFor(choices[steps]!));
    return limiters.get(steps);
  }
  const rulesAt = (steps: number) => ({ operationLimits, upstreamLimits: choices[steps]! });
  const known = () => Math.min(inForce.known, choices.length - 1);

  async function tighten(steps: number, { operation, appKey, retryAfterMs }: RateLimited): Promise<void> {
    const limits = choices.map((choice, at) => ({
      outer: limitsOf(operation, rulesAt(at))?.[0],
      counters: countersOf(operation, choice),
    }));
    const refused = { appKey, steps, retryAfterMs, limits };
    const verdict = await tightenAfter(refused, { inForce, limiterAt, share });
    report?.({ operation: operation.id, verdict, kept: limitsText(choices[known()]!), steps: known() });
  }

  const createAt = (steps: number) =>
    create({
      ...rulesAt(steps),
      limiter: limiterAt(steps),
      isInForce: () => inForce.current().then(() => known() === steps),
      afterRateLimit: (refused) => endOf(tighten(steps, refused), Math.min(maxWaitMs, refused.timeLeft)),
    });
  let latest = { steps: 0, made: createAt(0) };
  // A gateway whose operations count against no limit does not wait for the store.
  const waits = operations.some((operation) => limitsOf(operation, rulesAt(0)));
  const first = inForce.current();
  return async () => {
    const read = inForce.current();
    if (waits || inForce.known > 0) await first.then(() => read);
    const steps = known();
    if (steps !== latest.steps) latest = { steps, made: createAt(steps) };
    return latest.made;
  };
}
