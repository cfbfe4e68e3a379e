/** The REST API as a resource: its one body, its stage, and its access log where that is wanted. */

import { type RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  RestApiMode,
  SpecRestApi,
  type StageOptions,
} from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { FunctionName } from '../../functions/rows.ts';
import { type Group, type Operation, routesOf, type UsagePlan } from '../../lib/catalogue/index.ts';
import { type AccessMode, accessModes } from '../access-modes.ts';
import type { JsonObject } from '../json.ts';
import { apiDefinition } from './api-definition.ts';
import type { ResolvedConfig } from './config.ts';
import type { Shared } from './shared.ts';

interface RestApiOptions {
  /** What API Gateway's console calls it. */
  readonly title: string;
  readonly shared: Shared;
  /** Those behind it, by name. */
  readonly functions: Readonly<Partial<Record<FunctionName, IFunction>>>;
  readonly authorizer: IFunction | undefined;
}

export function createRestApi(
  scope: Construct,
  { title, shared, functions, authorizer }: RestApiOptions,
): SpecRestApi {
  const { config, operations, removalPolicy, users } = shared;
  const { access, origins, plans, throttle, stageName, domain, logs } = config;
  const { partition, region } = Stack.of(scope);
  const invocationUri = ({ functionArn }: IFunction, name?: string) => {
    const [version, action] = config.live?.streams[name as FunctionName]
      ? ['2021-11-15', 'response-streaming-invocations']
      : ['2015-03-31', 'invocations'];
    return `arn:${partition}:apigateway:${region}:lambda:path/${version}/functions/${functionArn}/${action}`;
  };
  const slowest = Math.min(...plans.map(({ ratePerSecond }) => ratePerSecond));
  const definition = apiDefinition({
    title,
    operations,
    access,
    integrationUris: Object.fromEntries(
      Object.entries(functions).map(([name, lambda]) => [name, invocationUri(lambda, name)]),
    ),
    authorizerUri: authorizer && invocationUri(authorizer),
    origins,
    throttleRetryAfterSeconds: Math.ceil(1 / slowest),
    domain,
  });
  const api = new SpecRestApi(scope, 'Api', {
    restApiName: title,
    apiDefinition: ApiDefinition.fromInline(definition),
    // Not merged with what was there before: the routes of a group that was closed must go.
    mode: RestApiMode.OVERWRITE,
    endpointTypes: [EndpointType.REGIONAL],
    // CloudFormation forgets the property above when it imports a body.
    parameters: { endpointConfigurationTypes: EndpointType.REGIONAL },
    cloudWatchRole: logs.access === 'set-account-role',
    deployOptions: {
      stageName,
      tracingEnabled: false,
      methodOptions: methodThrottles(definition, operations, access, throttle),
      ...(logs.access !== 'off' && accessLogging(scope, logs.retentionDays, removalPolicy)),
    },
  });
  // The library's own output of the URL; the stack's own has a name that can be relied upon.
  api.node.tryRemoveChild('Endpoint');
  acknowledge(api, logs.access);
  // One for the whole API: a statement for each method would outgrow the function's policy.
  const whole = { service: 'execute-api', resource: api.restApiId, resourceName: '*' };
  for (const lambda of Object.values(functions))
    lambda.addPermission('Invoke', {
      principal: new ServicePrincipal('apigateway.amazonaws.com'),
      sourceArn: Stack.of(scope).formatArn(whole),
    });
  users?.letApiInvoke(api.restApiId);
  return api;
}

/**
 * Which key called what and how it went. No query, because account ids stand in there; no ARN of an AWS identity, whose
 * session may be named after a person, and nothing of a token: the function's log has the user's name as a keyed hash,
 * under the same request id.
 */
function accessLogging(scope: Construct, retention: number, removalPolicy: RemovalPolicy): StageOptions {
  const destination = new LogGroup(scope, 'AccessLog', { retention, removalPolicy });
  const entry = {
    requestId: '$context.requestId',
    time: '$context.requestTimeEpoch',
    method: '$context.httpMethod',
    path: '$context.resourcePath',
    status: '$context.status',
    refusal: '$context.error.responseType',
    apiKeyId: '$context.identity.apiKeyId',
    milliseconds: '$context.responseLatency',
    integrationStatus: '$context.integration.status',
    integrationMilliseconds: '$context.integration.latency',
  };
  return {
    accessLogDestination: new LogGroupLogDestination(destination),
    accessLogFormat: AccessLogFormat.custom(JSON.stringify(entry)),
  };
}

/** What the rules of AwsSolutions would have otherwise here, each with the reason why it is as it is. */
function acknowledge(api: SpecRestApi, accessLog: ResolvedConfig['logs']['access']): void {
  Validations.of(api).acknowledge({
    id: 'AwsSolutions-APIG2',
    reason:
      'The validators stand in the API body, where the rule does not look; they see presence, and the functions check every value again.',
  });
  const stage = Validations.of(api.deploymentStage);
  stage.acknowledge(
    {
      id: 'AwsSolutions-APIG3',
      reason:
        'A web ACL costs by the month whether or not anybody calls; the deployer attaches one. Keys, plans and the upstream’s own limit bound what a caller can do here.',
    },
    {
      id: 'AwsSolutions-APIG6',
      reason:
        'Execution logs would hold the callers’ account ids and orders; the functions log what is needed to follow a request.',
    },
  );
  if (accessLog === 'off')
    stage.acknowledge({
      id: 'AwsSolutions-APIG1',
      reason:
        'Access logs need a role that is set once for the whole account and Region; logs.access turns them on.',
    });
  if (accessLog === 'set-account-role')
    Validations.of(api).acknowledge({
      id: accountRolePolicy,
      reason: 'AWS publishes this policy for exactly this role, which serves every API of the account.',
    });
}

const accountRolePolicy =
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]';

/**
 * The part that a method without any key gets: a probe of `/health` comes every few seconds, and a browser asks once in two
 * hours whether it may call a path.
 */
const partWithoutKey = 0.1;

/**
 * What the stage lets through of each method that no usage plan bounds in time, by path and method: those whose callers
 * show a token or a signature, and those that need nothing at all. AWS charges for each request that gets through.
 */
function methodThrottles(
  definition: JsonObject,
  operations: readonly Operation[],
  access: Readonly<Partial<Record<Group, AccessMode>>>,
  { ratePerSecond, burst }: UsagePlan,
): Readonly<Record<string, MethodDeploymentOptions>> {
  const throttle = (part: number): MethodDeploymentOptions => ({
    throttlingRateLimit: Math.max(1, ratePerSecond * part),
    throttlingBurstLimit: Math.max(1, Math.round(burst * part)),
  });
  const paths = Object.entries(
    definition.paths as Readonly<Record<string, Readonly<Record<string, JsonObject>>>>,
  );
  const withoutKey = paths.flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { security }]) =>
      security ? [] : [[`${path}/${method.toUpperCase()}`, throttle(partWithoutKey)] as const],
    ),
  );
  const withoutPlan = routesOf(operations).flatMap(
    ({ path, method, operation: { group, gatewayAnswer } }) => {
      const mode = access[group];
      if (gatewayAnswer || !mode || accessModes[mode].throttledByPlan) return [];
      return [[`${path}/${method}`, throttle(1)] as const];
    },
  );
  return Object.fromEntries([...withoutKey, ...withoutPlan]);
}
