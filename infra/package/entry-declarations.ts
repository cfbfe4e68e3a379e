/**
 * Writes the declarations of the catalogue's entries in the built package with named types and hover text; the compiler's
 * own have neither. The types are those that the client would derive; a test compares them.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type * as v from 'valibot';
import { type Operation, operations } from '../../lib/catalogue/index.ts';
import { descriptionOf } from '../open-api/description.ts';
import { describeParameter } from '../open-api/request.ts';
import { namesFor } from '../open-api/schema-names.ts';
import { baseOf, isObject } from '../open-api/schema-parts.ts';
import { createTypeTexts, docComment, isOmittable, type TypeTexts } from './type-text.ts';

/** Operations that have a method in the client. */
export const declaredOperations = operations.filter(({ legacyOf }) => !legacyOf);

const head = `/** Made by the build from the catalogue's entries. */
import type { GenericSchema } from 'valibot';
import type { Answer, AnyQuery, CallOptions, Declaration, KeyOption } from '../client/types.ts';
import type { Operation } from './operation.ts';
import type { SessionGiven } from './orders.ts';
import type { Parameter } from './parameters.ts';
`;

/** Text of one module with all the declarations. */
function entryDeclarations(): string {
  const texts = createTypeTexts(namesFor(operations), {
    PlaceOrderBodyNewOrder: 'SessionGiven',
    PreviewOrderBodyNewOrder: 'SessionGiven',
  });
  const entries = declaredOperations.map((operation) => declarationOf(operation, texts));
  return [head, ...texts.declarations(), ...entries].join('\n');
}

function declarationOf(operation: Operation, texts: TypeTexts): string {
  const { id, title, method, path, body, response } = operation;
  const name = id[0]?.toUpperCase() + id.slice(1);
  const { decisions: _, ...facts } = operation;
  const doc = [`${title}: ${method} \`${path}\`.`, descriptionOf({ ...facts, aliases: [] })].filter(Boolean);
  const result = texts.of(response, 'got');
  const bodyType = body && texts.of(body, 'given');
  return [
    queryInterface(`${name}Query`, operation, texts),
    optionsInterface(`${name}Options`, operation),
    callInterface(name, operation, doc, bodyType ?? `${name}Query`, result),
    `/** The entry of: ${title}. */\n`,
    `export interface ${name}Operation extends Operation {\n`,
    ...literalMembers(operation).map((line) => `  readonly ${line};\n`),
    `  readonly query: {\n${parameterLines(operation, texts)}  };\n`,
    bodyType ? `  readonly body: GenericSchema<${bodyType}>;\n` : '',
    `  readonly response: GenericSchema<${result}>;\n`,
    `  /** For the client's types alone: no such member exists. */\n`,
    `  readonly '~client'?: Declaration<'${id}', ${name}Query, ${bodyType ?? 'never'}, ${result}, ${name}Call>;\n}\n`,
    docComment(doc),
    `export declare const ${id}: ${name}Operation;\n`,
  ].join('');
}

/** Members whose literal types the client's types read. */
const literalMembers = ({ id, group, method, path, aliases, headers, anyQuery, paging }: Operation) =>
  Object.entries({ id, group, method, path, aliases, headers, anyQuery, paging }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${literal(value)}`],
  );

function literal(value: unknown): string {
  if (Array.isArray(value)) return `readonly [${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `readonly ${name}: ${literal(member)}`);
  return `{ ${members.join('; ')} }`;
}

const givenType = (schema: v.GenericSchema, texts: TypeTexts) => texts.of(schema, 'given');

const parameterLines = ({ query }: Operation, texts: TypeTexts) =>
  Object.entries(query)
    .map(
      ([name, { schema, required }]) =>
        `    readonly ${name}: Omit<Parameter<GenericSchema<${givenType(schema, texts)}, string>>, 'required'> & { readonly required: ${required} };\n`,
    )
    .join('');

function queryInterface(name: string, { query, anyQuery, title }: Operation, texts: TypeTexts): string {
  const parameters = Object.entries(query);
  const lines = parameters.map(([parameter, facts]) => {
    const type = givenType(facts.schema, texts);
    const text = facts.required ? `${parameter}: ${type}` : `${parameter}?: ${type} | undefined`;
    return `${docComment([describeParameter(facts)], '  ')}  readonly ${text};\n`;
  });
  if (anyQuery && lines.length === 0) return `export type ${name} = AnyQuery;\n`;
  if (anyQuery) throw new Error(`${name} has parameters of any name beside its own`);
  const none = '  readonly [name: string]: never;\n';
  return `/** The parameters of: ${title}. */\nexport interface ${name} {\n${lines.join('') || none}}\n`;
}

const hasRequired = ({ query }: Operation) => Object.values(query).some(({ required }) => required);

const hasRequiredMember = (schema: v.GenericSchema) => {
  const base = baseOf(schema);
  return !isObject(base) || Object.values(base.entries).some((member) => !isOmittable(member));
};

/** Declares options only for an operation that has some of its own. */
function optionsInterface(name: string, operation: Operation): string {
  const { headers = [], title } = operation;
  const lines = [
    ...(hasQueryOption(operation)
      ? [
          `  /** Query parameters, beside the body. */\n  readonly query${hasRequired(operation) ? '' : '?'}: ${name.replace(/Options$/, 'Query')};\n`,
        ]
      : []),
    ...(headers.length > 0
      ? [
          `  /** Headers that are forwarded to the upstream. */\n  readonly headers?: { ${headers.map((header) => `readonly ${header}?: string | undefined`).join('; ')} };\n`,
        ]
      : []),
  ];
  if (lines.length === 0) return '';
  const bases = takesKey(operation) ? 'CallOptions, KeyOption' : 'CallOptions';
  return `/** The options of: ${title}. */\nexport interface ${name} extends ${bases} {\n${lines.join('')}}\n`;
}

const takesKey = ({ sideEffect }: Operation) => sideEffect?.journal?.by === 'idempotency-key';

const hasQueryOption = ({ body, query, anyQuery }: Operation) =>
  body !== undefined && (anyQuery || Object.keys(query).length > 0);

function callInterface(
  name: string,
  operation: Operation,
  doc: readonly string[],
  input: string,
  result: string,
): string {
  const { body, headers, paging } = operation;
  const needsOptions = hasQueryOption(operation) && hasRequired(operation);
  const options =
    hasQueryOption(operation) || headers
      ? `${name}Options`
      : takesKey(operation)
        ? 'CallOptions & KeyOption'
        : 'CallOptions';
  const isInputNeeded = needsOptions || (body ? hasRequiredMember(body) : hasRequired(operation));
  const parameters = `(input${isInputNeeded ? `: ${input}` : `?: ${input} | undefined`}, options${needsOptions ? '' : '?'}: ${options})`;
  return [
    `/** The method of: ${operation.title}. */\n`,
    `export interface ${name}Call {\n`,
    docComment(doc, '  '),
    `  ${parameters}: Promise<${result}>;\n`,
    '  /** The same call, with text, status and headers in the result. */\n',
    `  answer${parameters}: Promise<Answer<${result}>>;\n`,
    ...(paging
      ? [
          '  /** Yields each page unchanged, from the first or from the given cursor to the last. Options apply to each page. */\n',
          `  pages${parameters}: AsyncGenerator<${result}, void, undefined>;\n`,
          '  /** Yields the records of all pages. A record at the end of a page and the start of the next is yielded once. */\n',
          `  items${parameters}: AsyncGenerator<${itemOf(result, paging.items)}, void, undefined>;\n`,
        ]
      : []),
    '}\n',
  ].join('');
}

const itemOf = (result: string, member: string | undefined) =>
  member === undefined ? `(${result})[number]` : `NonNullable<${result}['${member}']>[number]`;

/** Replaces the compiler's declarations. @param folder the built `lib/catalogue` */
export function declareEntries(folder: string): void {
  const entries = join(folder, 'entries.d.ts');
  const waiting = new Set(declaredOperations.map(({ id }) => id));
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name);
    if (!name.endsWith('.d.ts') || file === entries) continue;
    const path = relative(dirname(file), entries)
      .replace(/^(?!\.)/, './')
      .replace(/\.d\.ts$/, '.ts');
    const before = readFileSync(file, 'utf8');
    const after = before.replaceAll(entryPattern, (whole, id: string) =>
      waiting.delete(id) ? `export { ${id} } from '${path}';\n` : whole,
    );
    if (after !== before) writeFileSync(file, after);
  }
  if (waiting.size > 0) throw new Error(`The compiler declared no ${[...waiting].join(', ')}`);
  writeFileSync(entries, entryDeclarations());
}

/** Matches a constant whose type the compiler writes out, over several lines. */
const entryPattern = /^export declare const (\w+): \{\n[\s\S]*?^\};\n/gm;
