/** The interface as one OpenAPI document for people and generators, derived from the catalogue. */

import { type Group, type GroupFacts, groups } from '../../lib/catalogue/index.ts';
import { isSentOn, type Operation } from '../../lib/catalogue/operation.ts';
import { scopeOf } from '../../lib/catalogue/scopes.ts';
import {
  type AccessMode,
  asksWho,
  distinctModes,
  schemes,
  schemesOf,
  securityOf,
  usualMode,
} from '../access-modes.ts';
import type { Json, JsonObject } from '../json.ts';
import { cacheResponsesOf, responseHeadersOf } from './cache.ts';
import { descriptionOf, notesInProse } from './description.ts';
import { headers, introduction } from './front-matter.ts';
import { replayHeadersOf } from './journaled.ts';
import { createRefusals, type Refusals } from './problem.ts';
import { parametersOf, requestBodyOf } from './request.ts';
import { responseExamples } from './response-examples.ts';
import { namesFor } from './schema-names.ts';
import { createSchemas, type Schemas } from './schemas.ts';

export interface DocumentOptions {
  /** Default 3.1. */
  readonly version?: OpenApiVersion;
  /** The operations of this gateway. */
  readonly operations: readonly Operation[];
  /** Where it is; several are alternatives. */
  readonly servers: readonly JsonObject[];
  /** How callers of a group show who they are. Default: what a deployment asks of them. */
  readonly access?: (group: Group) => AccessMode;
}

export type OpenApiVersion = '3.1' | '3.0';

export function openApiDocument(options: DocumentOptions): JsonObject {
  const { version = '3.1', operations, servers, access = usualMode } = options;
  const schemas = createSchemas(namesFor(operations), version);
  const parts: Parts = {
    schemas,
    refusals: createRefusals(schemas),
    examples: responseExamples(operations),
    access,
  };
  const paths = pathsOf(operations, parts);
  const served = [...new Set(operations.map(({ group }) => group))];
  return {
    ...dialect[version],
    servers,
    tags: served.map(tag),
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        schemesOf(distinctModes(served.filter(hasAccess).map(access)), 'security').map((name) => {
          const { definition, description } = schemes[name];
          return [name, { ...definition, description }];
        }),
      ),
      headers,
      responses: parts.refusals.components(),
      schemas: schemas.components(),
    },
  };
}

/** `version` is that of this document; the interface itself has none. */
const info = { title: 'Countersign', version: '1', description: introduction };

const dialect: Readonly<Record<OpenApiVersion, JsonObject>> = {
  '3.1': {
    openapi: '3.1.1',
    info: {
      ...info,
      summary: 'A Trading & Market Data interface, without signing.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
  },
  '3.0': {
    openapi: '3.0.3',
    info: { ...info, license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' } },
  },
};

interface Parts {
  readonly schemas: Schemas;
  readonly refusals: Refusals;
  /** Of responses, by operation id. */
  readonly examples: ReadonlyMap<string, Json>;
  readonly access: NonNullable<DocumentOptions['access']>;
}

function pathsOf(operations: readonly Operation[], parts: Parts): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const { path, method } = operation;
    const verb = method.toLowerCase();
    if (paths[path]?.[verb]) throw new Error(`${method} ${path} belongs to two operations.`);
    paths[path] = { ...paths[path], [verb]: operationObject(operation, parts) };
  }
  return paths;
}

/** Under its main path only: a generated client would have each alias as a method of its own. */
function operationObject(operation: Operation, parts: Parts): JsonObject {
  const { id, group, title, aliases, deprecated } = operation;
  const parameters = parametersOf(operation);
  const requestBody = requestBodyOf(operation, parts.schemas);
  const asks = hasAccess(group) && asksWho(group, parts.access(group));
  return {
    operationId: id,
    summary: title,
    description: descriptionOf(operation),
    tags: [group],
    ...(deprecated !== undefined && { deprecated: true }),
    security: hasAccess(group) ? securityOf(parts.access(group)) : [],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: {
      200: response(operation, parts),
      ...cacheResponsesOf(operation),
      ...parts.refusals.of(operation, asks),
    },
    ...(aliases.length > 0 && { 'x-aliases': aliases }),
    ...(asks && { 'x-scope': scopeOf(operation) }),
  };
}

function response(operation: Operation, { schemas, examples }: Parts): JsonObject {
  const { id, title, response: schema, freshness, gatewayAnswer, answeredBy } = operation;
  const example = examples.get(id);
  return {
    description:
      freshness === 'by-symbol'
        ? `${title}: the upstream’s records, each byte for byte, in the order asked.`
        : gatewayAnswer
          ? `${title}: always the same, because ${gatewayAnswer.reason}.`
          : answeredBy
            ? `${title}: what the gateway’s ${answeredBy} of orders says; the upstream is not asked.`
            : `${title}: the upstream’s answer, byte for byte.`,
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(!freshness &&
        isSentOn(operation) && {
          'x-upstream-request-id': { $ref: '#/components/headers/UpstreamRequestId' },
        }),
      'cache-control': { $ref: '#/components/headers/CacheControl' },
      ...responseHeadersOf(operation),
      ...replayHeadersOf(operation),
    },
    content: {
      'application/json': {
        schema: schemas.of(schema, 'response'),
        ...(example !== undefined && { example }),
      },
    },
  };
}

function tag(group: Group): JsonObject {
  const { title, exposure: reach, notes = [] }: GroupFacts = groups[group];
  return {
    name: group,
    'x-displayName': title,
    description: [exposure[reach], ...notesInProse(notes)].join('\n\n'),
  };
}

/** Whether callers must show who they are. */
const hasAccess = (group: Group) => groups[group].exposure !== 'public';

const exposure = {
  public: 'Answered to everybody, without a key.',
  open: 'Open: an API key is enough.',
  closed:
    'Closed until the deployer opens it to callers who show who they are. Each reaches the accounts that were granted to it, with the scope of the operation (`x-scope`).',
  never: 'Never behind a gateway: it issues credentials.',
};
