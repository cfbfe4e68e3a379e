/** Converts the catalogue's schemas for a document: named ones once, as components, the others in place. */

import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { isJsonObject, type JsonObject } from '../json.ts';
import { type Dialect, inDialect } from './dialects.ts';
import type { SchemaNames } from './schema-names.ts';
import { baseOf, isObject } from './schema-parts.ts';

/**
 * Enumerations in responses are open: the upstream may send further values one day, and generated clients refuse a
 * response whose closed enumeration lacks the value.
 */
type SchemaUse = 'request' | 'response';

export interface Schemas {
  /**
   * Converts a schema where it is used: to a reference, if it has a name.
   *
   * @param isClosed whether its objects, and those that it refers to, allow only the members that they name
   */
  of(schema: GenericSchema, use: SchemaUse, isClosed?: boolean): JsonObject;
  /** Schemas that were referred to so far, by name. */
  components(): JsonObject;
}

const prefix = '#/components/schemas/';

export function createSchemas(names: SchemaNames, dialect: Dialect): Schemas {
  const referred = new Map<string, ReferredSchema>();
  const components = new Map<string, JsonObject>();
  /** Names in references that were returned. A dialect may leave out a part, and the reference in it. */
  const needed = new Set<string>();

  function convert({ schema, use, isClosed }: ReferredSchema): JsonObject {
    const self = baseOf(schema);
    const json = toJsonSchema(schema, {
      target: 'draft-2020-12',
      // Describes the input as it comes, before anything is made of it.
      typeMode: 'input',
      // The title is the component's name. A check in code stands beside the format that names it.
      ignoreActions: ['title', 'check'],
      overrideSchema: ({ valibotSchema }) =>
        valibotSchema === self
          ? undefined
          : (referenceTo({ schema: valibotSchema, use, isClosed }) ??
            (use === 'response' ? openEnumeration(valibotSchema) : undefined)),
      // Adds a pattern, because the format alone leaves it to the reader's library which days it accepts.
      overrideAction: ({ valibotAction, jsonSchema }) =>
        valibotAction.type === 'iso_date'
          ? {
              ...jsonSchema,
              pattern: (valibotAction as unknown as { requirement: RegExp }).requirement.source,
            }
          : undefined,
    });
    const written = inDialect(json as unknown as JsonObject, dialect, typeOf);
    return isClosed && dialect !== 'api-gateway' ? withoutOthers(written) : written;
  }

  function typeOf(reference: string): string | undefined {
    const found = referred.get(reference.slice(prefix.length));
    return found && isObject(baseOf(found.schema)) ? 'object' : undefined;
  }

  function referenceTo(one: ReferredSchema): { readonly $ref: string } | undefined {
    const name = names.get(one.schema);
    if (name === undefined) return undefined;
    const before = referred.get(name);
    // If both uses refer to it, the narrower one of requests decides.
    const { use } = before?.use === 'request' ? before : one;
    referred.set(name, { ...one, use, isClosed: one.isClosed || before?.isClosed === true });
    return { $ref: `${prefix}${name}` };
  }

  function noted(json: JsonObject): JsonObject {
    for (const [, name = ''] of JSON.stringify(json).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      needed.add(name);
    return json;
  }

  return {
    of: (schema, use, isClosed = false) =>
      noted(referenceTo({ schema: baseOf(schema), use, isClosed }) ?? convert({ schema, use, isClosed })),
    components() {
      // A component may refer to further ones, which the same loop then finds.
      for (const name of needed) {
        const found = referred.get(name);
        if (found && !components.has(name)) components.set(name, noted(convert(found)));
      }
      return Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1)));
    },
  };
}

interface ReferredSchema {
  readonly schema: GenericSchema;
  readonly use: SchemaUse;
  readonly isClosed: boolean;
}

/** Lets each object that names its members allow no others. */
function withoutOthers(json: JsonObject): JsonObject {
  const inner = Object.entries(json).map(([name, value]) => [
    name,
    isJsonObject(value) ? withoutOthers(value) : value,
  ]);
  return {
    ...Object.fromEntries(inner),
    ...(isJsonObject(json.properties) && json.type !== undefined && { additionalProperties: false }),
  };
}

/** Lists the known values under the extension by which readers and generators know them. */
function openEnumeration(schema: GenericSchema) {
  if (schema.type !== 'picklist') return undefined;
  const { options } = schema as unknown as { readonly options: readonly string[] };
  return { type: 'string', 'x-extensible-enum': [...options] } as const;
}
