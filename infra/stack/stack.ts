/** The deployment: API Gateway in front of one function for each open group, and what they share: the secret, the budget and answers. */

import { fileURLToPath } from 'node:url';
import { CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { readsOf } from '../../functions/aws/lookup-environment.ts';
import {
  operations as catalogue,
  exposedOperations,
  type Group,
  groups,
  type Operation,
} from '../../lib/catalogue/index.ts';
import { type UpstreamPaths, upstreamPathsOf } from '../../lib/gateway/index.ts';
import { limitsOf } from '../../lib/gateway/operation-limits.ts';
import { apiDefinition } from './api-definition.ts';
import { joinedAccess, sharedCache } from './cache.ts';
import { ConfigError, type CountersignConfig } from './config.ts';
import { GroupFunction } from './group-function.ts';
import { limiterTable, limiterVariables } from './limiter.ts';
import { Lookups } from './lookups.ts';
import { resolveConfig } from './resolve-config.ts';
import { createRestApi } from './rest-api.ts';
import { Plan } from './usage-plans.ts';

export interface CountersignStackProps extends CountersignConfig {
  /** CDK's own properties: account and Region, tags, description … */
  readonly stack?: StackProps;
  /** In place of the catalogue; the functions' bundles do not change with it. */
  readonly operations?: readonly Operation[];
  /** The file whose export `handler` is a group's function. Default `functions/GROUP/handler.ts`. */
  readonly entryOf?: (group: Group) => string;
  /** The same of the function of lookups. Default `functions/quote-lookup/handler.ts`. */
  readonly lookupEntry?: string;
}

export class CountersignStack extends Stack {
  /** @throws ConfigError in one sentence that names the property */
  constructor(scope: Construct, id: string, props: CountersignStackProps) {
    // Callers without a type checker may leave the properties out; resolveConfig says then what is missing.
    const given = props ?? ({} as CountersignStackProps);
    const { stack, operations = catalogue, entryOf = handlerOf, lookupEntry, ...config } = given;
    const resolved = resolveConfig(config, operations);
    super(scope, id, stack);

    const open = Object.keys(resolved.access) as Group[];
    const exposed = exposedOperations(operations, open);
    for (const group of Object.keys(config.groups ?? {}) as Group[])
      if (open.includes(group) && !exposed.some((operation) => operation.group === group))
        throw new ConfigError(`groups.${group} cannot be opened: the catalogue has no operations of it yet.`);
    if (exposed.length === 0)
      throw new ConfigError('groups leaves nothing open, so there is nothing to deploy.');

    const removalPolicy = resolved.onRemoval === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    const secret = this.#emptySecret(removalPolicy);
    const served = open.filter((group) => exposed.some((operation) => operation.group === group));
    const draws = (group: Group) =>
      exposedOperations(exposed, [group]).some((one) => limitsOf(one, resolved.limiter.operationLimits));
    const table = served.some(draws) ? limiterTable(this, resolved.limiter.table) : undefined;
    const cacheOf = sharedCache(this, resolved.cache, exposed);
    const functions = served.map((group) => {
      const { function: lambda } = new GroupFunction(this, group, {
        title: groups[group].title,
        entry: entryOf(group),
        secretArn: secret.ref,
        ...(table && draws(group) && { budgetTableArn: table.arn }),
        cache: cacheOf(group),
        environment: {
          UPSTREAM_BASE_URL: resolved.upstream.baseUrl,
          UPSTREAM_TIMEOUT_MS: String(resolved.upstream.timeoutSeconds * 1000),
          SECRET_ID: secret.ref,
          ...pathsVariable(resolved.upstream.paths, exposedOperations(exposed, [group])),
          ...(table && draws(group) && limiterVariables(table, resolved.limiter)),
          ...(resolved.origins.length > 0 && { CORS_ORIGINS: resolved.origins.join(',') }),
        },
        ...resolved.functions,
        reservedConcurrency: resolved.functions.reservedConcurrency[group],
        logRetentionDays: resolved.logs.retentionDays,
        removalPolicy,
      });
      return [group, lambda] as const;
    });

    if (resolved.events) {
      const counts =
        table && readsOf(exposed, served).some((one) => limitsOf(one, resolved.limiter.operationLimits));
      new Lookups(this, 'Lookups', {
        config: resolved.events,
        groups: served,
        secretArn: secret.ref,
        ...(counts && { budgetTableArn: table.arn }),
        cache: joinedAccess(served.map(cacheOf)),
        environment: {
          UPSTREAM_BASE_URL: resolved.upstream.baseUrl,
          UPSTREAM_TIMEOUT_MS: String(resolved.upstream.timeoutSeconds * 1000),
          SECRET_ID: secret.ref,
          ...pathsVariable(resolved.upstream.paths, readsOf(exposed, served)),
          ...(counts && limiterVariables(table, resolved.limiter)),
        },
        timeoutSeconds: resolved.functions.timeoutSeconds,
        memoryMiB: resolved.functions.memoryMiB,
        logRetentionDays: resolved.logs.retentionDays,
        removalPolicy,
        ...(lookupEntry && { entry: lookupEntry }),
      });
    }

    const slowest = Math.min(...resolved.plans.map(({ ratePerSecond }) => ratePerSecond));
    const definition = apiDefinition({
      title: id,
      operations: exposed,
      access: resolved.access,
      integrationUris: Object.fromEntries(
        functions.map(([group, { functionArn }]) => [
          group,
          `arn:${this.partition}:apigateway:${this.region}:lambda:path/2015-03-31/functions/${functionArn}/invocations`,
        ]),
      ),
      origins: resolved.origins,
      throttleRetryAfterSeconds: Math.ceil(1 / slowest),
    });
    const api = createRestApi(this, {
      title: id,
      definition,
      stageName: resolved.stageName,
      accessLog: resolved.logs.access,
      logRetentionDays: resolved.logs.retentionDays,
      removalPolicy,
    });
    // One for the whole API: a statement for each method would outgrow the function's policy.
    for (const [, lambda] of functions)
      lambda.addPermission('Invoke', {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        sourceArn: this.formatArn({
          service: 'execute-api',
          resource: api.restApiId,
          resourceName: '*',
        }),
      });

    const plans = resolved.plans.map(
      (plan) => [plan.name, new Plan(this, `plan-${plan.name}`, api.deploymentStage, plan)] as const,
    );

    new CfnOutput(this, 'ApiUrl', {
      description: 'What clients put in place of the base URL of the upstream',
      value: `https://${api.restApiId}.execute-api.${this.region}.${this.urlSuffix}/${resolved.stageName}`,
    });
    if (table)
      new CfnOutput(this, 'BudgetTable', {
        description:
          'Where requests to the upstream are counted; other stacks on the same app key can share it',
        value: table.name,
      });
    new CfnOutput(this, 'SecretArn', { description: 'Where the app secret belongs', value: secret.ref });
    for (const [planName, { keys }] of plans)
      for (const [keyName, key] of keys)
        new CfnOutput(this, keyOutput(planName, keyName), {
          description: `Id, not value, of the API key ${keyName} of the plan ${planName}`,
          value: key.keyId,
        });
  }

  /** Empty until the operator sets it: a generated value would look like one that works. */
  #emptySecret(removalPolicy: RemovalPolicy): CfnSecret {
    // The library's higher construct cannot make an empty one.
    const secret = new CfnSecret(this, 'Secret', {
      description: 'App key and app secret at the upstream; set by the operator',
    });
    secret.applyRemovalPolicy(removalPolicy);
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'The upstream issues the app secret by hand: nothing here can make a new one, so nothing rotates it.',
    });
    return secret;
  }
}

const handlerOf = (group: Group) =>
  fileURLToPath(new URL(`../../functions/${group}/handler.ts`, import.meta.url));

/** `ApiKeyId` for the first one that everybody has, for others with the names of plan and key. */
function keyOutput(plan: string, key: string): string {
  const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
  return plan === 'default' && key === 'default' ? 'ApiKeyId' : `ApiKeyId${capital(plan)}${capital(key)}`;
}

/** Each function is told of its own operations only: an environment holds 4 kB. */
function pathsVariable(paths: UpstreamPaths, operations: readonly Operation[]): Record<string, string> {
  const own = upstreamPathsOf(paths, operations);
  return Object.keys(own).length > 0 ? { UPSTREAM_PATHS: JSON.stringify(own) } : {};
}
