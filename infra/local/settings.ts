/** The local run's settings, read from the environment once and refused in a line for each mistake. */

import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import * as v from 'valibot';
import { type CorsOrigins, originFault } from '../../functions/events/cors.ts';
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
import { limitRequests } from '../../lib/catalogue/limits.ts';
import { isIn } from '../../lib/catalogue/numbers.ts';
import { allowedMembersWords, canBeAllowed } from '../../lib/catalogue/order-members.ts';
import { baseUrlFault, type UpstreamPaths, upstreamPathsFault } from '../../lib/gateway/index.ts';
import { sentPaths } from '../../lib/gateway/upstream-paths.ts';
import { areLimits, readLimits, type TradingLimits } from '../../lib/guard-rails/limits.ts';
import { doubledPathFault, eventsUrlFault, marketStreamUrlFault } from '../../lib/upstream/base-url.ts';
import { defined } from '../defined.ts';
import {
  type AppCredentials,
  choiceIn,
  inventAppCredentials,
  misspeltNames,
  readAppCredentials,
  readMarketStreamPort,
  readPort,
  readUpstreamLimits,
  StartError,
  samePortFault,
  type Variables,
} from '../environment.ts';
import { Mistakes } from '../mistakes.ts';
import { readUpstreamFaults } from '../simulator/faults-variable.ts';
import type { SimulatorOptions } from '../simulator/index.ts';
import type { LocalUser } from './users.ts';

export interface LocalSettings {
  readonly port: number;
  /** Another address to listen on than loopback, for a phone in the same network. */
  readonly host?: string;
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
  /**
   * The simulator's ports (that of its event stream any free one when absent, that of its market stream none), or the base
   * URL of another upstream.
   */
  readonly upstream:
    | { readonly simulatorPort: number; readonly eventsPort?: number; readonly marketStreamPort?: number }
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
  /** How long the request of a stream of quotes lasts at most; the stream ends some seconds before. Default 900. */
  readonly streamSeconds?: number;
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
  /** The broker of another upstream's market stream. Default: the simulator's, where it has one, or no listener. */
  readonly marketStreamUrl?: string;
  /** Whose scripts may call from a browser. Default: none. */
  readonly corsOrigins?: CorsOrigins;
}

/** @throws StartError with a line for each variable that is wrong */
export function readSettings(env: Variables): LocalSettings {
  const misspelt = misspeltNames(env, (one) => read(one, new Mistakes(StartError)));
  const mistakes = new Mistakes(StartError);
  const settings = read(env, mistakes);
  mistakes.throwAny(misspelt);
  return { ...settings, ...(misspelt.length > 0 && { misspelt }) };
}

function read(env: Variables, mistakes: Mistakes): LocalSettings {
  // What depends on a pair that is wrong takes it for one, so that one mistake is named once.
  const wrongPair = { appKey: '', appSecret: '' };
  const credentials = mistakes.read(() => readAppCredentials(env), wrongPair);
  const given = <T>(name: string, readText: (text: string) => T): T | undefined =>
    mistakes.read(() => (env[name] ? readText(env[name]) : undefined), undefined);
  const upstreamPaths = given('UPSTREAM_PATHS', readUpstreamPaths);
  const baseUrl = env.UPSTREAM_BASE_URL;
  if (baseUrl) mistakes.read(() => checkBaseUrl(baseUrl, upstreamPaths), undefined);
  if (baseUrl && !credentials) mistakes.add('UPSTREAM_BASE_URL is set: it needs APP_KEY and APP_SECRET too.');
  const apiKey = given('API_KEY', readApiKey) ?? randomBytes(20).toString('hex');
  // The simulator's accounts are invented: in front of it everything may be open.
  const openGroups = given('OPEN_GROUPS', readOpenGroups) ?? (baseUrl ? openByDefault : openable);
  const port = mistakes.read(() => readPort(env, 'PORT', 8787), 0);
  const simulatorPort = baseUrl ? 0 : mistakes.read(() => readPort(env, 'UPSTREAM_PORT', 8788), 0);
  const eventsPort = baseUrl ? 0 : mistakes.read(() => readPort(env, 'EVENTS_PORT', 8789), 0);
  const isCacheOff = given('CACHE', (text) => choiceIn('CACHE', text, ['on', 'off'])) === 'off';
  const streamPort = mistakes.read(() => readMarketStreamPort(env), undefined);
  const marketStreamPort =
    baseUrl || isCacheOff || !openGroups.includes('market-data') ? undefined : streamPort;
  const portFault = samePortFault({
    PORT: port,
    UPSTREAM_PORT: simulatorPort,
    EVENTS_PORT: eventsPort,
    MARKET_STREAM_PORT: marketStreamPort ?? 0,
  });
  if (portFault) mistakes.add(portFault);
  const faults = mistakes.read(() => readFaults(env), {});
  const hasOrders = openGroups.includes('orders');
  const eventsMode = given('TRADE_EVENTS', (text) => choiceIn('TRADE_EVENTS', text, ['on', 'quiet', 'off']));
  const url = given('TRADE_EVENTS_URL', (text) => readTradeEventsUrl(text, env, hasOrders));
  const hasEvents = eventsMode !== 'off' && hasOrders && (url !== undefined || !baseUrl);
  return {
    port,
    apiKey,
    openGroups,
    credentials: credentials ?? inventAppCredentials(),
    upstream: baseUrl ? { baseUrl } : { simulatorPort, eventsPort, ...defined({ marketStreamPort }) },
    ...defined({
      host: given('HOST', readHost),
      otherApiKeys: given('OTHER_API_KEYS', (text) => readOtherApiKeys(text, apiKey)),
      users: given('USERS', readUsers),
      accessToken: given('ACCESS_TOKEN', (text) => readAccessToken(text, credentials !== undefined)),
      upstreamPaths,
      plan: given('PLAN', (text) => choiceIn('PLAN', text, planTiers)),
      marketDataLimit: given('MARKET_DATA_LIMIT', (text) => readMarketDataLimit(text, Boolean(baseUrl))),
      upstreamLimits: mistakes.read(() => readUpstreamLimits(env), undefined),
      faults: faults.fault && faults,
      tradingLimits: given('TRADING_LIMITS', readTradingLimits),
      orderMembers: given('ORDER_MEMBERS', readOrderMembers),
      cache: isCacheOff ? ('off' as const) : undefined,
      tradeEvents: hasEvents ? { isShown: eventsMode !== 'quiet', ...defined({ url }) } : undefined,
      marketStreamUrl: given('MARKET_STREAM_URL', (text) => readMarketStreamUrl(text, env, isCacheOff)),
      corsOrigins: given('CORS_ORIGINS', readCorsOrigins),
    }),
  };
}

/** Some shells set HOST to the machine's name for every program: a name asks for nothing. */
const readHost = (text: string): string | undefined => (isIP(text) ? text : undefined);

/** @returns undefined for what is no JSON, which is no object either */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checkBaseUrl(baseUrl: string, paths: UpstreamPaths | undefined): undefined {
  const fault = baseUrlFault(baseUrl) ?? doubledPathFault(baseUrl, sentPaths(operations, paths));
  if (fault) throw new StartError(`UPSTREAM_BASE_URL: ${fault}.`);
}

/** Takes `*`, or a list with commas. */
function readCorsOrigins(text: string): CorsOrigins | undefined {
  if (!text.trim()) return undefined;
  if (text.trim() === '*') return '*';
  const origins = text.split(',').map((origin) => origin.trim());
  const faults = origins.flatMap((origin, index) => {
    const fault = originFault(origin);
    return fault ? [`entry ${index + 1} is no origin; ${fault}, or * stands alone`] : [];
  });
  if (faults.length > 0) throw new StartError(`CORS_ORIGINS: ${faults.join('; ')}.`);
  return origins;
}

/** As the deployed functions read them; `none` for no limits. */
function readTradingLimits(text: string): TradingLimits {
  if (text === 'none') return {};
  const given = jsonIn(text);
  if (given === undefined)
    throw new StartError(`TRADING_LIMITS must be none, or JSON like {"max_order_notional":"5000"}.`);
  const limits = readLimits(given);
  if (areLimits(limits)) return limits;
  throw new StartError(
    `TRADING_LIMITS: ${limits.map(({ name, detail }) => `${name} ${detail}`).join('; ')}.`,
  );
}

function readOrderMembers(text: string): readonly string[] {
  const members = text.split(',').map((name) => name.trim());
  if (canBeAllowed(members)) return members;
  throw new StartError(`ORDER_MEMBERS ${allowedMembersWords}.`);
}

/** Trade events belong to orders: where these are not open there is no listener. */
function readTradeEventsUrl(
  url: string,
  { UPSTREAM_BASE_URL: baseUrl }: Variables,
  hasOrders: boolean,
): string {
  const fault = eventsUrlFault(url);
  if (fault) throw new StartError(`TRADE_EVENTS_URL ${fault}.`);
  if (!baseUrl) throw new StartError('TRADE_EVENTS_URL is set: it needs UPSTREAM_BASE_URL too.');
  if (!hasOrders) throw new StartError('TRADE_EVENTS_URL is set: OPEN_GROUPS has to name orders, too.');
  return url;
}

function readMarketStreamUrl(url: string, { UPSTREAM_BASE_URL: baseUrl }: Variables, isCacheOff: boolean) {
  const fault = marketStreamUrlFault(url);
  if (fault) throw new StartError(`MARKET_STREAM_URL ${fault}.`);
  if (!baseUrl) throw new StartError('MARKET_STREAM_URL is set: it needs UPSTREAM_BASE_URL too.');
  if (isCacheOff)
    throw new StartError(
      'MARKET_STREAM_URL is set: what the stream tells goes into the cache, which is off.',
    );
  return url;
}

/** A token belongs to an app key. */
function readAccessToken(accessToken: string, hasKey: boolean): string {
  if (!hasKey) throw new StartError('ACCESS_TOKEN is set: it needs APP_KEY and APP_SECRET too.');
  if (!/^[!-~]+$/.test(accessToken))
    throw new StartError('ACCESS_TOKEN must be visible ASCII characters without spaces.');
  return accessToken;
}

function readUsers(text: string): readonly LocalUser[] {
  const users = v.safeParse(usersSchema, jsonIn(text));
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

/** Another upstream has its own limit, which no setting here can raise. */
function readMarketDataLimit(text: string, otherUpstream: boolean): LocalSettings['marketDataLimit'] {
  if (otherUpstream)
    throw new StartError('MARKET_DATA_LIMIT is for the simulator: UPSTREAM_BASE_URL is set.');
  if (!/^\d{1,9}$/.test(text) || !isIn([2, limitRequests[1]], Number(text)))
    throw new StartError(
      `MARKET_DATA_LIMIT must be a number of requests a minute from 2 to ${limitRequests[1]}, not ${JSON.stringify(text)}.`,
    );
  return { requests: Number(text), perSeconds: 60 };
}

/** Nothing goes wrong on purpose at another upstream. */
function readFaults(env: Variables): NonNullable<LocalSettings['faults']> {
  if (env.UPSTREAM_FAULTS && env.UPSTREAM_BASE_URL)
    throw new StartError('UPSTREAM_FAULTS is for the simulator: UPSTREAM_BASE_URL is set.');
  return readUpstreamFaults(env);
}

function readUpstreamPaths(text: string): UpstreamPaths {
  const paths = jsonIn(text);
  const fault = upstreamPathsFault(paths, operations);
  if (fault)
    throw new StartError(
      `UPSTREAM_PATHS must be JSON like {"placeOrder":"/trading/orders/place"}: ${fault}.`,
    );
  return paths as UpstreamPaths;
}

/** Any text that a header carries; API Gateway itself takes 20 to 128 characters. */
function readApiKey(text: string): string {
  if (!/^[!-~]{1,128}$/.test(text))
    throw new StartError('API_KEY must be 1 to 128 visible ASCII characters without spaces.');
  return text;
}

function readOtherApiKeys(text: string, apiKey: string): readonly string[] {
  const keys = text.split(',');
  // The gateway would take two equal keys for one caller, but the operator needs two.
  if (!keys.every((key) => /^[!-~]{1,128}$/.test(key)) || new Set([apiKey, ...keys]).size <= keys.length)
    throw new StartError(
      'OTHER_API_KEYS must be a list of keys such as one,two: none of them twice or the API_KEY, each of 1 to 128 visible ASCII characters.',
    );
  return keys;
}

function readOpenGroups(text: string): readonly Group[] | undefined {
  if (text.trim() === '') return undefined;
  if (text.trim() === 'all') return openable;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(openable as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new StartError(
      `OPEN_GROUPS has no group ${unknown.map((name) => JSON.stringify(name)).join(', ')}: it takes all, or a list of ${openable.join(', ')}.`,
    );
  return openable.filter((group) => names.includes(group));
}
