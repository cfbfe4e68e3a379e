/** Request limits of the upstream. Plans, limiter and simulator read them here. */

import { isIn, type Range } from './numbers.ts';

export interface LimitFigures {
  /** Number of requests that may arrive in any window of `perSeconds`. */
  readonly requests: number;
  readonly perSeconds: number;
}

export interface RequestLimit extends LimitFigures {
  readonly title: string;
}

export const limits = {
  /** Interface, section "Limits": 300 requests per minute for the Market Data API. They hold under every preset. */
  'market-data': { title: 'Market Data API', requests: 300, perSeconds: 60 },
  /**
   * The interface text names no limit of instruments. The vendor's table allows each of its market-data endpoints 60 in
   * 60 s; to allow that to all instrument operations together is the careful reading.
   */
  instruments: { title: 'Instruments', requests: 60, perSeconds: 60 },
} as const satisfies Record<string, RequestLimit>;

export type LimitName = keyof typeof limits;

/** Kinds of endpoints for which the vendor's table has figures. */
export const endpointKinds = [
  'market-data',
  'instruments',
  'order-change',
  'order-query',
  'accounts-list',
  'token',
] as const;

export type EndpointKind = (typeof endpointKinds)[number];

/**
 * Limit of each endpoint of a kind, by kind; for instruments, the limit of all endpoints together. The endpoints of a kind
 * that is left out have no counters of their own.
 */
export type EndpointLimits = Readonly<Partial<Record<EndpointKind, LimitFigures>>>;

const published = {
  'market-data': { requests: 60, perSeconds: 60 },
  instruments: { requests: 60, perSeconds: 60 },
  'order-change': { requests: 600, perSeconds: 60 },
  'order-query': { requests: 2, perSeconds: 2 },
  // Not in the table. About eight calls in quick succession were seen to be refused, so six in the table's longest window.
  'accounts-list': { requests: 6, perSeconds: 60 },
  token: { requests: 10, perSeconds: 10 },
} as const satisfies EndpointLimits;

/**
 * Presets of the upstream's limits. `interface`: the limits of the interface text alone. `published`: also those of the
 * vendor's table; `published-sandbox`: also the table's, with its figures for the sandbox. If two figures disagree, the
 * gateway keeps both.
 */
export const limitPresets = {
  interface: {},
  published,
  'published-sandbox': {
    ...published,
    'market-data': { requests: 30, perSeconds: 60 },
    instruments: { requests: 30, perSeconds: 60 },
  },
} as const satisfies Record<string, EndpointLimits>;

export type LimitPreset = keyof typeof limitPresets;

/** Choice of the upstream's limits: one of the presets, or a deployer's figures. */
export type UpstreamLimits = LimitPreset | EndpointLimits;

/**
 * Returns the figures of a choice, by kind of endpoint.
 *
 * @example
 * endpointLimitsOf('published')['order-query']; // { requests: 2, perSeconds: 2 }
 */
export const endpointLimitsOf = (choice: UpstreamLimits = 'interface'): EndpointLimits =>
  typeof choice === 'string' ? limitPresets[choice] : choice;

/** Whether a sender that keeps one limit also keeps the other, in any window. */
const keepsLimit = (one: LimitFigures, other: LimitFigures) =>
  one.requests * Math.ceil(other.perSeconds / one.perSeconds) <= other.requests;

/** Figures that keep both limits: one of the two if it keeps the other, else the fewer requests in the longer window. */
export function stricterFigures(one: LimitFigures, other: LimitFigures): LimitFigures {
  if (keepsLimit(one, other)) return one;
  if (keepsLimit(other, one)) return other;
  return {
    requests: Math.min(one.requests, other.requests),
    perSeconds: Math.max(one.perSeconds, other.perSeconds),
  };
}

/**
 * Returns the choice to which the gateway switches when the upstream refused a request although the present choice was kept:
 * the next preset. From a deployer's figures it switches, for each kind, to the stricter of them and `published`, and then
 * to the stricter of those and `published-sandbox`.
 *
 * @returns undefined when no choice is tighter
 *
 * @example
 * tighterLimits('interface'); // 'published'
 * tighterLimits({ token: { requests: 1, perSeconds: 60 } }); // as `published`, but token 1 in 60 s
 */
export function tighterLimits(choice: UpstreamLimits): UpstreamLimits | undefined {
  if (choice === 'interface') return 'published';
  if (choice === 'published') return 'published-sandbox';
  if (choice === 'published-sandbox') return undefined;
  const before = JSON.stringify(sorted(choice));
  for (const preset of [limitPresets.published, limitPresets['published-sandbox']]) {
    const both = sorted(preset, (kind) =>
      choice[kind] ? stricterFigures(choice[kind], preset[kind]) : preset[kind],
    );
    if (JSON.stringify(both) !== before) return both;
  }
  return undefined;
}

/** Returns a choice and all tighter ones, the widest first. */
export function choicesFrom(choice: UpstreamLimits = 'interface'): readonly UpstreamLimits[] {
  const next = tighterLimits(choice);
  return next === undefined ? [choice] : [choice, ...choicesFrom(next)];
}

/** Sorts figures by kind, so that equal figures have equal texts. */
const sorted = (byKind: EndpointLimits, figuresOf = (kind: EndpointKind) => byKind[kind]): EndpointLimits =>
  Object.fromEntries(
    endpointKinds.flatMap((kind) => {
      const figures = figuresOf(kind);
      return figures ? [[kind, { requests: figures.requests, perSeconds: figures.perSeconds }]] : [];
    }),
  );

/** Writes a choice as a short text, equal for equal choices. */
export const limitsText = (choice: UpstreamLimits): string =>
  typeof choice === 'string' ? choice : JSON.stringify(sorted(choice));

/** Members of an operation that decide which counter counts it. */
interface CountedOperation {
  readonly id: string;
  readonly legacyOf?: string | undefined;
  readonly limit?: LimitName | undefined;
  readonly endpointKind?: EndpointKind | undefined;
}

interface EndpointCounter extends LimitFigures {
  readonly name: string;
}

/**
 * Returns an operation's own counter, if its kind has figures. All its paths count together, and its older form counts with
 * them: whether the upstream counts them apart is unknown, and so the limit is kept either way. Instruments have their
 * counter in `limits`.
 */
export function endpointCounterOf(
  { id, legacyOf, limit, endpointKind }: CountedOperation,
  choice: UpstreamLimits | undefined,
): EndpointCounter | undefined {
  const kind = limit ?? endpointKind;
  const figures = kind && kind !== 'instruments' ? endpointLimitsOf(choice)[kind] : undefined;
  return figures && { name: `endpoint.${legacyOf ?? id}`, ...figures };
}

/**
 * Checks a choice.
 *
 * @param value choice from outside, of any type
 * @returns the fault in words, or undefined
 *
 * @example
 * upstreamLimitsFault({ 'order-query': { requests: 2, perSeconds: 2 } }); // undefined
 */
export function upstreamLimitsFault(value: unknown): string | undefined {
  const choice = `not ${Object.keys(limitPresets).join(', ')} or an object of limits`;
  if (typeof value === 'string') return Object.hasOwn(limitPresets, value) ? undefined : choice;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return choice;
  for (const [kind, figures] of Object.entries(value as Record<string, Partial<RequestLimit> | null>)) {
    if (!(endpointKinds as readonly string[]).includes(kind))
      return `${JSON.stringify(kind)} is none of ${endpointKinds.join(', ')}`;
    const fault = figuresFault(figures);
    if (fault) return `${kind} ${fault}`;
  }
  return undefined;
}

export const limitRequests: Range = [1, 1_000_000];
export const limitSeconds: Range = [1, 3600];

/** Checks the figures of an operator's limit: the fault in words, or undefined. */
export const figuresFault = (figures: Partial<LimitFigures> | null): string | undefined =>
  isIn(limitRequests, figures?.requests) && isIn(limitSeconds, figures?.perSeconds)
    ? undefined
    : 'needs requests, from 1 to 1,000,000, and perSeconds, from 1 to 3600, as whole numbers';
