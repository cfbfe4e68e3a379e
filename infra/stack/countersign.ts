/**
 * The deployment as one construct: API Gateway in front of the functions of each open group, lookups by event, and what
 * the functions share: the secret, the limiter's table and the cache.
 */

import { fileURLToPath } from 'node:url';
import { RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib';
import type { DomainName, SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import type { ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus, IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import { Grant, type IGrantable, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSecret, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { readsOf } from '../../functions/settings/lookup-environment.ts';
import { massCancelOperations } from '../../functions/settings/worker-environment.ts';
import {
  type FunctionName,
  functionOf,
  functionsOf,
  groupOf,
  operationsIn,
  titleOf,
} from '../../lib/catalogue/functions.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import {
  cancelOrder,
  operations as catalogue,
  checkToken,
  exposedOperations,
  type Group,
  getConfig,
  listAccounts,
  type Operation,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { isGuarded } from '../../lib/catalogue/operation.ts';
import { upstreamPathsOf } from '../../lib/gateway/index.ts';
import { areJournaled, haveLookUps, withLookUps } from '../../lib/gateway/look-ups.ts';
import { mayCount } from '../../lib/gateway/operation-limits.ts';
import { orderReadOperations } from '../../lib/trade-events/gateway-order-reads.ts';
import { sendAlarmsTo } from './alarm-topic.ts';
import { apiDefinition } from './api-definition.ts';
import { type Cache, sharedCache } from './cache.ts';
import { ConfigError, type CountersignConfig, type ResolvedConfig } from './config.ts';
import { createDomain } from './domain.ts';
import { GroupFunction } from './group-function.ts';
import { lastPriceAccess } from './last-prices.ts';
import {
  type LimiterAlarms,
  type LimiterTable,
  limiterAlarms,
  limiterTable,
  limiterVariables,
} from './limiter.ts';
import { Lookups } from './lookups.ts';
import { marketDataUseFault } from './market-data-use.ts';
import { MassCancels } from './mass-cancels.ts';
import { openTradingFault, stopOnAlarmsFault } from './open-trading.ts';
import { OrderAudit, type OrderSettledFilter } from './order-audit.ts';
import { OrderJournal } from './order-journal.ts';
import { OrderSettlement } from './order-settlement.ts';
import { resolveConfig } from './resolve-config.ts';
import { certificateRegionFault } from './resolve-domain.ts';
import { massCancelConcurrency } from './resolve-functions.ts';
import { createRestApi } from './rest-api.ts';
import { methodThrottles } from './throttling.ts';
import { TokenCheck } from './token-check.ts';
import { type TradeEventFilter, TradeEvents } from './trade-events.ts';
import { TradingControls } from './trading-controls.ts';
import { TradingStop } from './trading-stop.ts';
import { Plan } from './usage-plans.ts';
import { groupsThatAsk, Users } from './users.ts';

export interface CountersignProps extends CountersignConfig {
  /** What API Gateway's console calls the API and its plans. Default the stack's name and the construct's path. */
  readonly title?: string;
  /** In place of the catalogue; the functions' bundles do not change with it. */
  readonly operations?: readonly Operation[];
  /** The file whose export `handler` is a function behind the API. Default `functions/NAME/handler.ts`. */
  readonly entryOf?: (name: FunctionName) => string;
  /** The same of the function of lookups. Default `functions/quote-lookup/handler.ts`. */
  readonly lookupEntry?: string;
  /** The same of the function that checks the access token. Default `functions/access-token/handler.ts`. */
  readonly tokenCheckEntry?: string;
  /** The same of the authorizer. Default `functions/authorizer/handler.ts`. */
  readonly authorizerEntry?: string;
  /** The same of the listener of trade events. Default `functions/trade-events/handler.ts`. */
  readonly tradeEventsEntry?: string;
  /** The same of the function that settles unknown orders. Default `functions/order-settlement/handler.ts`. */
  readonly settlementEntry?: string;
  /** The same of the function that stops trading for an alarm. Default `functions/trading-stop/handler.ts`. */
  readonly tradingStopEntry?: string;
  /** The same of the function that cancels what is open on request. Default `functions/mass-cancels/handler.ts`. */
  readonly massCancelEntry?: string;
}

/**
 * Everything that serves one app key at the upstream, for a stack of your own. The secret is empty after the
 * first deployment: write `{"app_key": "…", "app_secret": "…"}` into it.
 *
 * @example
 * class Reports extends Stack {
 *   constructor(scope: Construct, id: string) {
 *     super(scope, id);
 *     const countersign = new Countersign(this, 'Countersign', {
 *       upstream: { baseUrl: 'https://broker.example', limits: 'published' },
 *       marketDataUse: 'own-use',
 *       groups: { accounts: 'iam' },
 *       events: {},
 *     });
 *     const report = new NodejsFunction(this, 'report', { environment: { API_URL: countersign.url } });
 *     countersign.grantExecute(report, 'accounts');
 *     countersign.grantPutEvents(report);
 *   }
 * }
 */
export class Countersign extends Construct {
  readonly api: SpecRestApi;
  /** What clients put in place of the base URL of the upstream: that of the domain, or else the stage's. */
  readonly url: string;
  /** The URL of the stage, whether or not there is a domain; with `domain.disableStageUrl` API Gateway refuses it. */
  readonly stageUrl: string;
  /** None without `domain`. */
  readonly domain?: DomainName;
  /**
   * The functions behind the API, by name: each is called as its group, and orders have `order-cancels` and `order-reads`
   * besides. A group that is closed has none.
   */
  readonly functions: Readonly<Partial<Record<FunctionName, LambdaFunction>>>;
  /** Holds the app key and the app secret. */
  readonly secret: ISecret;
  readonly tables: {
    /** Where requests to the upstream are counted. None if no open operation has a limit. */
    readonly limiter?: ITable;
    /** None with `cache: 'off'`. */
    readonly cache?: Table;
    /** Which requests by event were answered. None without `events`. */
    readonly lookups?: Table;
    /** Who may do what. None while no open group asks who calls. */
    readonly users?: Table;
    /** What became of each order that was sent. None while no open operation changes anything at the upstream. */
    readonly orderJournal?: Table;
    /** Who ordered what, line by line. There where the journal is. */
    readonly orderAudit?: Table;
    /** Limits and stops of trading. None while no open operation places or replaces orders. */
    readonly tradingControls?: Table;
    /** What is known of orders, and events that wait for the bus. None without `tradeEvents`. */
    readonly tradeEvents?: Table;
  };
  /** None if no operation has a limit. */
  readonly limiterAlarms?: LimiterAlarms;
  /** Names and seals users, and trade events; none without the table of users and without `tradeEvents`. */
  readonly identityKey?: ISecret;
  /** Verifies access tokens in front; none where no group opens with `jwt`. */
  readonly authorizer?: LambdaFunction;
  /** Usage plans by name. */
  readonly plans: ReadonlyMap<string, Plan>;
  /** Lookups by event; none without `events`. */
  readonly lookups?: Lookups;
  /** The scheduled check of the access token; none without `accessToken`. */
  readonly tokenCheck?: TokenCheck;
  /** Its entries keep orders from being sent twice; none while no open operation changes anything at the upstream. */
  readonly orderJournal?: OrderJournal;
  /** Finds out what became of orders whose answer was lost; none while no order can be placed. */
  readonly orderSettlement?: OrderSettlement;
  /** Keeps who ordered what, and tells what was settled; there where the journal is. */
  readonly orderAudit?: OrderAudit;
  /** Limits and stops of trading, and the alarm that they cannot be read; none while no order can be placed or replaced. */
  readonly tradingControls?: TradingControls;
  /** Stops trading for an alarm; none without `trading.stopOnAlarms`. */
  readonly tradingStop?: TradingStop;
  /** Cancels what is open when an operator or a check asks for it; there where limits and stops are. */
  readonly massCancels?: MassCancels;
  /** Changes of orders and positions, on a bus of their own; none without `tradeEvents`. */
  readonly tradeEvents?: TradeEvents;

  readonly #config: ResolvedConfig;
  /** Those of open groups, and those that API Gateway answers by itself. */
  readonly #operations: readonly Operation[];
  /** Open groups that have operations. */
  readonly #groups: readonly Group[];
  readonly #removalPolicy: RemovalPolicy;
  readonly #limiter: LimiterTable | undefined;
  readonly #cache: Cache;
  readonly #users: Users | undefined;

  /** @throws ConfigError with a line for each mistake, which names the property */
  constructor(scope: Construct, id: string, props: CountersignProps) {
    // Callers without a type checker may leave the properties out; resolveConfig then names what is missing.
    const given = props ?? ({} as CountersignProps);
    const {
      title,
      operations = catalogue,
      entryOf = handlerOf,
      lookupEntry,
      tokenCheckEntry,
      authorizerEntry,
      tradeEventsEntry,
      settlementEntry,
      tradingStopEntry,
      massCancelEntry,
      ...config
    } = given;
    const { region, urlSuffix } = Stack.of(scope);
    const resolved = resolveConfig(config, operations, ({ access, domain }) => [
      ...openingFaults(config, access, operations),
      ...[
        marketDataUseFault(config, openOperations(access, operations)),
        openTradingFault(config, access, openOperations(access, operations)),
        stopOnAlarmsFault(config, openOperations(access, operations)),
        certificateRegionFault(domain, Token.isUnresolved(region) ? undefined : region),
      ].filter((fault) => fault !== undefined),
    ]);
    const exposed = openOperations(resolved.access, operations);
    super(scope, id);
    this.#config = resolved;
    this.#operations = exposed;
    this.#groups = (Object.keys(resolved.access) as Group[]).filter((group) =>
      exposed.some((operation) => operation.group === group),
    );
    this.#removalPolicy = resolved.onRemoval === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;

    const name = nameOf(this);
    this.secret = this.#emptySecret();
    const readsOrders = resolved.tradeEvents || haveLookUps(exposed);
    const counted = [
      ...exposed,
      ...(readsOrders ? orderReadOperations : []),
      ...(exposed.some(isGuarded) ? massCancelOperations : []),
    ];
    this.#limiter = this.#counts(counted) ? limiterTable(this, resolved.limiter.table) : undefined;
    if (this.#limiter) this.limiterAlarms = limiterAlarms(this, this.#limiter, resolved.limiter.alarmTopic);
    this.#cache = sharedCache(this, resolved.cache, exposed);
    this.#users =
      groupsThatAsk(resolved).length > 0 || resolved.tradeEvents
        ? new Users(this, 'Users', { config: resolved, authorizerEntry, removalPolicy: this.#removalPolicy })
        : undefined;
    if (this.#users) this.identityKey = this.#users.identityKey as ISecret;
    if (this.#users?.authorizer) this.authorizer = this.#users.authorizer;
    if (areJournaled(exposed))
      this.orderJournal = new OrderJournal(this, 'OrderJournal', { removalPolicy: this.#removalPolicy });
    if (this.orderJournal) this.orderAudit = this.#orderAudit(this.orderJournal, name);
    if (exposed.some(isGuarded))
      this.tradingControls = new TradingControls(this, 'TradingControls', {
        limits: resolved.tradingLimits,
        removalPolicy: this.#removalPolicy,
      });
    if (this.tradingControls && resolved.stopOnAlarms)
      this.tradingStop = this.#tradingStop(this.tradingControls, resolved.stopOnAlarms, tradingStopEntry);
    const names = this.#groups
      .flatMap(functionsOf)
      .filter((name) => exposed.some((operation) => functionOf(operation) === name));
    const functions = names.map((name) => [name, this.#groupFunction(name, entryOf)] as const);
    this.functions = Object.fromEntries(functions);
    const lookups = resolved.events && this.#lookups(resolved.events, name, lookupEntry);
    if (lookups) this.lookups = lookups;
    if (resolved.accessToken) this.tokenCheck = this.#tokenCheck(resolved.accessToken, tokenCheckEntry);
    if (resolved.tradeEvents)
      this.tradeEvents = this.#tradeEvents(resolved.tradeEvents, name, tradeEventsEntry);
    if (this.orderJournal && haveLookUps(exposed))
      this.orderSettlement = this.#orderSettlement(this.orderJournal, settlementEntry);
    if (this.orderJournal && this.tradingControls)
      this.massCancels = this.#massCancels(this.orderJournal, this.tradingControls, massCancelEntry);
    this.tables = {
      ...(this.#limiter && { limiter: this.#limiter.table }),
      ...(this.#cache.table && { cache: this.#cache.table }),
      ...(lookups && { lookups: lookups.table }),
      ...(this.#users?.table && { users: this.#users.table }),
      ...(this.orderJournal && { orderJournal: this.orderJournal.table }),
      ...(this.orderAudit && { orderAudit: this.orderAudit.table }),
      ...(this.tradingControls && { tradingControls: this.tradingControls.table }),
      ...(this.tradeEvents && { tradeEvents: this.tradeEvents.table }),
    };
    this.api = this.#restApi(title ?? name);
    this.stageUrl = `https://${this.api.restApiId}.execute-api.${region}.${urlSuffix}/${resolved.stageName}`;
    this.url = resolved.domain ? `https://${resolved.domain.name}` : this.stageUrl;
    if (resolved.domain) this.domain = createDomain(this, resolved.domain, this.api);
    this.plans = new Map(
      resolved.plans.map((plan) => [
        plan.name,
        new Plan(this, `plan-${plan.name}`, {
          ...plan,
          title: title ?? name,
          stage: this.api.deploymentStage,
        }),
      ]),
    );
    if (resolved.alarmTopic) sendAlarmsTo(resolved.alarmTopic, this);
  }

  /** The bus that takes requests by event and gives replies; none without `events`. */
  get bus(): EventBus | undefined {
    return this.lookups?.bus;
  }

  /** The queue that takes requests as bare JSON; none without `events`. */
  get queue(): Queue | undefined {
    return this.lookups?.queue;
  }

  /**
   * Lets an AWS identity call the operations of groups that open with `iam`. Which accounts it then reaches, an operator
   * grants to it: `npm run users -- grant --iam ARN`.
   *
   * @throws ConfigError for a group that does not
   */
  grantExecute(grantee: IGrantable, ...granted: readonly [Group, ...Group[]]): Grant {
    const other = granted.find((group) => this.#config.access[group] !== 'iam');
    if (other)
      throw new ConfigError(`groups.${other} must be iam: only then a call is granted to an identity.`);
    return Grant.addToPrincipal({
      grantee,
      actions: ['execute-api:Invoke'],
      resourceArns: routesOf(this.#operations.filter(({ group }) => granted.includes(group))).map(
        ({ method, path }) => this.api.arnForExecuteApi(method, path, this.#config.stageName),
      ),
    });
  }

  /**
   * Lets an identity put requests on the bus.
   *
   * @param sources which it may name as the source of its events; default any
   * @throws ConfigError without sources where account data is readable by event: a grant is made to the source's name
   *
   * @example
   * countersign.grantPutEvents(report, 'reports');
   */
  grantPutEvents(grantee: IGrantable, ...sources: readonly string[]): Grant {
    return this.#openLookups().grantPutEvents(grantee, sources);
  }

  /** Lets an identity, such as the role of a schedule, send requests to the queue. */
  grantSendMessages(grantee: IGrantable): Grant {
    return this.#openLookups().queue.grantSendMessages(grantee);
  }

  /** Lets an identity, such as a state machine, invoke the function of lookups directly. */
  grantInvoke(grantee: IGrantable): Grant {
    return this.#openLookups().function.grantInvoke(grantee);
  }

  /**
   * Sends trade events to a target of EventBridge, by a rule of their bus. Each event comes at least once: a target that
   * must not do a thing twice drops those whose `detail.event_id` it has seen.
   *
   * @param filter which events; default all
   * @throws ConfigError without `tradeEvents`
   *
   * @example
   * countersign.onTradeEvents('Fills', new LambdaFunction(notify), { scene: ['FILLED', 'FINAL_FILLED'] });
   */
  onTradeEvents(id: string, target: IRuleTarget, filter: TradeEventFilter = {}): Rule {
    if (!this.tradeEvents)
      throw new ConfigError('tradeEvents must be configured before its events are sent anywhere.');
    return this.tradeEvents.rule(id, filter, target);
  }

  /**
   * Sends to a target of EventBridge what became of orders whose outcome was not known. Each event comes at least once: a
   * target that must not do a thing twice drops those whose `detail.event_id` it has seen.
   *
   * @param filter which events; default all
   * @throws ConfigError where no open group changes orders or watchlists
   *
   * @example
   * countersign.onOrderSettled('Settled', new LambdaFunction(book), { state: ['accepted'] });
   */
  onOrderSettled(id: string, target: IRuleTarget, filter: OrderSettledFilter = {}): Rule {
    if (!this.orderAudit)
      throw new ConfigError('groups.orders must be open before what became of orders is sent anywhere.');
    return this.orderAudit.rule(id, filter, target);
  }

  #openLookups(): Lookups {
    if (!this.lookups) throw new ConfigError('events must be configured before access to it is granted.');
    return this.lookups;
  }

  #groupFunction(name: FunctionName, entryOf: (name: FunctionName) => string): LambdaFunction {
    const { functions, origins, logs } = this.#config;
    const operations = operationsIn(name, this.#operations);
    const lastPrices = lastPriceAccess(name, operations, { exposed: this.#operations, cache: this.#cache });
    const asked = [...withLookUps(operations, catalogue), ...(lastPrices?.asked ?? [])];
    const users = this.#users?.accessOf(groupOf(name));
    const journal = this.orderJournal?.accessOf(operations);
    const controls = this.tradingControls?.accessOf(operations);
    return new GroupFunction(this, name, {
      title: titleOf(name),
      entry: entryOf(name),
      secretArn: this.secret.secretArn,
      ...this.#limiterAccess(asked),
      cache: this.#cache.accessOf(operations),
      environment: {
        ...this.#upstreamVariables(asked),
        ...(origins.length > 0 && { CORS_ORIGINS: origins.join(',') }),
        ...users?.variables,
        ...journal?.variables,
        ...lastPrices?.variables,
        ...controls?.variables,
      },
      ...(users && {
        policies: { ...users.policies, ...journal?.policies, ...lastPrices?.policies, ...controls?.policies },
      }),
      ...functions,
      reservedConcurrency: functions.reservedConcurrency[name],
      logRetentionDays: logs.retentionDays,
      removalPolicy: this.#removalPolicy,
    }).function;
  }

  #lookups(config: NonNullable<ResolvedConfig['events']>, name: string, entry: string | undefined): Lookups {
    const { timeoutSeconds, memoryMiB } = this.#config.functions;
    const groups = this.#groups.filter((group) => config.groups.includes(group));
    const reads = readsOf(this.#operations, groups);
    return new Lookups(this, 'Lookups', {
      config,
      name,
      groups,
      users: this.#users?.accessOf(...groups.filter(isAccountData)),
      secretArn: this.secret.secretArn,
      ...this.#limiterAccess(reads),
      cache: this.#cache.accessOf(reads),
      environment: this.#upstreamVariables(reads),
      timeoutSeconds,
      memoryMiB,
      logRetentionDays: this.#config.logs.retentionDays,
      removalPolicy: this.#removalPolicy,
      ...(entry && { entry }),
    });
  }

  #tokenCheck(config: NonNullable<ResolvedConfig['accessToken']>, entry: string | undefined): TokenCheck {
    const { upstream, logs } = this.#config;
    return new TokenCheck(this, 'AccessToken', {
      config,
      upstreamTimeoutSeconds: upstream.timeoutSeconds,
      secretArn: this.secret.secretArn,
      // Without the limiter: see the calls themselves.
      environment: this.#upstreamVariables([checkToken, getConfig, listAccounts], 'uncounted'),
      logRetentionDays: logs.retentionDays,
      removalPolicy: this.#removalPolicy,
      ...(entry && { entry }),
    });
  }

  #tradeEvents(
    config: NonNullable<ResolvedConfig['tradeEvents']>,
    name: string,
    entry: string | undefined,
  ): TradeEvents {
    return new TradeEvents(this, 'TradeEvents', {
      config,
      name,
      ...this.#worker(orderReadOperations),
      ...(entry && { entry }),
    });
  }

  #orderSettlement(journal: OrderJournal, entry: string | undefined): OrderSettlement {
    const settlement = new OrderSettlement(this, 'OrderSettlement', {
      journal: journal.table,
      ...this.#worker(orderReadOperations),
      ...(entry && { entry }),
    });
    this.tradeEvents?.rule('Settle', { detailType: ['OrderChanged'] }, settlement.target());
    return settlement;
  }

  #massCancels(
    journal: OrderJournal,
    { table: controls }: TradingControls,
    entry: string | undefined,
  ): MassCancels {
    return new MassCancels(this, 'MassCancels', {
      controls,
      journal,
      cache: this.#cache.accessOf([cancelOrder]),
      reservedConcurrency: massCancelConcurrency(this.#config),
      ...this.#worker(massCancelOperations),
      ...(entry && { entry }),
    });
  }

  /** For a function that asks the upstream by itself, for these operations. */
  #worker(operations: readonly Operation[]) {
    // What waits for a limit may wait for the table, too: no part of the reserve is its own.
    const { LIMITER_RESERVE: _, LIMITER_INSTANCES: __, ...environment } = this.#upstreamVariables(operations);
    return {
      environment,
      identityKeyArn: this.identityKey?.secretArn ?? '',
      secretArn: this.secret.secretArn,
      ...this.#limiterAccess(operations),
      logRetentionDays: this.#config.logs.retentionDays,
      removalPolicy: this.#removalPolicy,
    };
  }

  #tradingStop(
    { table }: TradingControls,
    config: NonNullable<ResolvedConfig['stopOnAlarms']>,
    entry: string | undefined,
  ): TradingStop {
    return new TradingStop(this, 'TradingStop', {
      config,
      controls: table,
      identityKeyArn: this.identityKey?.secretArn ?? '',
      logRetentionDays: this.#config.logs.retentionDays,
      removalPolicy: this.#removalPolicy,
      ...(entry && { entry }),
    });
  }

  #orderAudit({ table }: OrderJournal, name: string): OrderAudit {
    return new OrderAudit(this, 'OrderAudit', {
      journal: table,
      name,
      identityKeyArn: this.identityKey?.secretArn ?? '',
      logRetentionDays: this.#config.logs.retentionDays,
      removalPolicy: this.#removalPolicy,
    });
  }

  #restApi(title: string): SpecRestApi {
    const { access, origins, plans, throttle, stageName, domain, logs } = this.#config;
    const { partition, region } = Stack.of(this);
    const invocationUri = ({ functionArn }: LambdaFunction) =>
      `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${functionArn}/invocations`;
    const functions = Object.entries(this.functions);
    const slowest = Math.min(...plans.map(({ ratePerSecond }) => ratePerSecond));
    const api = createRestApi(this, {
      title,
      definition: apiDefinition({
        title,
        operations: this.#operations,
        access,
        integrationUris: Object.fromEntries(functions.map(([name, lambda]) => [name, invocationUri(lambda)])),
        authorizerUri: this.authorizer && invocationUri(this.authorizer),
        origins,
        throttleRetryAfterSeconds: Math.ceil(1 / slowest),
        domain,
      }),
      stageName,
      methodThrottles: methodThrottles(this.#operations, access, throttle),
      accessLog: logs.access,
      logRetentionDays: logs.retentionDays,
      removalPolicy: this.#removalPolicy,
    });
    // One for the whole API: a statement for each method would outgrow the function's policy.
    for (const [, lambda] of functions)
      lambda.addPermission('Invoke', {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        sourceArn: Stack.of(this).formatArn({
          service: 'execute-api',
          resource: api.restApiId,
          resourceName: '*',
        }),
      });
    this.#users?.letApiInvoke(api.restApiId);
    return api;
  }

  #counts(operations: readonly Operation[]): boolean {
    const { operationLimits } = this.#config.limiter;
    const { limits: upstreamLimits } = this.#config.upstream;
    return mayCount(operations, { operationLimits, upstreamLimits });
  }

  #limiterAccess(operations: readonly Operation[]): { readonly limiterTableArn?: string } {
    return this.#limiter && this.#counts(operations) ? { limiterTableArn: this.#limiter.arn } : {};
  }

  /** A function's variables for the upstream and its limits: its own paths only, as an environment holds 4 kB. */
  #upstreamVariables(operations: readonly Operation[], counted?: 'uncounted'): Record<string, string> {
    const { upstream, limiter } = this.#config;
    const paths = upstreamPathsOf(upstream.paths, operations);
    return {
      UPSTREAM_BASE_URL: upstream.baseUrl,
      UPSTREAM_TIMEOUT_MS: String(upstream.timeoutSeconds * 1000),
      SECRET_ID: this.secret.secretArn,
      ...(Object.keys(paths).length > 0 && { UPSTREAM_PATHS: JSON.stringify(paths) }),
      ...(this.#limiter &&
        !counted &&
        this.#counts(operations) &&
        limiterVariables(this.#limiter, limiter, upstream.limits)),
    };
  }

  /** Empty until the operator sets it: a generated value would seem to work. */
  #emptySecret(): ISecret {
    // The library's higher construct cannot make an empty one.
    const secret = new CfnSecret(this, 'Secret', {
      description: 'App key and app secret at the upstream; set by the operator',
    });
    secret.applyRemovalPolicy(this.#removalPolicy);
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'The upstream issues the app secret by hand: nothing here can make a new one, so nothing rotates it.',
    });
    return Secret.fromSecretCompleteArn(this, 'SecretByArn', secret.ref);
  }
}

const openOperations = (access: ResolvedConfig['access'], operations: readonly Operation[]) =>
  exposedOperations(operations, Object.keys(access) as Group[]);

/** A sentence for each group that is opened in vain, or one if none is open. */
function openingFaults(
  { groups: chosen = {} }: CountersignConfig,
  access: ResolvedConfig['access'],
  operations: readonly Operation[],
): readonly string[] {
  const isServed = (group: string) =>
    openOperations(access, operations).some((operation) => operation.group === group);
  const faults = Object.keys(chosen)
    .filter((group) => Object.hasOwn(access, group) && !isServed(group))
    .map((group) => `groups.${group} cannot be opened: the catalogue has no operations of it yet.`);
  if (faults.length > 0 || Object.keys(access).some(isServed)) return faults;
  return ['groups leaves nothing open, so there is nothing to deploy.'];
}

const handlerOf = (name: FunctionName) =>
  fileURLToPath(new URL(`../../functions/${name}/handler.ts`, import.meta.url));

/** The stack's name, and below it the construct's path: two constructs of one account and Region differ in it. */
function nameOf(construct: Construct): string {
  const stack = Stack.of(construct);
  const path = construct.node.scopes
    .slice(stack.node.scopes.length)
    .map(({ node }) => node.id.replace(/[^\w.-]/g, '-'))
    // As CDK itself leaves it out of logical ids.
    .filter((id) => id !== 'Default');
  return [stack.stackName, ...path].join('-');
}
