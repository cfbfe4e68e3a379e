/** A function's settings, from its environment variables, read once. */

import { defaultSnapshotOptions } from '../../lib/cache/snapshots/options.ts';
import { openByDefault } from '../../lib/catalogue/exposure.ts';
import { type Group, isAccountData } from '../../lib/catalogue/groups.ts';
import { type UpstreamLimits, upstreamLimitsFault } from '../../lib/catalogue/limits.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { CacheTuning } from '../../lib/gateway/cache-options.ts';
import { areJournaled } from '../../lib/gateway/look-ups.ts';
import {
  limiterLimits,
  limitsOf,
  mayCount,
  nothingLeftOf,
  type OperationLimits,
  operationLimitsFault,
} from '../../lib/gateway/operation-limits.ts';
import { type UpstreamPaths, upstreamPathsFault } from '../../lib/gateway/upstream-paths.ts';
import { defaultNetworkPrefix } from '../../lib/identity/caller.ts';
import { baseUrlFault } from '../../lib/upstream/base-url.ts';
import { originsFaults, readOrigins } from '../events/cors.ts';
import { type Environment, readAuthSettings } from './auth-settings.ts';
import type {
  AccessSettings,
  CacheSettings,
  FunctionSettings,
  GuardSettings,
  LimiterSettings,
  QuoteReads,
} from './settings.ts';

export type { Environment } from './auth-settings.ts';

/** @typeParam Settings what a composition takes */
export type Read<Settings> =
  | { readonly ok: true; readonly settings: Settings }
  /** One sentence for each variable that is wrong; values are not repeated. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** What a function reads and asks for that checks orders before it sends them. */
export interface OrderChecks {
  /** Asked for, too, where the environment says where quotes are shared. */
  readonly quotes: QuoteReads;
  /** @returns undefined without a table; what is wrong is added to the faults */
  readonly readGuard: (env: Environment, faults: string[]) => GuardSettings | undefined;
}

/** One default for all, so that stacks that share a table share the limits. */
export const defaultBucket = 'countersign';

/** API Gateway waits 29 seconds in all. */
const maxUpstreamTimeoutMs = 28_000;

/**
 * @param offered operations of this function, which alone may have other paths at the upstream
 * @param checks of a function that places or replaces orders
 */
export function readFunctionSettings(
  env: Environment,
  offered: readonly Operation[] = [],
  checks?: OrderChecks,
): Read<FunctionSettings> {
  const { LAST_PRICE_TABLE: priceTable } = env;
  const lastPrices = priceTable && checks ? { tableName: priceTable, quotes: checks.quotes } : undefined;
  const operations = lastPrices ? [...offered, ...Object.values(lastPrices.quotes)] : offered;
  const faults: string[] = [];
  const upstreamBaseUrl = env.UPSTREAM_BASE_URL ?? '';
  const urlFault = upstreamBaseUrl ? baseUrlFault(upstreamBaseUrl) : 'not set';
  if (urlFault) faults.push(`UPSTREAM_BASE_URL: ${urlFault}`);

  const upstreamPaths = readJson(env.UPSTREAM_PATHS);
  const pathsFault = upstreamPathsFault(upstreamPaths, operations);
  if (pathsFault) faults.push(`UPSTREAM_PATHS: ${pathsFault}`);

  const secretId = requiredOf(env, faults)('SECRET_ID');

  const timeout = env.UPSTREAM_TIMEOUT_MS;
  const upstreamTimeoutMs = timeout ? Number(timeout) : undefined;
  if (timeout && !(/^[1-9]\d{0,4}$/.test(timeout) && Number(timeout) <= maxUpstreamTimeoutMs))
    faults.push(`UPSTREAM_TIMEOUT_MS: not a whole number from 1 to ${maxUpstreamTimeoutMs}`);

  const corsOrigins = readOrigins(env.CORS_ORIGINS);
  faults.push(...originsFaults(corsOrigins).map((fault) => `CORS_ORIGINS: ${fault}`));

  const limiter = readLimiter(env, operations, faults);
  const cache = readCache(env, offered, faults);
  const access = readAccess(env, faults);
  const journalTable = (areJournaled(offered) && env.ORDER_JOURNAL_TABLE) || undefined;
  // Its entries are named and sealed with the identity key.
  if (journalTable && !access) faults.push('ACCESS_TABLE: not set, but ORDER_JOURNAL_TABLE is');

  const guard = checks?.readGuard(env, faults);
  // Its counters are in the journal.
  if (guard && !journalTable) faults.push('ORDER_JOURNAL_TABLE: not set, but TRADING_CONTROLS_TABLE is');

  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    settings: {
      upstreamBaseUrl,
      upstreamPaths: upstreamPaths as UpstreamPaths,
      secretId,
      corsOrigins,
      upstreamTimeoutMs,
      limiter,
      cache,
      access,
      journalTable,
      lastPrices,
      guard,
    },
  };
}

/** The settings of a function whose operations callers reach: account data is for callers who are known. */
export function readGatewaySettings(
  env: Environment,
  operations: readonly Operation[],
  checks?: OrderChecks,
): Read<FunctionSettings> {
  const read = readFunctionSettings(env, operations, checks);
  if (!read.ok || read.settings.access || !operations.some(({ group }) => isAccountData(group))) return read;
  return { ok: false, faults: ['ACCESS_TABLE: not set'] };
}

/** Reads a variable that must be set; what is missing is added to the faults. */
export const requiredOf = (env: Environment, faults: string[]) => (name: string) => {
  const value = env[name] ?? '';
  if (!value) faults.push(`${name}: not set`);
  return value;
};

/** How many streams a function's instances hold at most. */
export const readMaxStreams = (env: Environment, faults: string[]): number =>
  readCount(env, 'LIVE_MAX_STREAMS', faults);

/** In how many processes, where several share one. */
export const readStreamProcesses = (env: Environment, faults: string[]): number | undefined =>
  env.LIVE_PROCESSES === undefined ? undefined : readCount(env, 'LIVE_PROCESSES', faults);

function readCount(env: Environment, name: string, faults: string[]): number {
  const count = Number(env[name]);
  if (!(Number.isSafeInteger(count) && count > 0)) faults.push(`${name}: not a whole number`);
  return count;
}

/** Both or neither: a table without its key cannot be read, and a key alone names users that nothing grants. */
export function readAccess(env: Environment, faults: string[]): AccessSettings | undefined {
  const { ACCESS_TABLE: tableName, IDENTITY_KEY_SECRET_ID: identityKeySecretId } = env;
  const read = readAuthSettings(env);
  if (!read.ok) faults.push(...read.faults);
  const auth = read.ok ? read.auth : undefined;
  const userGroups = (env.USER_GROUPS ?? '').split(',').filter(Boolean) as Group[];
  if (userGroups.some((group) => !openByDefault.includes(group)))
    faults.push(`USER_GROUPS: takes ${openByDefault.join(', ')}`);
  if (tableName && identityKeySecretId) return { tableName, identityKeySecretId, userGroups, auth };
  if (userGroups.length > 0 && !tableName) faults.push('ACCESS_TABLE: not set, but USER_GROUPS is');
  if (tableName) faults.push('IDENTITY_KEY_SECRET_ID: not set, but ACCESS_TABLE is');
  if (identityKeySecretId) faults.push('ACCESS_TABLE: not set, but IDENTITY_KEY_SECRET_ID is');
  return undefined;
}

/** What others may use stays reserved here, too, and is not used: so many instances have less than one request each. */
export const unusedReserve = (reserve: LimiterSettings['reserve']): LimiterSettings['reserve'] =>
  reserve && { ...reserve, instances: Number.MAX_SAFE_INTEGER };

function readLimiter(
  env: Environment,
  operations: readonly Operation[],
  faults: string[],
): LimiterSettings | undefined {
  const bucket = env.LIMITER_BUCKET || defaultBucket;
  if (!/^[\w.:-]{1,64}$/.test(bucket)) faults.push('LIMITER_BUCKET: not a name of letters, digits, - . : _');
  const share = readNumber(env.LIMITER_SHARE, 'a number above 0, at most 1', isShare);
  const reserve = readNumber(env.LIMITER_RESERVE, 'a number from 0 to below 1', (part) => part < 1);
  const instances = readNumber(env.LIMITER_INSTANCES, 'a whole number from 1 to 10000', isCount);
  for (const [name, { fault }] of Object.entries({
    LIMITER_SHARE: share,
    LIMITER_RESERVE: reserve,
    LIMITER_INSTANCES: instances,
  }))
    if (fault) faults.push(`${name}: ${fault}`);
  // The reserve belongs to all instances together: without their number it belongs to none.
  if (reserve.value && !env.LIMITER_INSTANCES)
    faults.push('LIMITER_INSTANCES: not set, but LIMITER_RESERVE is');
  const given = readJson(env.LIMITER_OPERATION_LIMITS);
  const { upstreamLimits, fault: choiceFault } = readUpstreamLimits(env.UPSTREAM_LIMITS);
  if (choiceFault) faults.push(`UPSTREAM_LIMITS: ${choiceFault}`);
  const limitsFault = operationLimitsFault(given, operations, upstreamLimits);
  if (limitsFault) faults.push(`LIMITER_OPERATION_LIMITS: ${limitsFault}`);

  const operationLimits = limitsFault ? {} : (given as OperationLimits);
  if (!share.fault && !reserve.fault) {
    const narrow = nothingLeftOf(
      limiterLimits(operationLimits, share.value, { operations, upstreamLimits }),
      reserve.value,
    );
    if (narrow !== undefined) faults.push(`LIMITER_SHARE: leaves nothing of the limit ${narrow}`);
  }
  const tableName = env.LIMITER_TABLE ?? '';
  const rules = { operationLimits, upstreamLimits };
  const counts = operations.some((operation) => limitsOf(operation, rules));
  // What counts under tighter limits only can do without a table.
  if (!counts && !(tableName && mayCount(operations, rules))) return undefined;
  // Without one nothing would hold the limit, and no error would show it.
  if (!tableName) faults.push('LIMITER_TABLE: not set');
  return {
    tableName,
    bucket,
    share: share.value ?? 1,
    operationLimits,
    upstreamLimits,
    reserve:
      reserve.value && instances.value ? { part: reserve.value, instances: instances.value } : undefined,
  };
}

/** Without a table every read goes to the upstream. */
function readCache(
  env: Environment,
  operations: readonly Operation[],
  faults: string[],
): CacheSettings | undefined {
  const whole = (name: string, min: number, max: number) => {
    const isGood = (value: number) => Number.isInteger(value) && value >= min && value <= max;
    const { value, fault } = readNumber(env[name], `a whole number from ${min} to ${max}`, isGood);
    if (fault) faults.push(`${name}: ${fault}`);
    return value;
  };
  const numbers = Object.entries(cacheNumbers).flatMap(([name, { figure, unit, min, max }]) => {
    const value = whole(name, min, max);
    return value === undefined ? [] : [[figure, value * unit] as const];
  });
  const networkPrefix = {
    ipv4: whole('CACHE_IPV4_PREFIX', 0, 32) ?? defaultNetworkPrefix.ipv4,
    ipv6: whole('CACHE_IPV6_PREFIX', 0, 128) ?? defaultNetworkPrefix.ipv6,
  };
  const tuning: CacheTuning = Object.fromEntries(numbers);
  const { staleAfterMs, expireAfterMs } = { ...defaultSnapshotOptions, ...tuning };
  if (staleAfterMs > expireAfterMs)
    faults.push('SNAPSHOTS_STALE_AFTER_SECONDS: more than SNAPSHOTS_EXPIRE_AFTER_SECONDS');
  const { MARKET_STREAM: stream = '' } = env;
  if (!['', 'on'].includes(stream)) faults.push('MARKET_STREAM: neither empty nor on');
  const tableName = env.CACHE_TABLE;
  if (!tableName || !operations.some(({ freshness, sideEffect }) => freshness || sideEffect))
    return undefined;
  return { tableName, tuning, networkPrefix, hasMarketStream: stream === 'on' };
}

const cacheNumbers: Readonly<
  Record<
    string,
    {
      readonly figure: keyof CacheTuning;
      readonly unit: number;
      readonly min: number;
      readonly max: number;
    }
  >
> = {
  // What is older is no longer in the store.
  SNAPSHOTS_STALE_AFTER_SECONDS: { figure: 'staleAfterMs', unit: 1000, min: 1, max: 300 },
  SNAPSHOTS_EXPIRE_AFTER_SECONDS: { figure: 'expireAfterMs', unit: 1000, min: 1, max: 300 },
  CACHE_MIN_MAX_AGE_SECONDS: { figure: 'minMaxAgeMs', unit: 1000, min: 0, max: 300 },
  CACHE_INSTANCES: { figure: 'instances', unit: 1, min: 1, max: 100_000 },
  CACHE_REFRESHES_PER_MINUTE: { figure: 'refreshesPerMinute', unit: 1, min: 0, max: 10_000 },
};

const isShare = (part: number) => part > 0 && part <= 1;
const isCount = (count: number) => Number.isInteger(count) && count >= 1 && count <= 10_000;

/** Written plainly: `Number` would take much more. */
function readNumber(
  text: string | undefined,
  what: string,
  isGood: (value: number) => boolean,
): { readonly value?: number; readonly fault?: string } {
  if (!text) return {};
  const value = Number(text);
  return /^\d{1,6}(\.\d{1,20})?$/.test(text) && isGood(value) ? { value } : { fault: `not ${what}` };
}

/** A preset's name, or figures as JSON. Default the interface's own figures. */
function readUpstreamLimits(text = 'interface'): {
  readonly upstreamLimits: UpstreamLimits;
  readonly fault?: string;
} {
  const given = text.startsWith('{') ? readJson(text) : text;
  const fault = upstreamLimitsFault(given);
  return fault ? { upstreamLimits: 'interface', fault } : { upstreamLimits: given as UpstreamLimits };
}

export function readJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return undefined;
  }
}
