/** Documents for tests, and helpers to read them. */

import { isJsonObject, type Json, type JsonObject } from '../../infra/json.ts';
import { type DocumentOptions, openApiDocument } from '../../infra/open-api/document.ts';
import { exposedOperations, openable, operations } from '../../lib/catalogue/index.ts';

export const exposed = exposedOperations(operations, openable);

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly Json[];
  readonly [keyword: string]: unknown;
}

export interface Content {
  readonly schema: Schema;
  readonly example?: Json;
  readonly examples?: Readonly<Record<string, { readonly value: Json }>>;
}

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly security: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly style?: string;
    readonly explode?: boolean;
    readonly schema: Schema;
    readonly example?: Json;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly $ref?: string;
        readonly headers?: object;
        readonly content?: Readonly<Record<string, Content>>;
      }
    >
  >;
  readonly 'x-aliases'?: readonly string[];
  readonly 'x-scope'?: string;
}

export interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<
      Record<string, { readonly headers: object; readonly content: Readonly<Record<string, Content>> }>
    >;
  };
}

export const documentOf = (options: Partial<DocumentOptions> = {}) =>
  openApiDocument({
    operations: exposed,
    servers: [{ url: 'https://gateway.test' }],
    ...options,
  }) as unknown as Document;

/** Every object in a document, with the keywords that lead to it. */
export function* objectsIn(
  json: unknown,
  path: readonly string[] = [],
): Generator<[JsonObject, readonly string[]]> {
  if (Array.isArray(json))
    for (const [at, one] of json.entries()) yield* objectsIn(one, [...path, String(at)]);
  else if (isJsonObject(json as Json)) {
    yield [json as JsonObject, path];
    for (const [name, value] of Object.entries(json as JsonObject)) yield* objectsIn(value, [...path, name]);
  }
}
