/** A function's settings, from its environment variables, read once. */

import { type AuthSettings, authSettingsFaults } from '../../lib/access/auth-settings.ts';
import { defaultSnapshotOptions } from '../../lib/cache/snapshots/ports.ts';
import { openByDefault } from '../../lib/catalogue/exposure.ts';
import { type Group, isAccountData } from '../../lib/catalogue/groups.ts';
import { type UpstreamLimits, upstreamLimitsFault } from '../../lib/catalogue/limits.ts';
import { type Numbers, type Range, wholeNumbers } from '../../lib/catalogue/numbers.ts';
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
import * as ranges from './ranges.ts';
import type {
  AccessSettings,
  CacheSettings,
  FunctionSettings,
  GuardSettings,
  LimiterSettings,
  QuoteReads,
} from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

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

  const upstreamTimeoutMs = readWhole(env, 'UPSTREAM_TIMEOUT_MS', ranges.upstreamMs, faults);

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
export function readMaxStreams(env: Environment, range: Range, faults: string[]): number {
  requiredOf(env, faults)('LIVE_MAX_STREAMS');
  return readWhole(env, 'LIVE_MAX_STREAMS', range, faults) ?? 0;
}

/** From `AUTH`, which is JSON. Nothing in it is a secret. */
export function readAuthSettings({ AUTH: text }: Environment, faults: string[]): AuthSettings | undefined {
  if (!text) return undefined;
  const auth = readJson(text);
  const own = auth === undefined ? ['not JSON'] : authSettingsFaults(auth);
  if (own.length === 0) return auth as AuthSettings;
  faults.push(...own.map((fault) => `AUTH: ${fault}`));
  return undefined;
}

/** Both or neither: a table without its key cannot be read, and a key alone names users that nothing grants. */
export function readAccess(env: Environment, faults: string[]): AccessSettings | undefined {
  const { ACCESS_TABLE: tableName, IDENTITY_KEY_SECRET_ID: identityKeySecretId } = env;
  const auth = readAuthSettings(env, faults);
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
  if (!ranges.bucketName.test(bucket)) faults.push('LIMITER_BUCKET: not a name of letters, digits, - . : _');
  const share = readNumber(env, 'LIMITER_SHARE', ranges.share, faults);
  const part = readNumber(env, 'LIMITER_RESERVE', ranges.reserve, faults);
  const count = readWhole(env, 'LIMITER_INSTANCES', ranges.instances, faults);
  // The reserve belongs to all instances together: without their number it belongs to none.
  if (part && !env.LIMITER_INSTANCES) faults.push('LIMITER_INSTANCES: not set, but LIMITER_RESERVE is');
  const given = readJson(env.LIMITER_OPERATION_LIMITS);
  const { upstreamLimits, fault: choiceFault } = readUpstreamLimits(env.UPSTREAM_LIMITS);
  if (choiceFault) faults.push(`UPSTREAM_LIMITS: ${choiceFault}`);
  const limitsFault = operationLimitsFault(given, operations, upstreamLimits);
  if (limitsFault) faults.push(`LIMITER_OPERATION_LIMITS: ${limitsFault}`);

  const operationLimits = limitsFault ? {} : (given as OperationLimits);
  const narrow = nothingLeftOf(limiterLimits(operationLimits, share, { operations, upstreamLimits }), part);
  if (narrow !== undefined) faults.push(`LIMITER_SHARE: leaves nothing of the limit ${narrow}`);
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
    share: share ?? 1,
    operationLimits,
    upstreamLimits,
    reserve: part && count ? { part, instances: count } : undefined,
  };
}

/** Without a table every read goes to the upstream. */
function readCache(
  env: Environment,
  operations: readonly Operation[],
  faults: string[],
): CacheSettings | undefined {
  const numbers = Object.entries(cacheNumbers).flatMap(([name, [option, unit, range]]) => {
    const value = readWhole(env, name, range, faults);
    return value === undefined ? [] : [[option, value * unit] as const];
  });
  const networkPrefix = {
    ipv4: readWhole(env, 'CACHE_IPV4_PREFIX', ranges.ipv4Bits, faults) ?? defaultNetworkPrefix.ipv4,
    ipv6: readWhole(env, 'CACHE_IPV6_PREFIX', ranges.ipv6Bits, faults) ?? defaultNetworkPrefix.ipv6,
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

/** The option, its unit in that of the variable, and what the variable may be. */
const cacheNumbers: Readonly<Record<string, readonly [keyof CacheTuning, unit: number, Range]>> = {
  SNAPSHOTS_STALE_AFTER_SECONDS: ['staleAfterMs', 1000, ranges.snapshotSeconds],
  SNAPSHOTS_EXPIRE_AFTER_SECONDS: ['expireAfterMs', 1000, ranges.snapshotSeconds],
  CACHE_MIN_MAX_AGE_SECONDS: ['minMaxAgeMs', 1000, ranges.minMaxAgeSeconds],
  CACHE_INSTANCES: ['instances', 1, ranges.instances],
  CACHE_REFRESHES_PER_MINUTE: ['refreshesPerMinute', 1, ranges.refreshesPerMinute],
};

/** A whole number, or undefined where none is set; what is wrong is added to the faults. */
export const readWhole = (env: Environment, name: string, range: Range, faults: string[]) =>
  readNumber(env, name, wholeNumbers(range), faults);

/** Takes numbers as the stack writes them, with an exponent if they are small: `Number` would take much more. */
function readNumber(env: Environment, name: string, { words, has }: Numbers, faults: string[]) {
  const text = env[name];
  if (!text) return undefined;
  const value = Number(text);
  if (String(value) === text && has(value)) return value;
  faults.push(`${name}: not ${words}`);
  return undefined;
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
