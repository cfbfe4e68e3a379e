/**
 * The emulator keeps of an imported API body each path's integration type, method and address only. This
 * puts the rest of the same body there through the API, so that its refusals and mock answers can be seen;
 * that CloudFormation hands them over on AWS is the template tests' business.
 */

import {
  APIGatewayClient,
  CreateDeploymentCommand,
  type GatewayResponseType,
  GetResourcesCommand,
  PutGatewayResponseCommand,
  PutIntegrationResponseCommand,
  PutMethodResponseCommand,
  UpdateIntegrationCommand,
} from '@aws-sdk/client-api-gateway';
import type { Ministack } from '../support/ministack.ts';
import { clientConfig } from './deployment.ts';

interface ApiBody {
  readonly 'x-amazon-apigateway-gateway-responses'?: Readonly<
    Record<
      string,
      {
        readonly statusCode?: string | number;
        readonly responseParameters?: Record<string, string>;
        readonly responseTemplates?: Record<string, string>;
      }
    >
  >;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly [extension: string]: unknown }>>>
  >;
}

interface MockIntegration {
  readonly type: string;
  readonly requestTemplates?: Record<string, string>;
  readonly responses?: Readonly<
    Record<
      string,
      {
        readonly statusCode: string;
        readonly responseParameters?: Record<string, string>;
        readonly responseTemplates?: Record<string, string>;
      }
    >
  >;
}

export async function completeImport(
  emulator: Ministack,
  {
    restApiId,
    stageName,
    body,
  }: { readonly restApiId: string; readonly stageName: string; readonly body: unknown },
): Promise<void> {
  const api = new APIGatewayClient(clientConfig(emulator));
  const { paths, 'x-amazon-apigateway-gateway-responses': refusals = {} } = body as ApiBody;
  for (const [responseType, { statusCode, responseParameters, responseTemplates }] of Object.entries(
    refusals,
  ))
    await api.send(
      new PutGatewayResponseCommand({
        restApiId,
        responseType: responseType as GatewayResponseType,
        ...(statusCode !== undefined && { statusCode: String(statusCode) }),
        responseParameters,
        responseTemplates,
      }),
    );
  const { items: resources = [] } = await api.send(new GetResourcesCommand({ restApiId, limit: 500 }));
  for (const [path, methods] of Object.entries(paths))
    for (const [method, definition] of Object.entries(methods)) {
      const integration = definition['x-amazon-apigateway-integration'] as MockIntegration | undefined;
      if (integration?.type.toUpperCase() !== 'MOCK') continue;
      const resourceId = resources.find((resource) => resource.path === path)?.id;
      const place = { restApiId, resourceId, httpMethod: method.toUpperCase() };
      for (const [type, template] of Object.entries(integration.requestTemplates ?? {}))
        await api.send(
          new UpdateIntegrationCommand({
            ...place,
            patchOperations: [
              { op: 'add', path: `/requestTemplates/${type.replaceAll('/', '~1')}`, value: template },
            ],
          }),
        );
      for (const [pattern, { statusCode, responseParameters, responseTemplates }] of Object.entries(
        integration.responses ?? {},
      )) {
        await api
          .send(
            new PutMethodResponseCommand({
              ...place,
              statusCode,
              responseParameters: Object.fromEntries(
                Object.keys(responseParameters ?? {}).map((name) => [name, true]),
              ),
            }),
          )
          .catch(() => undefined);
        await api.send(
          new PutIntegrationResponseCommand({
            ...place,
            statusCode,
            ...(pattern !== 'default' && { selectionPattern: pattern }),
            responseParameters,
            responseTemplates,
          }),
        );
      }
    }
  await api.send(new CreateDeploymentCommand({ restApiId, stageName }));
}
