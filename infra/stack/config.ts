/** What a deployer may configure, and what each part is when it is left out. */

import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import type { Group } from '../../lib/catalogue/index.ts';
import type { TradingLimits } from '../../lib/guard-rails/limits.ts';
import type { AccessMode } from '../access-modes.ts';
import type { AuthConfig } from './auth-config.ts';
import type { CacheConfig, ResolvedCache } from './cache-config.ts';
import type { GivenParts } from './config-schema.ts';
import type { DomainConfig, ResolvedDomain } from './domain-config.ts';
import type { FunctionsConfig, ResolvedFunctions } from './functions-config.ts';
import type { LimiterConfig, ResolvedLimiter } from './limiter-config.ts';
import type { LiveConfig, ResolvedLive } from './live-config.ts';
import type { EventsConfig, ResolvedEvents } from './lookups-config.ts';
import type { MarketStreamConfig, ResolvedMarketStream } from './market-stream-config.ts';
import type { PlanConfig, ResolvedPlan } from './plans-config.ts';
import type { AccessTokenConfig } from './token-config.ts';
import type { ResolvedTradeEvents, TradeEventsConfig } from './trade-events-config.ts';
import type { ResolvedStopOnAlarms, TradingConfig } from './trading-config.ts';
import type { ResolvedUpstream, UpstreamConfig } from './upstream-config.ts';

export { ConfigError } from './schema-parts.ts';

/** How a group's operations are reached: in one of the modes of `infra/access-modes.ts`, or not at all. */
type Access = AccessMode | 'closed';

export interface CountersignConfig {
  readonly upstream: UpstreamConfig;
  /**
   * In place of the catalogue's exposure, group by group. A group that belongs to accounts takes `jwt`, `bound-key` or
   * `iam`: an API key alone tells which app calls, not who. With `bound-key` the caller is the user that an operator
   * bound the key to, or the one of a token that comes along.
   */
  readonly groups?: Partial<Record<Group, Access>>;
  /** Whose access tokens are accepted: required for a group with `jwt`, possible for one with `bound-key`. */
  readonly auth?: AuthConfig;
  /**
   * How many requests each method takes that no usage plan throttles in time: those of groups with `jwt`, `bound-key` or
   * `iam`, and those that API Gateway answers itself without a key. Default 100 a second and 200 at once for groups, and
   * a tenth of it without a key.
   */
  readonly throttle?: { readonly ratePerSecond?: number; readonly burst?: number };
  /**
   * Usage plans by name, besides `default`, which holds one key within the upstream's market-data limit;
   * giving `default` changes it. Every key has a bucket of its own.
   */
  readonly plans?: Readonly<Record<string, PlanConfig>>;
  /** How the upstream's request limits are kept. By default all of them are this stack's alone. */
  readonly limiter?: LimiterConfig;
  /**
   * Lookups by event: a bus, a queue and a function for them; `{}` opens. Default none, because an idle queue
   * is asked for messages all the time, which is not free.
   */
  readonly events?: EventsConfig;
  /**
   * A scheduled check of the access token, for an app key whose upstream wants one; `{}` opens. Default none: the
   * secret may hold a token all the same.
   */
  readonly accessToken?: AccessTokenConfig;
  /**
   * Changes of orders and positions on a bus of their own, for all accounts of the app key; `{}` opens. Default none: a
   * listener runs all the time, which costs a few dollars a month.
   */
  readonly tradeEvents?: TradeEventsConfig;
  /** Limits of orders, and alarms that stop them. Required where `groups.orders` opens to users: `jwt` or `bound-key`. */
  readonly trading?: TradingConfig;
  /**
   * On what basis one fetch of market data serves several callers: `own-use`, where all of them are the person or firm
   * that the broker's data is for; `licensed`, where others are among them and a licence allows it. Required unless
   * nothing is shared (`cache: 'off'`, no `events`), refused at synth otherwise. It changes nothing in the template.
   */
  readonly marketDataUse?: 'own-use' | 'licensed';
  /**
   * Responses that all clients share: one fetch from the upstream serves many. `off` leaves the table out, and
   * every request goes to the upstream.
   */
  readonly cache?: 'off' | CacheConfig;
  /**
   * The upstream's real-time channel, experimental: what it tells is fresh below a second without a request. Default none: a
   * listener runs all the time, and it is not known whether the upstream takes its data right from the account holder's own
   * devices. Needs `market-data` and the cache.
   */
  readonly marketStream?: MarketStreamConfig;
  /** Streams of quotes. Default none: each takes an instance for as long as it is open. Needs `market-data` and the cache. */
  readonly live?: LiveConfig;
  /** Browsers and web views that may call; none by default. `*`, alone, stands for any. */
  readonly cors?: { readonly origins: readonly string[] };
  readonly functions?: FunctionsConfig;
  readonly logs?: {
    /** Days, one of those that CloudWatch Logs knows. Default 30. */
    readonly retentionDays?: number;
    /**
     * API Gateway writes access logs with a role that is set once for the account and Region. Default `off`;
     * `use-account-role` where that is set; `set-account-role` sets it, for every other API there too.
     */
    readonly access?: AccessLog;
    /**
     * The ARN of a Firehose stream, in the stack's Region, that gets each line of every log group as well. Default none.
     */
    readonly firehoseArn?: string;
  };
  /** The first part of the API's path, except under `domain`. Default `v1`. */
  readonly stageName?: string;
  /**
   * A name of the API's own, whose URL has no stage: existing clients of the interface need it, because they write what
   * follows the scheme of their base URL, path and all, into the `Host` header. Default none.
   *
   * @example
   * // A certificate that exists; the deployer points the name at the output `DomainTarget`.
   * domain: { name: 'api.example.com', certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b…' }
   * // Certificate and DNS records are made.
   * domain: { name: 'api.example.com', hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' } }
   */
  readonly domain?: DomainConfig;
  /**
   * The ARN of the SNS topic that hears of every alarm of the stack, but of those of a part that names its own. Default
   * none: the alarms exist all the same.
   */
  readonly alarmTopic?: string;
  /** `off` leaves all alarms out, for a stage that nobody watches. Default `on`. */
  readonly alarms?: 'on' | 'off';
  /**
   * The ARN of a secret that is there already, in place of a new one. It holds `{"app_key": "…", "app_secret": "…"}`. Where
   * it is encrypted with a key of your own, let the roles of `functions` decrypt with it.
   */
  readonly existingSecret?: string;
  /**
   * In place of a topic: an address that alarms are sent to, by a topic that the stack makes. Its owner confirms it once,
   * by a link in the first message. Default none.
   */
  readonly alarmEmail?: string;
  /** A dashboard of CloudWatch, of which an account has three without a charge. Default `on`. */
  readonly dashboard?: 'on' | 'off';
  /**
   * The ARN of a key of your own in KMS that encrypts tables, secrets and log groups, in place of AWS's. Its policy must let
   * CloudWatch Logs use it. Default AWS's own keys.
   */
  readonly encryptionKey?: string;
  /**
   * Asks the API for a quote every few minutes, as a client does, by its name and with a key of its own; `{}` opens. Needs
   * `market-data` open to API keys, and takes a permit of the upstream's limit where no client has asked for the symbol.
   * Default none.
   */
  readonly canary?: {
    /** Default 5, at most 7: an alarm hears when none of a quarter of an hour was answered. */
    readonly everyMinutes?: number;
    /** A US stock. Default AAPL. */
    readonly symbol?: string;
  };
  /** The ARN of a Regional web ACL of AWS WAF that filters what comes to the API. Default none. */
  readonly webAclArn?: string;
  /** What becomes of the secret and the logs when the stack is deleted. Default `destroy`. */
  readonly onRemoval?: 'destroy' | 'retain';
}

/** The modes of groups that are open. */
export type OpenModes = Readonly<Partial<Record<Group, AccessMode>>>;

type AccessLog = 'off' | 'use-account-role' | 'set-account-role';

/** With nothing left open. */
export interface ResolvedConfig extends GivenParts {
  readonly upstream: ResolvedUpstream;
  readonly access: OpenModes;
  readonly auth?: AuthSettings;
  /** Instances that are reserved for the authorizer; none where no group opens with `jwt`. */
  readonly authorizerConcurrency?: number;
  readonly plans: readonly ResolvedPlan[];
  readonly limiter: ResolvedLimiter;
  readonly events?: ResolvedEvents;
  readonly tradeEvents?: ResolvedTradeEvents;
  readonly marketStream?: ResolvedMarketStream;
  /** Limits of the whole gateway, until an operator sets others. */
  readonly tradingLimits: TradingLimits;
  /** Members that an order may have besides those of the catalogue. */
  readonly orderMembers: readonly string[];
  readonly stopOnAlarms?: ResolvedStopOnAlarms;
  readonly cache: 'off' | ResolvedCache;
  readonly live?: ResolvedLive;
  readonly origins: readonly string[];
  readonly functions: ResolvedFunctions;
  readonly domain?: ResolvedDomain;
}
