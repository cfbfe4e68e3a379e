/**
 * The deployment as one construct: API Gateway in front of one function for each open group, lookups by event,
 * and what the functions share: the secret, the limiter's table and the cache.
 */

import { fileURLToPath } from 'node:url';
import { RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib';
import type { DomainName, SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import type { ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { Grant, type IGrantable, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSecret, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { readsOf } from '../../functions/aws/lookup-environment.ts';
import {
  operations as catalogue,
  checkToken,
  exposedOperations,
  type Group,
  getConfig,
  groups,
  listAccounts,
  type Operation,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { upstreamPathsOf } from '../../lib/gateway/index.ts';
import { limitsOf } from '../../lib/gateway/operation-limits.ts';
import { apiDefinition } from './api-definition.ts';
import { type Cache, joinedAccess, sharedCache } from './cache.ts';
import { ConfigError, type CountersignConfig, type ResolvedConfig } from './config.ts';
import { createDomain } from './domain.ts';
import { GroupFunction } from './group-function.ts';
import { type LimiterTable, limiterTable, limiterVariables } from './limiter.ts';
import { Lookups } from './lookups.ts';
import { marketDataUseFault } from './market-data-use.ts';
import { resolveConfig } from './resolve-config.ts';
import { certificateRegionFault } from './resolve-domain.ts';
import { createRestApi } from './rest-api.ts';
import { TokenCheck } from './token-check.ts';
import { Plan } from './usage-plans.ts';

export interface CountersignProps extends CountersignConfig {
  /** What API Gateway's console calls the API and its plans. Default the stack's name and the construct's path. */
  readonly title?: string;
  /** In place of the catalogue; the functions' bundles do not change with it. */
  readonly operations?: readonly Operation[];
  /** The file whose export `handler` is a group's function. Default `functions/GROUP/handler.ts`. */
  readonly entryOf?: (group: Group) => string;
  /** The same of the function of lookups. Default `functions/quote-lookup/handler.ts`. */
  readonly lookupEntry?: string;
  /** The same of the function that checks the access token. Default `functions/access-token/handler.ts`. */
  readonly tokenCheckEntry?: string;
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
  /** The functions behind the API, by the group that each serves; a group that is closed has none. */
  readonly functions: Readonly<Partial<Record<Group, LambdaFunction>>>;
  /** Holds the app key and the app secret. */
  readonly secret: ISecret;
  readonly tables: {
    /** Where requests to the upstream are counted. None if no open operation has a limit. */
    readonly limiter?: ITable;
    /** None with `cache: 'off'`. */
    readonly cache?: Table;
    /** Which requests by event were answered. None without `events`. */
    readonly lookups?: Table;
  };
  /** Usage plans by name. */
  readonly plans: ReadonlyMap<string, Plan>;
  /** Lookups by event; none without `events`. */
  readonly lookups?: Lookups;
  /** The scheduled check of the access token; none without `accessToken`. */
  readonly tokenCheck?: TokenCheck;

  readonly #config: ResolvedConfig;
  /** Those of open groups, and those that API Gateway answers by itself. */
  readonly #operations: readonly Operation[];
  /** Open groups that have operations. */
  readonly #groups: readonly Group[];
  readonly #removalPolicy: RemovalPolicy;
  readonly #limiter: LimiterTable | undefined;
  readonly #cache: Cache;

  /** @throws ConfigError in one sentence that names the property */
  constructor(scope: Construct, id: string, props: CountersignProps) {
    // Callers without a type checker may leave the properties out; resolveConfig then names what is missing.
    const given = props ?? ({} as CountersignProps);
    const {
      title,
      operations = catalogue,
      entryOf = handlerOf,
      lookupEntry,
      tokenCheckEntry,
      ...config
    } = given;
    const resolved = resolveConfig(config, operations);
    const exposed = openOperations(config, resolved, operations);
    const { region, urlSuffix } = Stack.of(scope);
    const fault =
      marketDataUseFault(config, exposed) ??
      certificateRegionFault(resolved.domain, Token.isUnresolved(region) ? undefined : region);
    if (fault) throw new ConfigError(fault);
    super(scope, id);
    this.#config = resolved;
    this.#operations = exposed;
    this.#groups = (Object.keys(resolved.access) as Group[]).filter((group) =>
      exposed.some((operation) => operation.group === group),
    );
    this.#removalPolicy = resolved.onRemoval === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;

    const name = nameOf(this);
    this.secret = this.#emptySecret();
    this.#limiter = this.#counts(exposed) ? limiterTable(this, resolved.limiter.table) : undefined;
    this.#cache = sharedCache(this, resolved.cache, exposed);
    const functions = this.#groups.map((group) => [group, this.#groupFunction(group, entryOf)] as const);
    this.functions = Object.fromEntries(functions);
    const lookups = resolved.events && this.#lookups(resolved.events, name, lookupEntry);
    if (lookups) this.lookups = lookups;
    if (resolved.accessToken) this.tokenCheck = this.#tokenCheck(resolved.accessToken, tokenCheckEntry);
    this.tables = {
      ...(this.#limiter && { limiter: this.#limiter.table }),
      ...(this.#cache.table && { cache: this.#cache.table }),
      ...(lookups && { lookups: lookups.table }),
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
   * Lets an AWS identity call the operations of groups that open with `iam`.
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

  /** Lets an identity put requests on the bus. */
  grantPutEvents(grantee: IGrantable): Grant {
    return this.#openLookups().bus.grantPutEventsTo(grantee);
  }

  /** Lets an identity, such as the role of a schedule, send requests to the queue. */
  grantSendMessages(grantee: IGrantable): Grant {
    return this.#openLookups().queue.grantSendMessages(grantee);
  }

  /** Lets an identity, such as a state machine, invoke the function of lookups directly. */
  grantInvoke(grantee: IGrantable): Grant {
    return this.#openLookups().function.grantInvoke(grantee);
  }

  #openLookups(): Lookups {
    if (!this.lookups) throw new ConfigError('events must be configured before access to it is granted.');
    return this.lookups;
  }

  #groupFunction(group: Group, entryOf: (group: Group) => string): LambdaFunction {
    const { functions, origins, logs } = this.#config;
    const operations = this.#operations.filter((operation) => operation.group === group);
    return new GroupFunction(this, group, {
      title: groups[group].title,
      entry: entryOf(group),
      secretArn: this.secret.secretArn,
      ...this.#limiterAccess(operations),
      cache: this.#cache.accessOf(group),
      environment: {
        ...this.#upstreamVariables(operations),
        ...(origins.length > 0 && { CORS_ORIGINS: origins.join(',') }),
      },
      ...functions,
      reservedConcurrency: functions.reservedConcurrency[group],
      logRetentionDays: logs.retentionDays,
      removalPolicy: this.#removalPolicy,
    }).function;
  }

  #lookups(config: NonNullable<ResolvedConfig['events']>, name: string, entry: string | undefined): Lookups {
    const { timeoutSeconds, memoryMiB } = this.#config.functions;
    const reads = readsOf(this.#operations, this.#groups);
    return new Lookups(this, 'Lookups', {
      config,
      name,
      groups: this.#groups,
      secretArn: this.secret.secretArn,
      ...this.#limiterAccess(reads),
      cache: joinedAccess(this.#groups.map(this.#cache.accessOf)),
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

  #restApi(title: string): SpecRestApi {
    const { access, origins, plans, stageName, domain, logs } = this.#config;
    const { partition, region } = Stack.of(this);
    const functions = Object.entries(this.functions);
    const slowest = Math.min(...plans.map(({ ratePerSecond }) => ratePerSecond));
    const api = createRestApi(this, {
      title,
      definition: apiDefinition({
        title,
        operations: this.#operations,
        access,
        integrationUris: Object.fromEntries(
          functions.map(([group, { functionArn }]) => [
            group,
            `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${functionArn}/invocations`,
          ]),
        ),
        origins,
        throttleRetryAfterSeconds: Math.ceil(1 / slowest),
        domain,
      }),
      stageName,
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
    return api;
  }

  #counts(operations: readonly Operation[]): boolean {
    const { operationLimits } = this.#config.limiter;
    const { limits: upstreamLimits } = this.#config.upstream;
    return operations.some((operation) => limitsOf(operation, { operationLimits, upstreamLimits }));
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

/** @throws ConfigError if a group is opened in vain, or none is open */
function openOperations(
  { groups: chosen = {} }: CountersignConfig,
  { access }: ResolvedConfig,
  operations: readonly Operation[],
): readonly Operation[] {
  const open = Object.keys(access) as Group[];
  const exposed = exposedOperations(operations, open);
  for (const group of Object.keys(chosen) as Group[])
    if (open.includes(group) && !exposed.some((operation) => operation.group === group))
      throw new ConfigError(`groups.${group} cannot be opened: the catalogue has no operations of it yet.`);
  if (!exposed.some(({ group }) => open.includes(group)))
    throw new ConfigError('groups leaves nothing open, so there is nothing to deploy.');
  return exposed;
}

const handlerOf = (group: Group) =>
  fileURLToPath(new URL(`../../functions/${group}/handler.ts`, import.meta.url));

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
