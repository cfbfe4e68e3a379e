/**
 * After the upstream's 429 in spite of the limits that the gateway keeps: whether tighter limits would have sent less, and
 * how long what was refused pauses.
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

/** What it takes to go over to tighter limits. */
export interface Tightening {
  readonly inForce: LimitsInForce;
  /** The limiter of a tighter choice, over the store of the configured one. Called once for each. */
  readonly limiterFor: (upstreamLimits: UpstreamLimits) => Limiter;
  /** The part of each limit that is this deployment's. Default 1. */
  readonly share?: number;
  readonly report?: (report: RateLimitReport) => void;
}

/**
 * The upstream refused a request with 429. `tightened`: from now on `kept` is the choice. `not_ours`: within the window
 * this gateway has sent no more than the tightest choice allows, so that it would be refused just the same: others use
 * the app key, or the upstream blocks the address. `none_tighter`: no choice has smaller figures for the operation.
 */
export interface RateLimitReport {
  readonly operation: string;
  readonly verdict: 'tightened' | 'not_ours' | 'none_tighter';
  /** The choice that all instances keep from now on, as a text. */
  readonly kept: string;
  /** How many steps that is from the configured choice. */
  readonly steps: number;
}

/** A request that the upstream refused with 429. */
export interface RateLimited {
  readonly operation: Operation;
  readonly appKey: string;
  readonly refusal: Refusal;
  /** For the answer to the client, in milliseconds. */
  readonly timeLeft: number;
}

export type AfterRateLimit = (refused: RateLimited) => Promise<void>;

/** A choice that is kept, those that are tighter in order, and what this deployment has sent under it. */
interface KeptLimits {
  readonly choices: readonly UpstreamLimits[];
  /** Of the choice that is kept. */
  readonly steps: number;
  readonly share: number;
  /** What the request counted against. */
  readonly names: readonly string[];
  readonly usedOf: (name: string) => Promise<number | undefined> | undefined;
}

/** Which choice follows from a refusal: the first that would have sent less, or else the one that is kept. */
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
  // The endpoint's requests are no more than those of any limit that all of them count against.
  const isUpstreams = (name: string) => name === operation.limit || isOfEndpoint(name);
  const used = await Promise.all(
    names.filter(isUpstreams).map(async (name) => ({
      count: (await usedOf(name)) ?? Number.POSITIVE_INFINITY,
      perSeconds: all[name]?.perSeconds ?? 0,
    })),
  );
  for (const one of stricter) {
    // Of a shorter window than the figures are for, more may have been sent in theirs.
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

/** What a choice allows the endpoint of an operation; of instruments, all endpoints together. */
const figuresOf = (operation: Operation, endpoints: EndpointLimits): CountedFigures | undefined =>
  operation.limit === 'instruments'
    ? (endpoints.instruments ?? limits.instruments)
    : endpointCounterOf(operation, endpoints);

/** What clocks and the network may add to a window. */
const marginMs = 2000;
/** Longer than any request that began before other instances know of the step; see `limits-in-force.ts`. */
const minStepPauseMs = 62_000;
const minPauseMs = 10_000;

/** How long the upstream wants to be left alone, or else until its window is empty. */
export function pauseMsOf(
  operation: Operation,
  choice: UpstreamLimits,
  { retryAfterSeconds }: Refusal,
): number {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000;
  return Math.max(minPauseMs, windowMsOf(operation, choice));
}

/** What was sent before is in no counter of a tighter choice: those start when it has left the upstream's window. */
export const stepPauseMsOf = (operation: Operation, tighter: UpstreamLimits, refusal: Refusal): number =>
  Math.max(minStepPauseMs, windowMsOf(operation, tighter), pauseMsOf(operation, tighter, refusal));

function windowMsOf(operation: Operation, choice: UpstreamLimits): number {
  const { perSeconds = 0 } =
    figuresOf(operation, endpointLimitsOf(choice)) ?? (operation.limit ? limits[operation.limit] : {});
  return 1000 * perSeconds + marginMs;
}
