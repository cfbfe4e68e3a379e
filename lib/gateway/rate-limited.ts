/**
 * Decides after the upstream's 429, although the gateway kept its limits, whether tighter limits would have sent less,
 * and how long requests of the refused kind pause.
 */

import {
  type EndpointLimits,
  endpointCounterOf,
  endpointLimitsOf,
  limits,
  type RequestLimit,
  type UpstreamLimits,
} from '../catalogue/limits.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { Limiter } from '../limiter/index.ts';
import type { Refusal } from '../problem.ts';
import type { LimitsInForce } from './limits-in-force.ts';
import { isOfEndpoint, limiterLimits } from './operation-limits.ts';

/** Options for switching to tighter limits. */
export interface Tightening {
  readonly inForce: LimitsInForce;
  /** Creates the limiter of a tighter choice over the store of the configured limiter. Called once for each choice. */
  readonly limiterFor: (upstreamLimits: UpstreamLimits) => Limiter;
  /** This deployment's part of each limit. Default 1. */
  readonly share?: number;
  readonly report?: (report: RateLimitReport) => void;
}

/**
 * Report on a 429 of the upstream. `tightened`: from now on, all instances keep the choice `kept`. `not_ours`: within the
 * window this deployment sent no more than the tightest choice allows, so a tighter choice would not have helped: others
 * use the app key, or the upstream blocks the address. `none_tighter`: no choice has smaller figures for the operation.
 */
export interface RateLimitReport {
  readonly operation: string;
  readonly verdict: 'tightened' | 'not_ours' | 'none_tighter';
  /** The choice of limits that all instances keep from now on, as a text. */
  readonly kept: string;
  /** How many steps `kept` is tighter than the configured choice. */
  readonly steps: number;
}

/** A request that the upstream refused with 429. */
export interface RateLimited {
  readonly operation: Operation;
  readonly appKey: string;
  readonly refusal: Refusal;
  /** Time left to answer the client, in milliseconds. */
  readonly timeLeft: number;
}

export type AfterRateLimit = (refused: RateLimited) => Promise<void>;

/** The choice of limits in force, the tighter ones, and this deployment's requests under the former. */
interface KeptLimits {
  readonly choices: readonly UpstreamLimits[];
  /** Index of the choice in force within `choices`, which become tighter in order. */
  readonly steps: number;
  readonly share: number;
  /** Names of the limits that the refused request counted against. */
  readonly names: readonly string[];
  readonly usedOf: (name: string) => Promise<number | undefined> | undefined;
}

/** Decides which choice to keep after a 429: the first tighter one that would have sent less, or else the one in force. */
export async function verdictOn(
  operation: Operation,
  { choices, steps, share, names, usedOf }: KeptLimits,
): Promise<{ readonly verdict: RateLimitReport['verdict']; readonly steps: number }> {
  const [before, ...tighter] = choices
    .slice(steps)
    .map((choice) => figuresOf(operation, endpointLimitsOf(choice)));
  const stricter = tighter.flatMap((figures, index) =>
    figures && !isSame(figures, before) ? [{ figures, steps: steps + index + 1 }] : [],
  );
  if (stricter.length === 0) return { verdict: 'none_tighter', steps };
  const all = limiterLimits({}, share, { upstreamLimits: choices[steps]!, operations: [operation] });
  // Only these counters include every request to the endpoint, so the smallest of them bounds the number sent.
  const isUpstreams = (name: string) => name === operation.limit || isOfEndpoint(name);
  const used = await Promise.all(
    names.filter(isUpstreams).map(async (name) => ({
      count: (await usedOf(name)) ?? Number.POSITIVE_INFINITY,
      perSeconds: all[name]?.perSeconds ?? 0,
    })),
  );
  for (const one of stricter) {
    // A count over a window shorter than the choice's says too little: more may have been sent in the longer one.
    const counts = used
      .filter(({ perSeconds }) => perSeconds >= one.figures.perSeconds)
      .map(({ count }) => count);
    const isLess = Math.min(...counts) > Math.floor(one.figures.requests * share);
    if (isLess) return { verdict: 'tightened', steps: one.steps };
  }
  return { verdict: 'not_ours', steps };
}

type CountedFigures = Pick<RequestLimit, 'requests' | 'perSeconds'>;

const isSame = (one: CountedFigures, other: CountedFigures | undefined) =>
  one.requests === other?.requests && one.perSeconds === other.perSeconds;

/** The limit that a choice sets for the endpoint of an operation; for instruments, for all endpoints together. */
const figuresOf = (operation: Operation, endpoints: EndpointLimits): CountedFigures | undefined =>
  operation.limit === 'instruments'
    ? (endpoints.instruments ?? limits.instruments)
    : endpointCounterOf(operation, endpoints);

/** Time that clocks and the network may add to a window. */
const marginMs = 2000;
/** Shortest pause after a step: outlasts any request begun before other instances know of it; see `limits-in-force.ts`. */
const minStepPauseMs = 62_000;
const minPauseMs = 10_000;

/** Pause after a 429: the upstream's Retry-After, or else the time until its window is empty. */
export function pauseMsOf(
  operation: Operation,
  choice: UpstreamLimits,
  { retryAfterSeconds }: Refusal,
): number {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000;
  return Math.max(minPauseMs, windowMsOf(operation, choice));
}

/** Pause after a switch to tighter limits: their counters lack earlier requests, which must first leave the window. */
export const stepPauseMsOf = (operation: Operation, tighter: UpstreamLimits, refusal: Refusal): number =>
  Math.max(minStepPauseMs, windowMsOf(operation, tighter), pauseMsOf(operation, tighter, refusal));

function windowMsOf(operation: Operation, choice: UpstreamLimits): number {
  const { perSeconds = 0 } =
    figuresOf(operation, endpointLimitsOf(choice)) ?? (operation.limit ? limits[operation.limit] : {});
  return 1000 * perSeconds + marginMs;
}
