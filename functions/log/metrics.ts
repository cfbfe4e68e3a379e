/**
 * Every metric that functions write. Its figures are in lines of the log, in the embedded metric format, from which
 * CloudWatch makes metrics by itself. Alarms and operators' queries use the same names.
 */

import type { RefusalCode } from '../../lib/problem.ts';
import type { Log, LogEntry } from './log.ts';

/** Metrics under their dimension: one function, or a thing that functions share, so that one alarm sees all of them. */
const table = {
  Function: {
    BudgetLeft: 'Count',
    BudgetWaited: 'Milliseconds',
    BudgetRefused: 'Count',
    LookupsAnswered: 'Count',
    LookupsFailed: 'Count',
    LookupsWaiting: 'Count',
    LookupsPoisoned: 'Count',
    LookupCalls: 'Count',
    LookupAge: 'Milliseconds',
    MarketStreamAway: 'Count',
    MarketStreamSessions: 'Count',
    MarketStreamSymbols: 'Count',
    MarketStreamSilenceSeconds: 'Seconds',
    MarketStreamMute: 'Count',
    MarketStreamRefused: 'Count',
    MarketStreamInvalid: 'Count',
    MassCancelsOpen: 'Count',
    MassCancelSeconds: 'Seconds',
    OrdersUnknown: 'Count',
    OrdersUnknownSeconds: 'Seconds',
    OrdersSettled: 'Count',
    OrderSettlementReads: 'Count',
    OrdersClosed: 'Count',
    TokenDaysLeft: 'Count',
    TradeEventsConnected: 'Count',
    TradeEventsSilenceSeconds: 'Seconds',
    TradeEventsReconnects: 'Count',
    TradeEventsRefused: 'Count',
    TradeEventsReconciled: 'Count',
    TradeEventsMute: 'Count',
    TradeEventsPublished: 'Count',
    TradeEventsDelay: 'Milliseconds',
    TradeEventsUnpublished: 'Count',
  },
  /** Metrics under the secret's name, which all functions of a deployment share. */
  Secret: {
    CacheReads: 'Count',
    CacheHits: 'Count',
    QuotesStale: 'Count',
    QuoteAge: 'Seconds',
    AccessTokenRefused: 'Count',
    UpstreamRefused: 'Count',
    UpstreamFailed: 'Count',
    StoreThrottled: 'Count',
  },
  LimiterTable: { UpstreamRateLimited: 'Count', LimitsTightened: 'Count' },
  OrderJournalTable: { OrderJournalFailed: 'Count' },
  TradingControlsTable: { TradingControlsNotRead: 'Count', MassCancelNotRequested: 'Count' },
} as const;

type Dimension = keyof typeof table;
export type MetricOf<Of extends Dimension> = keyof (typeof table)[Of] & string;
export type OwnMetric = { [Of in Dimension]: MetricOf<Of> }[Dimension];

/** @returns undefined for one of AWS's own metrics */
export const dimensionOf = (metric: string): string | undefined =>
  Object.entries(table).find(([, metrics]) => metric in metrics)?.[0];

/** Most values that the format allows for one metric. */
export const maxValues = 100;

/** A metric that is undefined is left out; of a list the last `maxValues` count. */
export type Figures<Of extends Dimension> = Readonly<
  Partial<Record<MetricOf<Of>, number | readonly number[] | undefined>>
>;

/**
 * @param name name of the function, the secret or the table
 * @param at time of the figures, in milliseconds since the epoch
 * @returns members for a log line, which may have others besides
 */
export function figuresOf<Of extends Dimension>(
  of: Of,
  name: string,
  at: number,
  figures: Figures<Of>,
): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, number | readonly number[] | undefined>> = figures;
  const present = Object.entries(table[of]).filter(([metric]) => values[metric] !== undefined);
  return {
    _aws: {
      Timestamp: at,
      CloudWatchMetrics: [
        {
          Namespace: 'Countersign',
          Dimensions: [[of]],
          Metrics: present.map(([Name, Unit]) => ({ Name, Unit })),
        },
      ],
    },
    [of]: name,
    ...Object.fromEntries(
      present.map(([metric]) => {
        const value = values[metric];
        return [metric, Array.isArray(value) ? value.slice(-maxValues) : value];
      }),
    ),
  };
}

export interface MetricsOptions {
  readonly functionName: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

export type EntryWithFigures = LogEntry & { readonly values?: Figures<'Function'> };

/** Writes lines of one function's log, with figures where a line has some. */
export const metricsLog =
  (log: Log, { functionName, clock = Date.now }: MetricsOptions) =>
  ({ values, ...entry }: EntryWithFigures): void =>
    log({ ...entry, ...(values && figuresOf('Function', functionName, clock(), values)) });

/** Codes of refusals, by the metric that counts them. */
const counted = {
  AccessTokenRefused: ['upstream_token_expired'],
  UpstreamRefused: ['upstream_auth_failed'],
  UpstreamFailed: [
    'upstream_unreachable',
    'upstream_timeout',
    'upstream_error',
    'upstream_broken_answer',
    'outcome_unknown',
  ],
} as const satisfies Readonly<Partial<Record<MetricOf<'Secret'>, readonly RefusalCode[]>>>;

/** @returns further members of a line; none unless a metric counts its code */
export function upstreamCount(
  { code }: { readonly code?: RefusalCode },
  secretId: string,
  at: number,
): Readonly<Record<string, unknown>> {
  const [name] = Object.entries(counted).find(([, codes]) => codes.some((one) => one === code)) ?? [];
  return name === undefined ? {} : figuresOf('Secret', secretId, at, { [name]: 1 });
}
