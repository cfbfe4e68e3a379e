/**
 * The REST API as one OpenAPI 3.0 document with API Gateway's extensions, derived from the catalogue. One
 * document, because sixty-odd operations with their aliases as single resources would not fit into a stack.
 */

import type { Group, Operation } from '../../lib/catalogue/index.ts';
import { routesOf } from '../../lib/catalogue/index.ts';
import type { Access } from './config.ts';
import { gatewayResponses } from './gateway-responses.ts';
import { health, preflight } from './mock-answers.ts';
import type { JsonObject } from './open-api.ts';
import { integrationTimeoutSeconds } from './resolve-config.ts';

export interface ApiDefinitionOptions {
  readonly title: string;
  /** The operations of open groups. */
  readonly operations: readonly Operation[];
  readonly access: Readonly<Partial<Record<Group, Exclude<Access, 'closed'>>>>;
  /** Where API Gateway finds the function of an open group; may hold tokens. */
  readonly integrationUris: Readonly<Partial<Record<Group, string>>>;
  /** The origins that browsers may call from; with none there is no CORS at all. */
  readonly origins: readonly string[];
  /** What a throttled client is told to wait. */
  readonly throttleRetryAfterSeconds: number;
}

export function apiDefinition(options: ApiDefinitionOptions): JsonObject {
  const { title, operations, access, origins } = options;
  const hasIamGroups = operations.some(({ group }) => access[group] === 'iam');
  return {
    openapi: '3.0.1',
    info: { title, version: '1' },
    'x-amazon-apigateway-api-key-source': 'HEADER',
    'x-amazon-apigateway-request-validators': {
      [presence]: { validateRequestParameters: true, validateRequestBody: false },
    },
    'x-amazon-apigateway-gateway-responses': gatewayResponses({
      hasIamGroups,
      hasSideEffects: operations.some(({ sideEffect }) => sideEffect),
      origins,
      throttleRetryAfterSeconds: options.throttleRetryAfterSeconds,
    }),
    components: {
      securitySchemes: {
        api_key: { type: 'apiKey', name: 'x-api-key', in: 'header' },
        ...(hasIamGroups && {
          sigv4: {
            type: 'apiKey',
            name: 'Authorization',
            in: 'header',
            'x-amazon-apigateway-authtype': 'awsSigv4',
          },
        }),
      },
    },
    paths: { '/health': health(origins), ...operationPaths(options) },
  };
}

/** The validator's name. It sees presence only: the handler checks values, whatever happened here. */
const presence = 'presence-of-parameters';

function operationPaths({ operations, access, integrationUris, origins }: ApiDefinitionOptions): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const { path, method, operation } of routesOf(operations)) {
    // One entry would silently take the other's place.
    if (paths[path]) throw new Error(`The path ${path} belongs to two operations.`);
    const how = access[operation.group];
    const uri = integrationUris[operation.group];
    if (!how || !uri) throw new Error(`${operation.id} belongs to ${operation.group}, which is not open.`);
    paths[path] = {
      [method.toLowerCase()]: proxied(operation, path, how, uri),
      ...(origins.length > 0 && { options: preflight(origins, operation) }),
    };
  }
  return paths;
}

function proxied(operation: Operation, path: string, how: 'api-key' | 'iam', uri: string): JsonObject {
  const required = Object.entries(operation.query).filter(([, parameter]) => parameter.required);
  const alias = operation.aliases.indexOf(path) + 1;
  return {
    operationId: alias === 0 ? operation.id : `${operation.id}Alias${alias}`,
    security: [how === 'iam' ? { sigv4: [] } : { api_key: [] }],
    ...(required.length > 0 && {
      parameters: required.map(([name]) => ({
        name,
        in: 'query',
        required: true,
        schema: { type: 'string' },
      })),
      'x-amazon-apigateway-request-validator': presence,
    }),
    responses: { 200: { description: operation.title } },
    'x-amazon-apigateway-integration': {
      type: 'aws_proxy',
      // How API Gateway calls Lambda, whatever the client's method is.
      httpMethod: 'POST',
      uri,
      passthroughBehavior: 'when_no_match',
      timeoutInMillis: integrationTimeoutSeconds * 1000,
    },
  };
}
