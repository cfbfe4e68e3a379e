/** The local run's settings, read from the environment once and refused in a line for each mistake. */

import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type CorsOrigins, originsFaults, readOrigins } from '../../functions/events/cors.ts';
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
import { sentPaths } from '../../lib/gateway/upstream-paths.ts';
import { areLimits, readLimits, type TradingLimits } from '../../lib/guard-rails/limits.ts';
import { doubledPathFault, eventsUrlFault } from '../../lib/upstream/base-url.ts';
import {
  type AppCredentials,
  type Environment,
  inventAppCredentials,
  misspeltNames,
  readAppCredentials,
  readPort,
  readUpstreamLimits,
  StartError,
  samePortFault,
} from '../environment.ts';
import { Mistakes } from '../mistakes.ts';
import { readUpstreamFaults } from '../simulator/faults-variable.ts';
import type { SimulatorOptions } from '../simulator/index.ts';
import type { LocalUser } from './users.ts';

export interface LocalSettings {
  readonly port: number;
  readonly apiKey: string;
  /** Further keys, each a caller with a bucket of its own in the same plan. */
  readonly otherApiKeys?: readonly string[];
  /**
   * The first one has the API key, and the watchlists, which belong to no account. A further key stands for no user: its
   * requests need a token. Default: `ada` and `ben` with an account of the simulator each; before another upstream,
   * whose accounts are not known here, `ada` with all.
   */
  readonly users?: readonly LocalUser[];
  readonly openGroups: readonly Group[];
  readonly credentials: AppCredentials;
  /** What the upstream asks for where two-factor checking is on. */
  readonly accessToken?: string;
  /** The simulator's ports (that of its event stream any free one when absent), or the base URL of another upstream. */
  readonly upstream:
    | { readonly simulatorPort: number; readonly eventsPort?: number }
    | { readonly baseUrl: string };
  /** The usage plan of the key; by default the one that keeps within the upstream's limit. */
  readonly plan?: PlanTier;
  /** In place of the interface's limit, at the plan, the limiter and the simulator alike; for load tests. */
  readonly marketDataLimit?: Pick<RequestLimit, 'requests' | 'perSeconds'>;
  /** What the upstream allows, for the limiter and the simulator alike. Default `interface`. */
  readonly upstreamLimits?: UpstreamLimits;
  /** What goes wrong at the simulator. Default: nothing. */
  readonly faults?: Pick<SimulatorOptions, 'fault' | 'showAfterMs'>;
  /** Pre-trade limits of the whole run until others are set. Default: the demo's. */
  readonly tradingLimits?: TradingLimits;
  /** Members that an order may have besides those of the catalogue. */
  readonly orderMembers?: readonly string[];
  /** `off`: every read goes to the upstream. */
  readonly cache?: 'off';
  /** Where operations are sent instead of the paths that they are called by. */
  readonly upstreamPaths?: UpstreamPaths;
  /** A sentence for each variable whose name is nearly one of those that are read. */
  readonly misspelt?: readonly string[];
  /** The listener of trade events; absent: none. */
  readonly tradeEvents?: {
    /** Of the event service. Default: the simulator's; before another upstream none, and no listener. */
    readonly url?: string;
    /** On the console. */
    readonly isShown: boolean;
  };
  /** Whose scripts may call from a browser. Default: none. */
  readonly corsOrigins?: CorsOrigins;
}

/** @throws StartError with a line for each variable that is wrong */
export function readSettings(env: Environment): LocalSettings {
  const misspelt = misspeltNames(env, (one) => read(one, new Mistakes(StartError)));
  const mistakes = new Mistakes(StartError);
  const settings = read(env, mistakes);
  mistakes.throwAny(misspelt);
  return { ...settings, ...(misspelt.length > 0 && { misspelt }) };
}

function read(env: Environment, mistakes: Mistakes): LocalSettings {
  // What depends on a pair that is wrong takes it for one, so that one mistake is named once.
  const wrongPair = { appKey: '', appSecret: '' };
  const credentials = mistakes.read(() => readAppCredentials(env), wrongPair);
  const upstreamPaths = mistakes.read(() => readUpstreamPaths(env.UPSTREAM_PATHS), undefined);
  const baseUrl = env.UPSTREAM_BASE_URL;
  if (baseUrl) mistakes.read(() => checkBaseUrl(baseUrl, upstreamPaths), undefined);
  if (baseUrl && !credentials) mistakes.add('UPSTREAM_BASE_URL is set: it needs APP_KEY and APP_SECRET too.');
  const apiKey = mistakes.read(() => readApiKey(env.API_KEY), '');
  const otherApiKeys = mistakes.read(() => readOtherApiKeys(env.OTHER_API_KEYS, apiKey), undefined);
  const users = mistakes.read(() => readUsers(env.USERS), undefined);
  const plan = mistakes.read(() => readPlan(env.PLAN), undefined);
  const upstreamLimits = mistakes.read(() => readUpstreamLimits(env), undefined);
  const marketDataLimit = mistakes.read(
    () => readMarketDataLimit(env.MARKET_DATA_LIMIT, baseUrl !== undefined && baseUrl !== ''),
    undefined,
  );
  // The simulator's accounts are invented: in front of it everything may be open.
  const usuallyOpen = baseUrl ? openByDefault : openable;
  const openGroups = mistakes.read(() => readOpenGroups(env.OPEN_GROUPS, usuallyOpen), usuallyOpen);
  const port = mistakes.read(() => readPort(env, 'PORT', 8787), 0);
  const simulatorPort = baseUrl ? 0 : mistakes.read(() => readPort(env, 'UPSTREAM_PORT', 8788), 0);
  const eventsPort = baseUrl ? 0 : mistakes.read(() => readPort(env, 'EVENTS_PORT', 8789), 0);
  const portFault = samePortFault({ PORT: port, UPSTREAM_PORT: simulatorPort, EVENTS_PORT: eventsPort });
  if (portFault) mistakes.add(portFault);
  const faults = mistakes.read(() => readFaults(env), {});
  const tradingLimits = mistakes.read(() => readTradingLimits(env.TRADING_LIMITS), undefined);
  const orderMembers = mistakes.read(() => readOrderMembers(env.ORDER_MEMBERS), undefined);
  const isCacheOff = mistakes.read(() => readCacheOff(env.CACHE), false);
  const cors = mistakes.read(() => readCorsOrigins(env.CORS_ORIGINS), {});
  const accessToken = mistakes.read(() => readAccessToken(env.ACCESS_TOKEN, credentials !== undefined), {});
  const hasOrders = openGroups.includes('orders');
  const eventsMode = mistakes.read(() => readTradeEventsMode(env.TRADE_EVENTS), 'off');
  const eventsUrl = mistakes.read(() => readTradeEventsUrl(env, hasOrders), undefined);
  const hasEvents = eventsMode !== 'off' && hasOrders && (eventsUrl !== undefined || !baseUrl);
  return {
    port,
    apiKey,
    ...(otherApiKeys && { otherApiKeys }),
    ...(users && { users }),
    openGroups,
    credentials: credentials ?? inventAppCredentials(),
    ...accessToken,
    upstream: baseUrl ? { baseUrl } : { simulatorPort, eventsPort },
    ...(upstreamPaths && { upstreamPaths }),
    ...(plan && { plan }),
    ...(marketDataLimit && { marketDataLimit }),
    ...(upstreamLimits && { upstreamLimits }),
    ...(faults.fault && { faults }),
    ...(tradingLimits && { tradingLimits }),
    ...(orderMembers && { orderMembers }),
    ...(isCacheOff && { cache: 'off' }),
    ...(hasEvents && {
      tradeEvents: { isShown: eventsMode !== 'quiet', ...(eventsUrl !== undefined && { url: eventsUrl }) },
    }),
    ...cors,
  };
}

function checkBaseUrl(baseUrl: string, paths: UpstreamPaths | undefined): undefined {
  const fault = baseUrlFault(baseUrl) ?? doubledPathFault(baseUrl, sentPaths(operations, paths));
  if (fault) throw new StartError(`UPSTREAM_BASE_URL: ${fault}.`);
}

/** As the deployed functions read it. */
function readCorsOrigins(text: string | undefined): Pick<LocalSettings, 'corsOrigins'> {
  const corsOrigins = readOrigins(text);
  const faults = originsFaults(corsOrigins);
  if (faults.length > 0) throw new StartError(`CORS_ORIGINS: ${faults.join('; ')}.`);
  return corsOrigins.length > 0 ? { corsOrigins } : {};
}

/** As the deployed functions read them; `none` for no limits. */
function readTradingLimits(text: string | undefined): TradingLimits | undefined {
  if (!text) return undefined;
  if (text === 'none') return {};
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new StartError(`TRADING_LIMITS must be none, or JSON like {"max_order_notional":"5000"}.`);
  }
  const limits = readLimits(given);
  if (areLimits(limits)) return limits;
  throw new StartError(
    `TRADING_LIMITS: ${limits.map(({ name, detail }) => `${name} ${detail}`).join('; ')}.`,
  );
}

function readOrderMembers(text: string | undefined): readonly string[] | undefined {
  if (!text) return undefined;
  const members = text.split(',').map((name) => name.trim());
  if (members.length <= 20 && members.every((name) => /^[a-z][a-z0-9_]{0,39}$/.test(name))) return members;
  throw new StartError(
    'ORDER_MEMBERS takes at most 20 names of members of an order, such as settlement_type.',
  );
}

function readTradeEventsMode(text: string | undefined): 'on' | 'quiet' | 'off' {
  const mode = (['on', 'quiet', 'off'] as const).find((one) => one === (text || 'on'));
  if (!mode) throw new StartError(`TRADE_EVENTS must be on, quiet or off, not ${JSON.stringify(text)}.`);
  return mode;
}

/** Trade events belong to orders: where these are not open there is no listener. */
function readTradeEventsUrl(
  { TRADE_EVENTS_URL: url, UPSTREAM_BASE_URL: baseUrl }: Environment,
  hasOrders: boolean,
): string | undefined {
  if (!url) return undefined;
  const fault = eventsUrlFault(url);
  if (fault) throw new StartError(`TRADE_EVENTS_URL ${fault}.`);
  if (!baseUrl) throw new StartError('TRADE_EVENTS_URL is set: it needs UPSTREAM_BASE_URL too.');
  if (!hasOrders) throw new StartError('TRADE_EVENTS_URL is set: OPEN_GROUPS has to name orders, too.');
  return url;
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

function readUsers(text: string | undefined): readonly LocalUser[] | undefined {
  if (!text) return undefined;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    // The check below covers it: what is not JSON is no object either.
  }
  const users = v.safeParse(usersSchema, given);
  if (!users.success)
    throw new StartError(
      'USERS must be JSON like {"ada":["ACCOUNT_ID"],"ben":["*"]}: names of 1 to 32 letters, digits and -, beginning with a letter, each with a list of account ids; * stands for every account.',
    );
  return Object.entries(users.output).map(([name, accounts]) => ({ name, accounts }));
}

const usersSchema = v.pipe(
  v.record(
    v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/i)),
    v.array(v.pipe(v.string(), v.regex(/^(\*|[\w.-]{1,64})$/))),
  ),
  v.check((users) => Object.keys(users).length > 0),
);

function readCacheOff(text: string | undefined): boolean {
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

/** Nothing goes wrong on purpose at another upstream. */
function readFaults(env: Environment): NonNullable<LocalSettings['faults']> {
  if (env.UPSTREAM_FAULTS && env.UPSTREAM_BASE_URL)
    throw new StartError('UPSTREAM_FAULTS is for the simulator: UPSTREAM_BASE_URL is set.');
  return readUpstreamFaults(env);
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
