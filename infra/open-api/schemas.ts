/** From the catalogue's schemas to those of a document: named ones once, as components, the others in place. */

import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { type Dialect, inDialect } from './dialects.ts';
import type { JsonObject } from './json.ts';
import type { SchemaNames } from './schema-names.ts';
import { baseOf } from './schema-parts.ts';

export interface Schemas {
  /** For the place where it is used: a reference, if it has a name. */
  of(schema: GenericSchema): JsonObject;
  /** All that was referred to so far, by name. */
  components(): JsonObject;
}

export function createSchemas(names: SchemaNames, dialect: Dialect): Schemas {
  const referred = new Map<string, GenericSchema>();
  const components = new Map<string, JsonObject>();

  function convert(schema: GenericSchema): JsonObject {
    const self = baseOf(schema);
    const json = toJsonSchema(schema, {
      target: 'draft-2020-12',
      // What is checked is what comes, before anything is made of it.
      typeMode: 'input',
      // Said by the component's name.
      ignoreActions: ['title'],
      overrideSchema: ({ valibotSchema }) =>
        valibotSchema === self ? undefined : referenceTo(valibotSchema),
      // The format alone would leave it to the reader's library which days it takes.
      overrideAction: ({ valibotAction, jsonSchema }) =>
        valibotAction.type === 'iso_date'
          ? {
              ...jsonSchema,
              pattern: (valibotAction as unknown as { requirement: RegExp }).requirement.source,
            }
          : undefined,
    });
    return inDialect(json as unknown as JsonObject, dialect);
  }

  function referenceTo(schema: GenericSchema): { readonly $ref: string } | undefined {
    const name = names.get(schema);
    if (name === undefined) return undefined;
    referred.set(name, schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  return {
    of: (schema) => referenceTo(baseOf(schema)) ?? convert(schema),
    components() {
      // A component may refer to further ones, which are then found by the same loop.
      for (const [name, schema] of referred) if (!components.has(name)) components.set(name, convert(schema));
      return Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1)));
    },
  };
}
