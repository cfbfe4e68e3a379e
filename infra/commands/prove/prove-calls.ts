/**
 * Calls that `countersign prove` sends to a deployment as a client does: ten reads of each group, more reads than the
 * stage's part of a limit, and a stream. Results are codes and times alone; nothing of an account or a body is kept.
 */

import {
  type Group,
  getAccountBalance,
  getCompanyProfile,
  getStockInstrument,
  getStockSnapshots,
  listOpenOrders,
  listStockTicks,
  listTopActive,
  listWatchlists,
} from '../../../lib/catalogue/index.ts';
import {
  endpointCounterOf,
  endpointLimitsOf,
  limits,
  type UpstreamLimits,
} from '../../../lib/catalogue/limits.ts';
import type { Operation } from '../../../lib/catalogue/operation.ts';
import {
  type Connection,
  follow,
  isClientError,
  RefusedError,
  streamStockSnapshots,
} from '../../../lib/client/index.ts';
import type { AccessMode } from '../../access-modes.ts';
import { askOf } from '../call.ts';

/** Read of each group that every account and app key may send. */
export const probes: Readonly<Partial<Record<Group, Operation>>> = {
  accounts: getAccountBalance,
  orders: listOpenOrders,
  instruments: getStockInstrument,
  'market-data': getStockSnapshots,
  screeners: listTopActive,
  watchlists: listWatchlists,
  fundamentals: getCompanyProfile,
};

export const callsOfEach = 10;

export interface Pace {
  /** Returns the time in milliseconds. */
  clock(): number;
  pause(ms: number): Promise<void>;
}

/** Number of calls by their code; `answered` is status 200. */
export type Outcomes = Readonly<Record<string, number>>;

export interface GroupCalls {
  readonly group: Group;
  readonly operation: string;
  readonly access: AccessMode;
  readonly outcomes: Outcomes;
  /** Times that the gateway asked to come later, and the call did. */
  readonly waits: number;
  /** Duration of a call, seen from this machine over the network. */
  readonly ms?: { readonly median: number; readonly most: number };
  /** Largest age among the answers that have the header. */
  readonly oldestSeconds?: number;
  /** First and last moment, in milliseconds since the epoch. */
  readonly period: readonly [from: number, to: number];
}

/** Names a failure by the gateway's documented code, or by its kind. */
export const codeOf = (error: unknown): string => {
  if (!isClientError(error)) throw error;
  return error instanceof RefusedError ? error.code : error.kind;
};

/** Time for which all calls of one group together wait for the limiter. */
const patienceMs = 90_000;

/** @param account replaces the account of the operation's example */
export async function callGroup(
  { group, access }: Pick<GroupCalls, 'group' | 'access'>,
  operation: Operation,
  connection: Connection,
  { clock, pause }: Pace,
  account: string | undefined,
): Promise<GroupCalls> {
  const { query = {} } = operation.example;
  const fullQuery = 'account_id' in operation.query ? { ...query, account_id: account ?? '' } : query;
  const ask = askOf(operation, connection);
  const outcomes: Record<string, number> = {};
  const count = (code: string) => {
    outcomes[code] = (outcomes[code] ?? 0) + 1;
  };
  const times: number[] = [];
  const ages: number[] = [];
  const began = clock();
  let waits = 0;
  for (let call = 0, left = patienceMs; call < callsOfEach; call++)
    for (;;) {
      const from = clock();
      try {
        const { headers } = await ask(fullQuery);
        times.push(clock() - from);
        if (headers.has('age')) ages.push(Number(headers.get('age')));
        count('answered');
        break;
      } catch (error) {
        const later = error instanceof RefusedError ? 1000 * (error.retryAfterSeconds ?? 0) : 0;
        if (later === 0 || later > left) {
          count(codeOf(error));
          break;
        }
        left -= later;
        waits++;
        await pause(later);
      }
    }
  return {
    group,
    access,
    operation: operation.id,
    outcomes,
    waits,
    ...(times.length > 0 && {
      ms: { median: Math.round(median(times)), most: Math.round(Math.max(...times)) },
    }),
    ...(ages.length > 0 && { oldestSeconds: Math.max(...ages) }),
    period: [began, clock()],
  };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;

export interface LimitTrial {
  /** Requests that the upstream allows, and the share of them that the stage takes. */
  readonly allowed: number;
  readonly share: number;
  readonly sent: number;
  readonly outcomes: Outcomes;
  /** True if the gateway refused what exceeded its share and the upstream refused nothing; undefined if no limit was reached. */
  readonly holds: boolean | undefined;
}

const refusalsEnough = 5;
const atOnce = 5;

/**
 * Sends more than the stage's share of a limit, but never more than the upstream allows: even a gateway without a limiter
 * could not exceed it.
 *
 * @param already market-data requests that earlier steps of this run have sent
 * @param share of the upstream's limits, below 1
 */
export async function tryLimit(
  connection: Connection,
  {
    upstreamLimits,
    share,
    already,
  }: {
    readonly upstreamLimits: UpstreamLimits;
    readonly share: number;
    readonly already: number;
  },
  { clock }: Pick<Pace, 'clock'>,
): Promise<LimitTrial> {
  const endpoint = endpointCounterOf(listStockTicks, endpointLimitsOf(upstreamLimits));
  const whole = limits['market-data'];
  const allowed = Math.max(0, Math.min(endpoint?.requests ?? whole.requests, whole.requests - already));
  const window = 1000 * (endpoint ?? whole).perSeconds;
  const from = clock();
  const ask = askOf(listStockTicks, connection);
  const outcomes: Record<string, number> = {};
  const of = (code: string) => outcomes[code] ?? 0;
  let sent = 0;
  while (sent < allowed && of('budget_used_up') < refusalsEnough) {
    const lot = Array.from({ length: Math.min(atOnce, allowed - sent) }, (_, index) => sent + index + 1);
    sent += lot.length;
    const codes = await Promise.all(
      // Each asks for another count of ticks, so that no shared answer serves it.
      lot.map((count) => ask({ symbol: 'AAPL', category: 'US_STOCK', count }).then(() => 'answered', codeOf)),
    );
    for (const code of codes) outcomes[code] = of(code) + 1;
  }
  const isExceeded = of('answered') > Math.ceil(share * allowed) && clock() - from < window;
  const holds =
    of('upstream_rate_limited') > 0 || isExceeded ? false : of('budget_used_up') > 0 ? true : undefined;
  return { allowed, share, sent, outcomes, holds };
}

export interface StreamTrial {
  readonly seconds: number;
  /** Time until the first quotes came. */
  readonly firstMs: number | undefined;
  readonly updates: number;
  readonly oldestMs: number | undefined;
}

/** Follows a stream of quotes for a number of seconds. */
export async function tryStream(
  connection: Connection,
  seconds: number,
  { clock }: Pick<Pace, 'clock'>,
): Promise<StreamTrial> {
  const from = clock();
  const symbols = ['AAPL', 'MSFT'] as const;
  const ages: number[] = [];
  let firstMs: number | undefined;
  let updates = 0;
  const signal = AbortSignal.timeout(1000 * seconds);
  const query = { symbols, category: 'US_STOCK' } as const;
  for await (const { changed, ageMs } of follow(streamStockSnapshots, connection, query, { signal })) {
    if (changed.size === 0) continue;
    firstMs ??= Math.round(clock() - from);
    updates++;
    ages.push(...symbols.flatMap((symbol) => ageMs(symbol) ?? []));
  }
  return { seconds, firstMs, updates, oldestMs: ages.length > 0 ? Math.round(Math.max(...ages)) : undefined };
}
