/** The local run's settings, read from the environment once and refused in one line. */

import { randomBytes } from 'node:crypto';
import {
  type Group,
  openable,
  openByDefault,
  operations,
  type PlanTier,
  planTiers,
  type RequestLimit,
  type UpstreamLimits,
} from '../../lib/catalogue/index.ts';
import { baseUrlFault, type UpstreamPaths, upstreamPathsFault } from '../../lib/gateway/index.ts';
import {
  type AppCredentials,
  type Environment,
  inventAppCredentials,
  readAppCredentials,
  readPort,
  readUpstreamLimits,
  StartError,
} from '../environment.ts';

export interface LocalSettings {
  readonly port: number;
  readonly apiKey: string;
  /** Further keys, each a caller with a bucket of its own in the same plan. */
  readonly otherApiKeys?: readonly string[];
  readonly openGroups: readonly Group[];
  readonly credentials: AppCredentials;
  /** What the upstream asks for where two-factor checking is on. */
  readonly accessToken?: string;
  /** The simulator's port, or the base URL of another upstream. */
  readonly upstream: { readonly simulatorPort: number } | { readonly baseUrl: string };
  /** The usage plan of the key; by default the one that keeps within the upstream's limit. */
  readonly plan?: PlanTier;
  /** In place of the interface's limit, at the plan, the limiter and the simulator alike; for load tests. */
  readonly marketDataLimit?: Pick<RequestLimit, 'requests' | 'perSeconds'>;
  /** What the upstream allows, for the limiter and the simulator alike. Default `interface`. */
  readonly upstreamLimits?: UpstreamLimits;
  /** `off`: every read goes to the upstream. */
  readonly cache?: 'off';
  /** Where operations are sent instead of the paths that they are called by. */
  readonly upstreamPaths?: UpstreamPaths;
}

/** @throws StartError naming the variable */
export function readSettings(env: Environment): LocalSettings {
  const credentials = readAppCredentials(env);
  const baseUrl = env.UPSTREAM_BASE_URL;
  if (baseUrl) {
    const fault = baseUrlFault(baseUrl);
    if (fault) throw new StartError(`UPSTREAM_BASE_URL: ${fault}.`);
    if (!credentials) throw new StartError('UPSTREAM_BASE_URL is set: it needs APP_KEY and APP_SECRET too.');
  }
  const upstreamPaths = readUpstreamPaths(env.UPSTREAM_PATHS);
  const apiKey = readApiKey(env.API_KEY);
  const otherApiKeys = readOtherApiKeys(env.OTHER_API_KEYS, apiKey);
  const plan = readPlan(env.PLAN);
  const upstreamLimits = readUpstreamLimits(env);
  const marketDataLimit = readMarketDataLimit(env.MARKET_DATA_LIMIT, baseUrl !== undefined && baseUrl !== '');
  return {
    port: readPort(env, 'PORT', 8787),
    apiKey,
    ...(otherApiKeys && { otherApiKeys }),
    // The simulator's accounts are invented: in front of it everything may be open.
    openGroups: readOpenGroups(env.OPEN_GROUPS, baseUrl ? openByDefault : openable),
    credentials: credentials ?? inventAppCredentials(),
    ...readAccessToken(env.ACCESS_TOKEN, credentials !== undefined),
    upstream: baseUrl ? { baseUrl } : { simulatorPort: readPort(env, 'UPSTREAM_PORT', 8788) },
    ...(upstreamPaths && { upstreamPaths }),
    ...(plan && { plan }),
    ...(marketDataLimit && { marketDataLimit }),
    ...(upstreamLimits && { upstreamLimits }),
    ...(isCacheOff(env.CACHE) && { cache: 'off' }),
  };
}

/** A token belongs to an app key. */
function readAccessToken(
  accessToken: string | undefined,
  hasKey: boolean,
): Pick<LocalSettings, 'accessToken'> {
  if (!accessToken) return {};
  if (!hasKey) throw new StartError('ACCESS_TOKEN is set: it needs APP_KEY and APP_SECRET too.');
  if (!/^[!-~]+$/.test(accessToken))
    throw new StartError('ACCESS_TOKEN must be visible ASCII characters without spaces.');
  return { accessToken };
}

function isCacheOff(text: string | undefined): boolean {
  if (!text || text === 'on') return false;
  if (text === 'off') return true;
  throw new StartError(`CACHE must be on or off, not ${JSON.stringify(text)}.`);
}

function readPlan(text: string | undefined): PlanTier | undefined {
  if (!text) return undefined;
  const tier = planTiers.find((one) => one === text);
  if (!tier)
    throw new StartError(`PLAN must be one of ${planTiers.join(', ')}, not ${JSON.stringify(text)}.`);
  return tier;
}

/** Another upstream has its own limit, which no setting here can raise. */
function readMarketDataLimit(
  text: string | undefined,
  otherUpstream: boolean,
): LocalSettings['marketDataLimit'] {
  if (!text) return undefined;
  if (otherUpstream)
    throw new StartError('MARKET_DATA_LIMIT is for the simulator: UPSTREAM_BASE_URL is set.');
  if (!/^\d{1,9}$/.test(text) || Number(text) < 2)
    throw new StartError(
      `MARKET_DATA_LIMIT must be a number of requests a minute from 2 on, not ${JSON.stringify(text)}.`,
    );
  return { requests: Number(text), perSeconds: 60 };
}

function readUpstreamPaths(text: string | undefined): UpstreamPaths | undefined {
  if (!text) return undefined;
  let paths: unknown;
  try {
    paths = JSON.parse(text);
  } catch {
    // The check below covers it: what is not JSON is no object either.
  }
  const fault = upstreamPathsFault(paths, operations);
  if (fault)
    throw new StartError(
      `UPSTREAM_PATHS must be JSON like {"placeOrder":"/trading/orders/place"}: ${fault}.`,
    );
  return paths as UpstreamPaths;
}

/** Any text that a header carries; API Gateway itself takes 20 to 128 characters. */
function readApiKey(text: string | undefined): string {
  if (!text) return randomBytes(20).toString('hex');
  if (!/^[!-~]{1,128}$/.test(text))
    throw new StartError('API_KEY must be 1 to 128 visible ASCII characters without spaces.');
  return text;
}

function readOtherApiKeys(text: string | undefined, apiKey: string): readonly string[] | undefined {
  if (!text) return undefined;
  const keys = text.split(',');
  // The gateway would take two equal keys for one caller, but the operator needs two.
  if (!keys.every((key) => /^[!-~]{1,128}$/.test(key)) || new Set([apiKey, ...keys]).size <= keys.length)
    throw new StartError(
      'OTHER_API_KEYS must be a list of keys such as one,two: none of them twice or the API_KEY, each of 1 to 128 visible ASCII characters.',
    );
  return keys;
}

function readOpenGroups(text: string | undefined, otherwise: readonly Group[]): readonly Group[] {
  if (text === undefined || text.trim() === '') return otherwise;
  if (text.trim() === 'all') return openable;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(openable as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new StartError(
      `OPEN_GROUPS has no group ${unknown.map((name) => JSON.stringify(name)).join(', ')}: it takes all, or a list of ${openable.join(', ')}.`,
    );
  return openable.filter((group) => names.includes(group));
}
