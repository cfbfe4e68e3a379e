/** Writes the catalogue's schemas as TypeScript, with names: the types that the client derives from them. */

import * as v from 'valibot';
import { glossary } from '../../lib/catalogue/glossary.ts';
import type { SchemaNames } from '../open-api/schema-names.ts';
import { baseOf, isArray, isObject, isRecord, isUnion, isWrapped } from '../open-api/schema-parts.ts';

/** A given value is readonly; one that comes may have enumeration values that the catalogue does not name. */
type TypeUse = 'given' | 'got';

export interface TypeTexts {
  of(schema: v.GenericSchema, use: TypeUse): string;
  /** Declarations of all names that were used so far. */
  declarations(): readonly string[];
}

/** Types that only the source can state, by the name of the schema that they are joined with. */
type JoinedTypes = Readonly<Record<string, string>>;

export function createTypeTexts(names: SchemaNames, joined: JoinedTypes): TypeTexts {
  const declared = new Map<string, string>();
  const uses = new Map<string, TypeUse>();

  function of(schema: v.GenericSchema, use: TypeUse): string {
    const base = baseOf(schema);
    const name = names.get(base);
    return name === undefined ? unnamed(base, use) : declare(name, base, use);
  }

  function declare(name: string, base: v.GenericSchema, use: TypeUse): string {
    const other = uses.get(name) ?? use;
    // Schemas without members are the same in both uses.
    if (other !== use && isObject(base)) throw new Error(`${name} is given and got: it needs two names`);
    if (!uses.has(name)) {
      uses.set(name, use);
      declared.set(
        name,
        isObject(base) ? members(name, base.entries, use) : aliasOf(name, unnamed(base, use)),
      );
    }
    return name;
  }

  function members(name: string, entries: Readonly<Record<string, v.GenericSchema>>, use: TypeUse): string {
    const lines = Object.entries(entries).map(([member, schema]) => {
      const text = `${member}${isOmittable(schema) ? '?' : ''}: ${of(schema, use)};`;
      return `${docComment([memberText(member, schema)], '  ')}  ${use === 'given' ? 'readonly ' : ''}${text}\n`;
    });
    const more = joined[name];
    if (more === undefined) return `export interface ${name} {\n${lines.join('')}}\n`;
    return `export interface ${name}Members {\n${lines.join('')}}\n${aliasOf(name, `${name}Members & ${more}`)}`;
  }

  function unnamed(schema: v.GenericSchema, use: TypeUse): string {
    const base = baseOf(schema);
    const readonly = use === 'given' ? 'readonly ' : '';
    if (isArray(base)) return `${readonly}${inBrackets(of(base.item, use))}[]`;
    if (isRecord(base)) return `{ ${readonly}[name: string]: ${of(base.value, use)} }`;
    if (isUnion(base)) return union(base.options.map((option) => of(option, use)));
    if (isWrapped(base)) return union([of(base.wrapped, use), ...absentTypes(base.type)]);
    if (base.type === 'picklist') {
      const { options } = base as unknown as { readonly options: readonly string[] };
      return union([...options.map((value) => `'${value}'`), ...(use === 'got' ? ['(string & {})'] : [])]);
    }
    const plain = plainTypes[base.type];
    if (plain === undefined) throw new Error(`No TypeScript is known for a schema of type ${base.type}`);
    return plain;
  }

  return { of, declarations: () => [...declared].sort(byName).map(([, text]) => text) };
}

const plainTypes: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'Date',
  null: 'null',
};

const absentTypes = (type: string): readonly string[] =>
  type === 'nullable' ? ['null'] : type === 'nullish' ? ['null', 'undefined'] : ['undefined'];

export const isOmittable = (schema: v.GenericSchema): boolean =>
  /^(optional|nullish)$/.test(baseOf(schema).type);

const aliasOf = (name: string, text: string) => `export type ${name} = ${text};\n`;

const inBrackets = (text: string) => (/ [|&] /.test(text) ? `(${text})` : text);

const union = (texts: readonly string[]) =>
  [...new Set(texts.flatMap((text) => (text.startsWith('{') ? [text] : text.split(' | '))))].join(' | ');

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]) =>
  one < other ? -1 : 1;

/** Describes a member's meaning and form; never empty. */
function memberText(name: string, schema: v.GenericSchema): string {
  const meaning = descriptionOf(schema) ?? glossary[name];
  if (meaning === undefined) throw new Error(`${name} has neither a description nor a word in the glossary`);
  const form = formTexts[formatOf(schema) ?? ''];
  return [meaning.replace(/\.$/, ''), ...(form ? [form] : [])].join('. ').concat('.');
}

const formTexts: Readonly<Record<string, string>> = {
  decimal: 'A decimal number as text',
  int64: 'Unix time in milliseconds',
  iso_date: 'A day, yyyy-MM-dd',
};

const innerOf = (schema: v.GenericSchema): v.GenericSchema | undefined =>
  'pipe' in schema
    ? (schema.pipe as readonly [v.GenericSchema])[0]
    : isWrapped(schema)
      ? schema.wrapped
      : undefined;

function descriptionOf(schema: v.GenericSchema): string | undefined {
  const inner = innerOf(schema);
  return v.getDescription(schema) ?? (inner && descriptionOf(inner));
}

function formatOf(schema: v.GenericSchema): string | undefined {
  const inner = innerOf(schema);
  const { format } = v.getMetadata(schema);
  const steps = 'pipe' in schema ? (schema.pipe as readonly { readonly type: string }[]) : [];
  if (typeof format === 'string') return format;
  return steps.some(({ type }) => type === 'iso_date') ? 'iso_date' : inner && formatOf(inner);
}

/** Formats a comment for a declaration. */
export function docComment(paragraphs: readonly string[], indent = ''): string {
  const lines = paragraphs.join('\n\n').replaceAll('*/', '*\\/').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
