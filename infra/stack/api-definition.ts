/**
 * The REST API as one OpenAPI 3.0 document with API Gateway's extensions, from the same parts as the one for
 * people. One document, because sixty-odd operations with their aliases as single resources would not fit
 * into a stack.
 */

import { type FunctionName, functionOf } from '../../functions/rows.ts';
import { type Group, type Operation, routesOf } from '../../lib/catalogue/index.ts';
import { isStream } from '../../lib/catalogue/operation.ts';
import {
  type AccessMode,
  distinctModes,
  frontSecurityOf,
  type SchemeName,
  schemes,
  schemesOf,
} from '../access-modes.ts';
import { minimumCompressionBytes } from '../api-gateway-answers.ts';
import type { JsonObject } from '../json.ts';
import { parametersOf } from '../open-api/request.ts';
import { namesFor } from '../open-api/schema-names.ts';
import { createSchemas, type Schemas } from '../open-api/schemas.ts';
import type { ResolvedConfig } from './config.ts';
import { hasAccessMode } from './domain-config.ts';
import { integrationTimeoutSeconds } from './functions-config.ts';
import { gatewayResponses } from './gateway-responses.ts';
import { mostStreamSeconds } from './live-config.ts';
import { constantAnswer, health, preflight } from './mock-responses.ts';

export interface ApiDefinitionOptions {
  readonly title: string;
  /** The operations of open groups, and those that every gateway answers by itself. */
  readonly operations: readonly Operation[];
  readonly access: Readonly<Partial<Record<Group, AccessMode>>>;
  /** Where API Gateway finds the functions of open groups; may hold tokens. */
  readonly integrationUris: Readonly<Partial<Record<FunctionName, string>>>;
  /** Where API Gateway finds the authorizer, where a group opens with `jwt`; may hold tokens. */
  readonly authorizerUri?: string | undefined;
  /** The origins that browsers may call from; with none there is no CORS at all. */
  readonly origins: readonly string[];
  /** The `retry-after` of a throttled client. */
  readonly throttleRetryAfterSeconds: number;
  /** The API's own domain, where it has one. */
  readonly domain?: NonNullable<ResolvedConfig['domain']> | undefined;
}

export function apiDefinition(options: ApiDefinitionOptions): JsonObject {
  const { title, operations, access, origins, domain } = options;
  // Every API has usage plans, and so keys, even if no group opens with one.
  const modes = distinctModes(['api-key', ...operations.flatMap(({ group }) => access[group] ?? [])]);
  const models = createSchemas(namesFor(operations), 'api-gateway');
  const paths = operationPaths(options, models);
  return {
    openapi: '3.0.1',
    info: { title, version: '1' },
    ...(domain && { servers: [server(domain)], ...handshake(domain) }),
    'x-amazon-apigateway-api-key-source': 'HEADER',
    // In the body, as everything else: what stands beside an imported body CloudFormation forgets.
    'x-amazon-apigateway-minimum-compression-size': minimumCompressionBytes,
    'x-amazon-apigateway-request-validators': {
      [presence]: { validateRequestParameters: true, validateRequestBody: false },
    },
    'x-amazon-apigateway-gateway-responses': gatewayResponses({
      modes,
      hasSideEffects: operations.some(({ sideEffect }) => sideEffect),
      origins,
      throttleRetryAfterSeconds: options.throttleRetryAfterSeconds,
    }),
    components: {
      securitySchemes: Object.fromEntries(
        schemesOf(modes, 'front').map((name) => [name, schemeInFront(name, options.authorizerUri)]),
      ),
      schemas: models.components(),
    },
    paths: { '/health': health(origins), ...paths },
  };
}

/** A result is kept so long at most, and a token's end is looked at again by the function. */
export const authorizerResultSeconds = 60;

/** API Gateway knows bearer tokens as any authorizer's: by the header alone, so that a result is kept by the token. */
function schemeInFront(name: SchemeName, authorizerUri: string | undefined): JsonObject {
  if (name !== 'bearerAuth') return schemes[name].definition;
  if (authorizerUri === undefined) throw new Error('A group opens with jwt, but there is no authorizer.');
  return {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    'x-amazon-apigateway-authtype': 'custom',
    'x-amazon-apigateway-authorizer': {
      type: 'request',
      identitySource: 'method.request.header.Authorization',
      authorizerUri,
      authorizerResultTtlInSeconds: authorizerResultSeconds,
    },
  };
}

/**
 * In OpenAPI 3.0 API Gateway looks for this extension at a server, not at the top. False is written, too, so that a
 * stage URL that was refused is taken again.
 */
const server = ({ name, disableStageUrl }: NonNullable<ApiDefinitionOptions['domain']>): JsonObject => ({
  url: `https://${name}`,
  'x-amazon-apigateway-endpoint-configuration': { disableExecuteApiEndpoint: disableStageUrl },
});

/**
 * Behind a domain API Gateway negotiates TLS by the policy of the API (AWS's guide, "How to change a security policy"),
 * so the API has the domain's. The older policy stays the domain's alone: AWS documents it for APIs nowhere.
 */
const handshake = ({ securityPolicy }: NonNullable<ApiDefinitionOptions['domain']>): JsonObject =>
  hasAccessMode(securityPolicy)
    ? {
        'x-amazon-apigateway-security-policy': securityPolicy,
        'x-amazon-apigateway-endpoint-access-mode': 'STRICT',
      }
    : {};

/**
 * The validator's name. It sees presence only: the handler checks the values in any case. Bodies have
 * models, for exports and for SDKs made from them, but nothing is refused by one: API Gateway's know no
 * unions, and its refusal would name none of the places that are wrong.
 */
const presence = 'presence-of-parameters';

function operationPaths(options: ApiDefinitionOptions, models: Schemas): JsonObject {
  const { operations, origins } = options;
  const paths: Record<string, JsonObject> = {};
  for (const { path, method, operation } of routesOf(operations)) {
    // One entry would silently take the other's place.
    if (paths[path]) throw new Error(`The path ${path} belongs to two operations.`);
    paths[path] = {
      [method.toLowerCase()]: answered(operation, path, options, models),
      ...(origins.length > 0 && { options: preflight(origins, operation) }),
    };
  }
  return paths;
}

function answered(
  operation: Operation,
  path: string,
  { access, integrationUris, origins }: ApiDefinitionOptions,
  models: Schemas,
): JsonObject {
  const { id, aliases, group, gatewayAnswer } = operation;
  const alias = aliases.indexOf(path) + 1;
  const operationId = alias === 0 ? id : `${id}Alias${alias}`;
  if (gatewayAnswer) return constantAnswer(operationId, gatewayAnswer.body, origins);
  const mode = access[group];
  const uri = integrationUris[functionOf(operation)];
  if (!mode || !uri) throw new Error(`${id} belongs to ${group}, which is not open.`);
  return { operationId, ...proxied(operation, mode, uri, models) };
}

function proxied(operation: Operation, mode: AccessMode, uri: string, models: Schemas): JsonObject {
  const required = parametersOf(operation).filter((parameter) => parameter.required);
  return {
    security: frontSecurityOf(mode),
    ...(required.length > 0 && {
      // Of a parameter API Gateway reads no more than this.
      parameters: required.map(({ name = '', in: where = '' }) => ({
        name,
        in: where,
        required: true,
        schema: { type: 'string' },
      })),
      'x-amazon-apigateway-request-validator': presence,
    }),
    ...(operation.body && {
      requestBody: { content: { 'application/json': { schema: models.of(operation.body, 'request') } } },
    }),
    responses: { 200: { description: operation.title } },
    'x-amazon-apigateway-integration': {
      type: 'aws_proxy',
      // How API Gateway calls Lambda; the client's method does not matter.
      httpMethod: 'POST',
      uri,
      passthroughBehavior: 'when_no_match',
      timeoutInMillis: (isStream(operation) ? mostStreamSeconds : integrationTimeoutSeconds) * 1000,
      ...(isStream(operation) && { responseTransferMode: 'STREAM' }),
    },
  };
}
