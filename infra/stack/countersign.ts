/**
 * The deployment as one construct: API Gateway in front of the functions of each open group, lookups by event, and what
 * the functions share: the secret, the limiter's table and the cache.
 */

import { Stack, Token } from 'aws-cdk-lib';
import type { DomainName, SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import { type IVpc, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import type { EventBus, IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionName } from '../../functions/rows.ts';
import {
  operations as catalogue,
  exposedOperations,
  type Group,
  type Operation,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { defined } from '../defined.ts';
import { type Alarms, createAlarms, type Watched } from './alarms.ts';
import { Canary } from './canary.ts';
import { ConfigError, type CountersignConfig, type ResolvedConfig } from './config.ts';
import { createDashboard } from './dashboard.ts';
import { createDomain } from './domain.ts';
import { certificateRegionFault } from './domain-config.ts';
import { handlerOf, type Network } from './group-function.ts';
import { withStreams } from './live-config.ts';
import type { Lookups } from './lookups.ts';
import { marketDataUseFault } from './market-data-use.ts';
import type { MarketStream } from './market-stream.ts';
import type { MassCancels } from './mass-cancels.ts';
import { openTradingFault, stopOnAlarmsFault } from './open-trading.ts';
import type { OrderAudit, OrderSettledFilter } from './order-audit.ts';
import type { OrderJournal } from './order-journal.ts';
import type { OrderSettlement } from './order-settlement.ts';
import { createParts } from './parts.ts';
import { useOwn } from './production.ts';
import { resolveConfig } from './resolve-config.ts';
import { createRestApi } from './rest-api.ts';
import { calledBehind, rollOut } from './rollout.ts';
import { Shared } from './shared.ts';
import type { TokenCheck } from './token-check.ts';
import type { TradeEventFilter, TradeEvents } from './trade-events.ts';
import type { TradingControls } from './trading-controls.ts';
import type { TradingStop } from './trading-stop.ts';
import { Plan } from './usage-plans.ts';

/**
 * Functions run in Lambda's own network unless `vpc` is given. In yours they need ways to the upstream, to DynamoDB, to
 * Secrets Manager and to what else the stage uses: a NAT gateway, or endpoints of the VPC besides one to the upstream. Without
 * `securityGroups` all of them share a new one, which lets everything out and nothing in.
 */
export interface CountersignProps extends CountersignConfig, Network {
  /** What API Gateway's console calls the API and its plans. Default the stack's name and the construct's path. */
  readonly title?: string;
  /** In place of the catalogue; the functions' bundles do not change with it. */
  readonly operations?: readonly Operation[];
  /**
   * By the name of a function, in place of what comes with the package: a file with its export `handler`, which the CDK
   * bundles with esbuild, or a bundle as `.zip`.
   */
  readonly entries?: Readonly<Record<string, string>>;
}

/** What a deployment keeps. */
export interface CountersignTables {
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
   * besides, and with `live` market data `quote-streams` and orders `order-streams`. A group that is closed has none.
   */
  readonly functions: Readonly<Partial<Record<FunctionName, LambdaFunction>>>;
  /** Holds the app key and the app secret. */
  readonly secret: ISecret;
  /** By their names in the table of alarms; one whose part is not there is not. */
  readonly alarms: Alarms;
  /** None with `dashboard: 'off'`. */
  readonly dashboard?: Dashboard;
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
  /** Asks the API for a quote, as a client does; none without `canary`. */
  readonly canary?: Canary;
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
  /** Listens to the upstream's channel of quotes; none without `marketStream`. */
  readonly marketStream?: MarketStream;

  readonly #shared: Shared;

  /** @throws ConfigError with a line for each mistake, which names the property */
  constructor(scope: Construct, id: string, props: CountersignProps) {
    // Callers without a type checker may leave the properties out; resolveConfig then names what is missing.
    const { title: givenTitle, operations: offered = catalogue, entries = {}, ...given } = props ?? {};
    const { vpc, vpcSubnets: _, securityGroups: __, ...config } = given;
    const resolved = resolvedFor(config, Stack.of(scope).region, offered);
    const operations = openOperations(resolved.access, withStreams(offered, resolved.live));
    super(scope, id);
    const name = nameOf(this);
    const title = givenTitle ?? name;
    const entryOf = (own: string) => entries[own] ?? handlerOf(own);
    const network = vpc && networkOf(this, vpc, given);
    const shared = new Shared(this, { config: resolved, operations, name, entryOf, network });
    this.#shared = shared;
    this.secret = shared.secret;
    if (shared.users) this.identityKey = shared.users.identityKey as ISecret;
    if (shared.users?.authorizer) this.authorizer = shared.users.authorizer;

    const parts = createParts(this, shared);
    this.functions = parts.functions;
    Object.assign(this, defined(parts) satisfies Partial<Countersign>);

    // What callers reach.
    const { authorizer } = this;
    const functions = calledBehind(this, this.functions, resolved);
    this.api = createRestApi(this, { title, shared, functions, authorizer });
    const { region, urlSuffix } = Stack.of(this);
    this.stageUrl = `https://${this.api.restApiId}.execute-api.${region}.${urlSuffix}/${resolved.stageName}`;
    this.url = resolved.domain ? `https://${resolved.domain.name}` : this.stageUrl;
    if (resolved.domain) this.domain = createDomain(this, resolved.domain, this.api);
    const stage = this.api.deploymentStage;
    const plans = resolved.plans.map(
      (plan) => new Plan(this, `plan-${plan.name}`, { ...plan, title, stage }),
    );
    this.plans = new Map(plans.map((plan) => [plan.name, plan]));
    const { canary, stageName } = resolved;
    if (canary)
      this.canary = new Canary(this, 'Canary', { shared, config: canary, url: this.url, stage, title });
    const watched = this.#watched(title);
    this.alarms =
      resolved.alarms === 'off' ? {} : createAlarms(this, { name, config: resolved, stageName, watched });
    rollOut(this, functions, { rollout: resolved.functions.rollout, alarms: this.alarms });
    if (resolved.dashboard === 'on')
      this.dashboard = createDashboard(this, { name, alarms: this.alarms, stageName, watched });
    // Last, because it looks over all that was made.
    useOwn(this, resolved, this.api);
  }

  /** What is kept, and what can be asked of it. */
  get tables(): CountersignTables {
    const { limiter, cache, users } = this.#shared;
    const { lookups, orderJournal, orderAudit, tradingControls, tradeEvents } = this;
    const all = {
      limiter: limiter?.table,
      cache: cache.table,
      lookups: lookups?.table,
      users: users?.table,
      orderJournal: orderJournal?.table,
      orderAudit: orderAudit?.table,
      tradingControls: tradingControls?.table,
      tradeEvents: tradeEvents?.table,
    };
    return Object.fromEntries(Object.entries(all).filter(([, table]) => table));
  }

  /** What alarms and the dashboard are of. */
  #watched(apiName: string): Watched {
    const { functions, lookups, orderJournal, orderAudit, tradingControls, tradingStop } = this;
    const { cache, config, limiter, workers } = this.#shared;
    return defined({
      ...Object.fromEntries(
        [...workers, ...Object.entries(functions)].map(([name, { functionName }]) => [name, functionName]),
      ),
      secret: this.secret.secretArn,
      quotes: cache.table && functions['market-data'] ? this.secret.secretArn : undefined,
      api: apiName,
      // Not those of streams: a stream too many is throttled, and a client that leaves may end in an error, as it should.
      'api-functions': Object.entries(functions)
        .filter(([name]) => !config.live?.streams[name as FunctionName])
        .map(([, { functionName }]) => functionName),
      'limiter-table': limiter?.name,
      'journal-table': orderJournal?.table.tableName,
      'controls-table': tradingControls?.table.tableName,
      'order-audit-lost': orderAudit?.lost.queueName,
      'trading-stop-lost': tradingStop?.lost.queueName,
      'lookup-dead-letters': lookups?.deadLetters.queueName,
    });
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
   * grants to it: `countersign users grant --iam ARN`.
   *
   * @throws ConfigError for a group that does not
   */
  grantExecute(grantee: IGrantable, ...granted: readonly [Group, ...Group[]]): Grant {
    const other = granted.find((group) => this.#shared.config.access[group] !== 'iam');
    if (other)
      throw new ConfigError(`groups.${other} must be iam: only then a call is granted to an identity.`);
    return Grant.addToPrincipal({
      grantee,
      actions: ['execute-api:Invoke'],
      resourceArns: routesOf(this.#shared.operations.filter(({ group }) => granted.includes(group))).map(
        ({ method, path }) => this.api.arnForExecuteApi(method, path, this.#shared.config.stageName),
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

  /** Lets an identity, such as a state machine, invoke the function of direct lookups. */
  grantInvoke(grantee: IGrantable): Grant {
    return this.#openLookups().directFunction.grantInvoke(grantee);
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
}

/** With all that is wrong in one error. */
export function resolvedFor(
  config: CountersignConfig,
  region: string,
  operations: readonly Operation[],
): ResolvedConfig {
  return resolveConfig(config, operations, ({ access, domain }) => {
    const open = openOperations(access, operations);
    const faults = [
      marketDataUseFault(config, open),
      openTradingFault(config, access, open),
      stopOnAlarmsFault(config, open),
      certificateRegionFault(domain, Token.isUnresolved(region) ? undefined : region),
    ];
    return [...openingFaults(config, access, operations), ...faults.filter((fault) => fault !== undefined)];
  });
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

/** One security group for all functions, where none is given: the CDK would make one for each. */
const networkOf = (scope: Construct, vpc: IVpc, { vpcSubnets, securityGroups }: Network): Network => ({
  vpc,
  ...(vpcSubnets && { vpcSubnets }),
  securityGroups: securityGroups ?? [
    new SecurityGroup(scope, 'Functions', { vpc, description: 'Functions of Countersign' }),
  ],
});

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
