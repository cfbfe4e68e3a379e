/** Derives one OpenAPI document of the interface from the catalogue, for people and generators. */

import { type Group, type GroupFacts, groups } from '../../lib/catalogue/index.ts';
import { isSentOn, isStream, type Operation } from '../../lib/catalogue/operation.ts';
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
import { cacheResponsesOf, responseHeadersOf, sharingHeaders } from './cache.ts';
import { descriptionOf, notesInProse } from './description.ts';
import { journalHeaders, replayHeadersOf } from './journaled.ts';
import { createRefusals, type ProblemResponses } from './problem.ts';
import { parametersOf, requestBodyOf } from './request.ts';
import { responseExamples } from './response-examples.ts';
import { namesFor } from './schema-names.ts';
import { createSchemas, type Schemas } from './schemas.ts';

/** Introduction to the document: how the interface behaves as a whole. */
const introduction = `A broker’s Trading & Market Data interface, signed by a gateway: requests come without signing headers, and
answers are the upstream’s, byte for byte.

- **Decimals** are texts (\`"227.50"\`, format \`decimal\`), so that no digit is lost. A body may have them as
  JSON numbers, too, without an exponent. In an answer \`""\` and \`null\` mean that there is none.
- **Times** are Unix time in milliseconds, or ISO 8601 text where a member’s name ends in \`_at\`. Seen live are also
  milliseconds in a text (ticks), ISO 8601 text with \`+0000\` (bars) and \`yyyyMMdd\` (capital flow).
- **Bodies**: \`null\` counts as left out, for every member that is not required.
- **Parameters** that an operation does not name are refused, except where its description says that it takes
  any. No value of a query may have an \`&\` in it: the upstream’s signature cannot carry it. \`True\` and \`False\`
  are taken as \`true\` and \`false\`. A list comes as one parameter, or as several of its name. Members of a body
  that a schema does not name are passed on.
- **Answers** may have more members than their schemas: clients ignore what they do not know.
- **Shared answers**: what is the same for every caller is asked of the upstream once for all. \`age\` says how old
  it is; a client says with \`cache-control\` how old it may be.
- **Orders** are safe to send again unchanged: each is placed once, and \`idempotent-replayed\` marks an answer of
  another request. The other changes are with a header \`Idempotency-Key\`.
- **Errors** are flat JSON objects with a stable \`code\`. One 400 names every wrong parameter. A client whose
  \`accept\` names \`application/problem+json\` gets lists of them, too. A path that is not served answers 404
  \`unknown_operation\`; another method 405 \`method_not_allowed\`, or what API Gateway makes of it.
- **Aliases**, the paths of older versions, answer the same; they stand in \`x-aliases\`.`;

const headers = {
  ...sharingHeaders,
  ...journalHeaders,
  RequestId: {
    description: 'Names this request in the operator’s logs.',
    schema: { type: 'string' },
  },
  UpstreamRequestId: {
    description: 'Names the request at the upstream, if that gave it a name.',
    schema: { type: 'string' },
  },
  CacheControl: {
    description: '`no-store`; of answers that all callers share `private` with `no-cache` or `max-age`.',
    schema: { type: 'string' },
  },
  WwwAuthenticate: {
    description:
      'Why a token is wanted, or not accepted (RFC 6750). API Gateway renames it to `x-amzn-remapped-www-authenticate` where a function answered.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds after which asking again makes sense, if something is known of it.',
    schema: { type: 'integer', minimum: 1 },
  },
};

export interface DocumentOptions {
  /** Default 3.1. */
  readonly version?: OpenApiVersion;
  /** The operations of this gateway. */
  readonly operations: readonly Operation[];
  /** Addresses of the gateway; several are alternatives. */
  readonly servers: readonly JsonObject[];
  /** Mode in which a group's callers authenticate. Default: a deployment's. */
  readonly access?: (group: Group) => AccessMode;
}

export type OpenApiVersion = '3.1' | '3.0';

export function openApiDocument(options: DocumentOptions): JsonObject {
  const { version = '3.1', operations, servers, access = usualMode } = options;
  const schemas = createSchemas(namesFor(operations), version);
  const parts: DocumentParts = {
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
    tags: served.map(tagObject),
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

/** `version` belongs to this document; the interface itself has none. */
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

interface DocumentParts {
  readonly schemas: Schemas;
  readonly refusals: ProblemResponses;
  /** Examples of responses, by operation id. */
  readonly examples: ReadonlyMap<string, Json>;
  readonly access: NonNullable<DocumentOptions['access']>;
}

function pathsOf(operations: readonly Operation[], parts: DocumentParts): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const { path, method } = operation;
    const verb = method.toLowerCase();
    if (paths[path]?.[verb]) throw new Error(`${method} ${path} belongs to two operations.`);
    paths[path] = { ...paths[path], [verb]: operationObject(operation, parts) };
  }
  return paths;
}

/** Describes an operation under its main path only: a generated client would have a method for each alias. */
function operationObject(operation: Operation, parts: DocumentParts): JsonObject {
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
      200: responseObject(operation, parts),
      ...cacheResponsesOf(operation),
      ...parts.refusals.of(operation, asks),
    },
    ...(aliases.length > 0 && { 'x-aliases': aliases }),
    ...(asks && { 'x-scope': scopeOf(operation) }),
  };
}

function responseObject(operation: Operation, { schemas, examples }: DocumentParts): JsonObject {
  const { id, title, response: schema, freshness, gatewayAnswer, answeredBy, follows } = operation;
  const example = examples.get(id);
  return {
    description:
      freshness === 'by-symbol'
        ? `${title}: the upstream’s records, each byte for byte, in the order asked.`
        : gatewayAnswer
          ? `${title}: always the same, because ${gatewayAnswer.reason}.`
          : answeredBy === 'trade events'
            ? `${title}: those of the caller’s accounts.`
            : answeredBy
              ? `${title}: what the gateway’s ${answeredBy} of orders says; the upstream is not asked.`
              : follows
                ? `${title}: what is known, and then what changes of it.`
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
      [isStream(operation) ? 'text/event-stream' : 'application/json']: {
        schema: schemas.of(schema, 'response'),
        ...(example !== undefined && { example }),
      },
    },
  };
}

function tagObject(group: Group): JsonObject {
  const { title, exposure: reach, notes = [] }: GroupFacts = groups[group];
  return {
    name: group,
    'x-displayName': title,
    description: [exposureTexts[reach], ...notesInProse(notes)].join('\n\n'),
  };
}

/** Tells whether callers must authenticate. */
const hasAccess = (group: Group) => groups[group].exposure !== 'public';

const exposureTexts = {
  public: 'Answered to everybody, without a key.',
  open: 'Open: an API key is enough.',
  closed:
    'Closed until the deployer opens it to callers who show who they are. Each reaches the accounts that were granted to it, with the scope of the operation (`x-scope`).',
  never: 'Never behind a gateway: it issues credentials.',
};
