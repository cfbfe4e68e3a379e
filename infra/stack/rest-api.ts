/** The REST API as a resource: its one body, its stage, and its access log where that is wanted. */

import { type RemovalPolicy, Validations } from 'aws-cdk-lib';
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
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { JsonObject } from '../json.ts';
import type { AccessLog } from './config.ts';

export interface RestApiOptions {
  readonly title: string;
  readonly definition: JsonObject;
  readonly stageName: string;
  /** What the stage lets through, by path and method. */
  readonly methodThrottles: Readonly<Record<string, MethodDeploymentOptions>>;
  readonly accessLog: AccessLog;
  readonly logRetentionDays: number;
  readonly removalPolicy: RemovalPolicy;
}

export function createRestApi(scope: Construct, options: RestApiOptions): SpecRestApi {
  const { title, definition, stageName, methodThrottles, accessLog, logRetentionDays, removalPolicy } =
    options;
  const api = new SpecRestApi(scope, 'Api', {
    restApiName: title,
    apiDefinition: ApiDefinition.fromInline(definition),
    // Not merged with what was there before: the routes of a group that was closed must go.
    mode: RestApiMode.OVERWRITE,
    endpointTypes: [EndpointType.REGIONAL],
    // CloudFormation forgets the property above when it imports a body.
    parameters: { endpointConfigurationTypes: EndpointType.REGIONAL },
    cloudWatchRole: accessLog === 'set-account-role',
    deployOptions: {
      stageName,
      tracingEnabled: false,
      methodOptions: methodThrottles,
      ...(accessLog !== 'off' && accessLogging(scope, logRetentionDays, removalPolicy)),
    },
  });
  // The library's own output of the URL; the stack's own has a name that can be relied upon.
  api.node.tryRemoveChild('Endpoint');
  acknowledge(api, accessLog);
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
function acknowledge(api: SpecRestApi, accessLog: AccessLog): void {
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
