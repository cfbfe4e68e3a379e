/** The settings of functions that ask the upstream, and what they cannot do without. */

import { type AuthSettings, authSettingsFaults } from '../../lib/access/auth-settings.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import type { UpstreamLimits } from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { limitsOf, mayCount } from '../../lib/gateway/limits/operation-limits.ts';
import { areJournaled } from '../../lib/gateway/look-ups.ts';
import type { PricedKind } from '../../lib/gateway/orders/last-prices.ts';
import type { UpstreamPaths } from '../../lib/gateway/upstream-paths.ts';
import type { CorsOrigins } from '../events/cors.ts';
import {
  type CacheSettings,
  type Environment,
  type GuardSettings,
  type LimiterTableSettings,
  type PartReader,
  type Read,
  readParts,
  type UserSettings,
} from './parts.ts';

/** Settings of a function that asks the upstream; `undefined` members say that it does without. */
export interface FunctionSettings {
  readonly upstreamBaseUrl: string;
  readonly upstreamPaths: UpstreamPaths;
  readonly secretId: string;
  readonly upstreamTimeoutMs: number | undefined;
  readonly corsOrigins: CorsOrigins;
  /** There when an operation of the function counts against a limit. */
  readonly limiter: LimiterSettings | undefined;
  /** There when there is a table for what all callers share. */
  readonly cache: CacheSettings | undefined;
  /** There when the function asks who calls. */
  readonly access: AccessSettings | undefined;
  /** The table of the journal. There when there is one, and the function's requests have entries there. */
  readonly journalTable: string | undefined;
  /** There when the function checks orders against last prices, and quotes are shared. */
  readonly lastPrices: LastPriceSettings | undefined;
  /** There when the function places or replaces orders. */
  readonly guard: GuardSettings | undefined;
}

export interface LimiterSettings extends LimiterTableSettings {
  readonly upstreamLimits: UpstreamLimits;
}

export interface AccessSettings extends UserSettings {
  /** Says which issuer's access tokens are accepted. There when the function takes any. */
  readonly auth: AuthSettings | undefined;
}

export interface LastPriceSettings {
  /** The cache's table. */
  readonly tableName: string;
  /** Reads that the function of market data shares by symbol; a price that is not shared is asked for with them. */
  readonly quotes: QuoteReads;
}

/** The operation that gives quotes of each kind. */
type QuoteReads = Readonly<Record<PricedKind, Operation>>;

/** Checks orders before a function sends them. */
export interface OrderChecks {
  /** Asked for, too, where quotes are shared. */
  readonly quotes: QuoteReads;
}

/** The settings of a function whose operations callers reach: account data is for callers who are known. */
export const readFunctionSettings = (
  env: Environment,
  offered: readonly Operation[],
  checks?: OrderChecks,
): Read<FunctionSettings> =>
  readParts(env, (parts) => {
    const prices = checks && parts.read('LAST_PRICES');
    const lastPrices = prices && checks && { ...prices, ...checks };
    const journal = areJournaled(offered) ? parts.read('JOURNAL') : undefined;
    const access = readAccess(parts);
    // The journal's entries are named and sealed with the identity key.
    if (journal || offered.some(({ group }) => isAccountData(group))) parts.required('ACCESS');
    const guard = checks && (journal ? parts.required('TRADING') : parts.read('TRADING'));
    // Its counters are in the journal.
    if (guard && !journal) parts.required('JOURNAL');
    return {
      ...askingSettings(parts, lastPrices ? [...offered, ...Object.values(lastPrices.quotes)] : offered),
      access,
      journalTable: journal?.tableName,
      lastPrices,
      guard,
    };
  });

/** The settings of a worker that holds the app key itself: no caller comes to it whom a directory could know. */
export function holderSettings(parts: PartReader, operations: readonly Operation[]): FunctionSettings {
  const { limiter, ...settings } = askingSettings(parts, operations);
  // A request that waits for a limit may wait for the table, too.
  const reserve = unusedReserve(limiter?.reserve);
  return { ...settings, limiter: limiter && { ...limiter, reserve } };
}

/** Keeps the reserve of the others and uses none of it: so many instances have less than one request each. */
export const unusedReserve = (reserve: LimiterSettings['reserve']): LimiterSettings['reserve'] =>
  reserve && { ...reserve, instances: Number.MAX_SAFE_INTEGER };

function readAccess(parts: PartReader): AccessSettings | undefined {
  const users = parts.read('ACCESS');
  const auth = readAuth(parts);
  return users && { ...users, auth };
}

/** Checked once more, because it decides whose tokens count. */
export function readAuth(parts: PartReader): AuthSettings | undefined {
  const auth = parts.read('AUTH');
  if (auth !== undefined) for (const fault of authSettingsFaults(auth)) parts.faults.add(`AUTH: ${fault}`);
  return auth;
}

function askingSettings(parts: PartReader, operations: readonly Operation[]): FunctionSettings {
  const { baseUrl, limits, paths, timeoutMs, secretId } = parts.required('UPSTREAM');
  return {
    upstreamBaseUrl: baseUrl,
    upstreamPaths: paths,
    secretId,
    upstreamTimeoutMs: timeoutMs,
    corsOrigins: parts.read('CORS') ?? [],
    limiter: readLimiter(parts, operations, limits),
    cache: parts.read('CACHE'),
    access: undefined,
    journalTable: undefined,
    lastPrices: undefined,
    guard: undefined,
  };
}

/** @returns undefined where nothing that the function asks for is counted, even if limits are tightened */
function readLimiter(
  parts: PartReader,
  operations: readonly Operation[],
  upstreamLimits: UpstreamLimits,
): LimiterSettings | undefined {
  const table = parts.read('LIMITER');
  const rules = { operationLimits: table?.operationLimits ?? {}, upstreamLimits };
  if (table) return mayCount(operations, rules) ? { ...table, upstreamLimits } : undefined;
  // Without one nothing would hold the limit, and no error would show it.
  if (operations.some((operation) => limitsOf(operation, rules))) parts.required('LIMITER');
  return undefined;
}
