/** The upstream's request limits. Plans, limiter and simulator read them here. */

import { isIn, type Range } from './numbers.ts';

export interface RequestLimit {
  readonly title: string;
  /** How many requests may arrive in any window of `perSeconds`. */
  readonly requests: number;
  readonly perSeconds: number;
}

export const limits = {
  /** Interface, section "Limits": 300 requests per minute for the Market Data API. They hold under every preset. */
  'market-data': { title: 'Market Data API', requests: 300, perSeconds: 60 },
  /**
   * The interface text names none for these. The vendor's table gives each of its market-data endpoints 60 in 60 s; the
   * same for all instrument operations together is the careful reading.
   */
  instruments: { title: 'Instruments', requests: 60, perSeconds: 60 },
} as const satisfies Record<string, RequestLimit>;

export type LimitName = keyof typeof limits;

/** The kinds of endpoints of which the vendor's table has figures. */
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
 * What the upstream allows each endpoint of a kind, by kind; of instruments, all endpoints together. A kind that is left
 * out has no counter by endpoint.
 */
export type EndpointLimits = Readonly<
  Partial<Record<EndpointKind, Pick<RequestLimit, 'requests' | 'perSeconds'>>>
>;

const published = {
  'market-data': { requests: 60, perSeconds: 60 },
  instruments: { requests: 60, perSeconds: 60 },
  'order-change': { requests: 600, perSeconds: 60 },
  'order-query': { requests: 2, perSeconds: 2 },
  // Not in the table. About eight calls in quick succession were seen to be refused: fewer, in the table's longest window.
  'accounts-list': { requests: 6, perSeconds: 60 },
  token: { requests: 10, perSeconds: 10 },
} as const satisfies EndpointLimits;

/**
 * Readings of what the upstream allows. `interface`: the interface text alone. `published`: the vendor's table besides,
 * `published-sandbox` with its figures for the sandbox. Where two figures disagree, both are kept.
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

/** What the upstream allows: one of the presets, or figures of one's own. */
export type UpstreamLimits = LimitPreset | EndpointLimits;

/**
 * The figures by endpoint of a choice.
 *
 * @example
 * endpointLimitsOf('published')['order-query']; // { requests: 2, perSeconds: 2 }
 */
export const endpointLimitsOf = (given: UpstreamLimits = 'interface'): EndpointLimits =>
  typeof given === 'string' ? limitPresets[given] : given;

type Figures = Pick<RequestLimit, 'requests' | 'perSeconds'>;

/** Whether what one allows never exceeds the other, in any window. */
const keeps = (one: Figures, other: Figures) =>
  one.requests * Math.ceil(other.perSeconds / one.perSeconds) <= other.requests;

/** Figures that keep both: one of the two where it keeps the other, or else the fewer requests in the longer window. */
export function stricterFigures(one: Figures, other: Figures): Figures {
  if (keeps(one, other)) return one;
  if (keeps(other, one)) return other;
  return {
    requests: Math.min(one.requests, other.requests),
    perSeconds: Math.max(one.perSeconds, other.perSeconds),
  };
}

/**
 * The choice that the gateway goes over to when the upstream refused a request although a choice was kept: the next
 * preset, or of a deployer's figures the stricter of them and `published`, by kind, and after that of `published-sandbox`.
 *
 * @returns undefined when there is nothing tighter
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

/** In the order of the kinds, so that equal figures have equal texts. */
const sorted = (given: EndpointLimits, figuresOf = (kind: EndpointKind) => given[kind]): EndpointLimits =>
  Object.fromEntries(
    endpointKinds.flatMap((kind) => {
      const figures = figuresOf(kind);
      return figures ? [[kind, { requests: figures.requests, perSeconds: figures.perSeconds }]] : [];
    }),
  );

/** A choice as a short text, equal for equal choices. */
export const limitsText = (choice: UpstreamLimits): string =>
  typeof choice === 'string' ? choice : JSON.stringify(sorted(choice));

/** What decides by which counter an operation is counted. */
interface Counted {
  readonly id: string;
  readonly legacyOf?: string | undefined;
  readonly limit?: LimitName | undefined;
  readonly endpointKind?: EndpointKind | undefined;
}

export interface EndpointCounter extends Pick<RequestLimit, 'requests' | 'perSeconds'> {
  readonly name: string;
}

/**
 * An operation's own counter, if its kind has one. All its paths count together, and its older form with it: whether the
 * upstream counts them apart is not known, and this holds either way. Instruments have theirs in `limits`.
 */
export function endpointCounterOf(
  { id, legacyOf, limit, endpointKind }: Counted,
  endpoints: EndpointLimits,
): EndpointCounter | undefined {
  const kind = limit ?? endpointKind;
  const figures = kind && kind !== 'instruments' ? endpoints[kind] : undefined;
  return figures && { name: `endpoint.${legacyOf ?? id}`, ...figures };
}

/**
 * What is wrong with a choice.
 *
 * @param given from outside
 * @returns the fault in words, or undefined
 *
 * @example
 * upstreamLimitsFault({ 'order-query': { requests: 2, perSeconds: 2 } }); // undefined
 */
export function upstreamLimitsFault(given: unknown): string | undefined {
  const choice = `not ${Object.keys(limitPresets).join(', ')} or an object of limits`;
  if (typeof given === 'string') return Object.hasOwn(limitPresets, given) ? undefined : choice;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return choice;
  for (const [kind, figures] of Object.entries(given as Record<string, Partial<RequestLimit> | null>)) {
    if (!(endpointKinds as readonly string[]).includes(kind))
      return `${JSON.stringify(kind)} is none of ${endpointKinds.join(', ')}`;
    const fault = figuresFault(figures);
    if (fault) return `${kind} ${fault}`;
  }
  return undefined;
}

export const limitRequests: Range = [1, 1_000_000];
export const limitSeconds: Range = [1, 3600];

/** Names the fault of a limit that an operator gave, in words. */
export const figuresFault = (figures: Partial<Figures> | null): string | undefined =>
  isIn(limitRequests, figures?.requests) && isIn(limitSeconds, figures?.perSeconds)
    ? undefined
    : 'needs requests, from 1 to 1,000,000, and perSeconds, from 1 to 3600, as whole numbers';
