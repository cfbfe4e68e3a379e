/** Names of schemas, and how a schema is written in each dialect. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { namesFor } from '../../infra/open-api/schema-names.ts';
import { baseOf } from '../../infra/open-api/schema-parts.ts';
import { createSchemas } from '../../infra/open-api/schemas.ts';
import { listAccounts, type Operation, operations } from '../../lib/catalogue/index.ts';
import { decimal, decimalText, moment, omittable } from '../../lib/catalogue/schemas.ts';
import { documentOf, objectsIn } from './support.ts';

const operation = (id: string, response: v.GenericSchema, more: Partial<Operation> = {}): Operation => ({
  ...listAccounts,
  id,
  path: `/${id}`,
  aliases: [],
  response,
  ...more,
});

const schemasOf = (some: readonly Operation[]) => documentOf({ operations: some }).components.schemas;
const namesOf = (some: readonly Operation[]) =>
  Object.keys(schemasOf(some)).filter((name) => !/^(Problem|Refusal)/.test(name));

describe('a schema is named', () => {
  test('by where it stands', () => {
    const part = () => v.looseObject({ a: v.string() });
    const response = v.looseObject({
      one: part(),
      legs: v.optional(v.array(part())),
      by_key: v.record(v.string(), v.nullable(part())),
    });
    const body = v.looseObject({ new_entries: v.array(part()) });
    assert.deepEqual(namesOf([operation('getIt', response, { body })]), [
      'GetItAnswer',
      'GetItBody',
      'GetItBodyNewEntry',
      'GetItByKey',
      'GetItLeg',
      'GetItOne',
    ]);
  });

  test('as an item, when it is a record of a list or of a page', () => {
    const record = () => v.looseObject({ a: v.string() });
    const page = v.looseObject({ data: v.array(record()), next: v.optional(v.string()) });
    const paging = { parameter: 'next', items: 'data', next: { member: 'next' } } as const;
    assert.deepEqual(namesOf([operation('listThem', v.array(record()))]), ['ListThemItem']);
    assert.deepEqual(namesOf([operation('listPages', page, { paging })]), [
      'ListPagesAnswer',
      'ListPagesItem',
    ]);
  });

  test('by its title, and what is in it accordingly', () => {
    const titled = v.pipe(v.looseObject({ fees: v.array(v.looseObject({ a: decimal })) }), v.title('Thing'));
    const { Thing } = schemasOf([operation('listThem', v.array(titled))]);
    assert.deepEqual(Thing?.properties?.fees?.items, { $ref: '#/components/schemas/ThingFee' });
    assert.equal(Thing?.title, undefined);
  });

  test('once, wherever it stands; another one is not given its name', () => {
    const shared = v.looseObject({ a: v.string() });
    assert.deepEqual(namesOf([operation('getOne', shared), operation('listAll', v.array(shared))]), [
      'GetOneAnswer',
    ]);
    const titled = () => v.pipe(v.looseObject({ a: v.string() }), v.title('Same'));
    assert.throws(() => namesOf([operation('a', titled()), operation('b', titled())]), /called Same/);
  });

  test('the same in a document of one operation as in one of all', () => {
    const all = namesFor(operations);
    for (const one of operations)
      for (const [schema, name] of namesFor([one])) assert.equal(all.get(schema), name);
  });

  test('in letters and digits, which is all that API Gateway takes', () => {
    for (const name of namesFor(operations).values()) assert.match(name, /^[A-Z][A-Za-z0-9]*$/);
  });
});

const everything = v.looseObject({
  maybe: v.optional(v.nullable(decimalText)),
  reported: v.optional(decimal),
  omitted: omittable(decimalText),
  legs: omittable(v.pipe(v.array(v.string()), v.description('Some.'))),
  count: omittable(v.pipe(v.union([v.number(), v.string()]), v.description('Some.'))),
  time: v.union([v.number(), v.string(), v.null()]),
  choice: v.nullish(v.picklist(['A', 'B'])),
  when: v.pipe(moment, v.description('When it was.')),
  never: v.nullable(moment),
  day: v.pipe(v.string(), v.isoDate()),
  lists: v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1)),
  either: v.union([v.string(), v.picklist(['A'])]),
  map: v.record(v.string(), decimalText),
});

function written(dialect: '3.1' | '3.0' | 'api-gateway') {
  const schemas = createSchemas(namesFor([operation('getIt', everything)]), dialect);
  assert.deepEqual(schemas.of(everything, 'request'), { $ref: '#/components/schemas/GetItAnswer' });
  const components = schemas.components() as Record<string, { properties?: object; required?: object }>;
  return { ...components.GetItAnswer?.properties } as Record<string, unknown>;
}

const number = { type: 'string', pattern: '^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?$' };
const orNone = { ...number, pattern: '^([+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?)?$' };
const texts = { type: 'array', items: { type: 'string' } };
const aDay = { type: 'string', pattern: '^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:[12][0-9]|0[1-9]|3[01])$' };
const ref = { $ref: '#/components/schemas/Moment' };

describe('a schema is written', () => {
  test('for OpenAPI 3.1', () => {
    assert.deepEqual(written('3.1'), {
      maybe: { ...number, format: 'decimal', type: ['string', 'null'] },
      reported: { ...orNone, format: 'decimal', type: ['string', 'null'] },
      omitted: { ...number, format: 'decimal', type: ['string', 'null'] },
      legs: { ...texts, type: ['array', 'null'], description: 'Some.' },
      count: { oneOf: [{ type: 'number' }, { type: 'string' }, { type: 'null' }], description: 'Some.' },
      time: { oneOf: [{ type: 'number' }, { type: 'string' }, { type: 'null' }] },
      choice: { type: ['string', 'null'], enum: ['A', 'B', null] },
      when: { ...ref, description: 'When it was.' },
      never: { anyOf: [ref, { type: 'null' }] },
      day: { ...aDay, format: 'date' },
      lists: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
      either: { anyOf: [{ type: 'string' }, { type: 'string', enum: ['A'] }] },
      map: { type: 'object', additionalProperties: { ...number, format: 'decimal' } },
    });
  });

  test('for OpenAPI 3.0, which has no null and reads nothing beside a reference', () => {
    assert.deepEqual(written('3.0'), {
      maybe: { ...number, format: 'decimal', nullable: true },
      reported: { ...orNone, format: 'decimal', nullable: true },
      omitted: { ...number, format: 'decimal', nullable: true },
      legs: { ...texts, nullable: true, description: 'Some.' },
      count: { oneOf: [{ type: 'number', nullable: true }, { type: 'string' }], description: 'Some.' },
      time: { oneOf: [{ type: 'number', nullable: true }, { type: 'string' }] },
      choice: { type: 'string', enum: ['A', 'B', null], nullable: true },
      when: { allOf: [ref], description: 'When it was.' },
      never: { allOf: [ref], nullable: true },
      day: { ...aDay, format: 'date' },
      lists: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
      either: { anyOf: [{ type: 'string' }, { type: 'string', enum: ['A'] }] },
      map: { type: 'object', additionalProperties: { ...number, format: 'decimal' } },
    });
  });

  test('for API Gateway without what its models do not know', () => {
    assert.deepEqual(written('api-gateway'), {
      maybe: {},
      reported: {},
      omitted: {},
      legs: {},
      count: {},
      time: {},
      choice: {},
      when: ref,
      never: {},
      day: aDay,
      lists: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
      either: {},
      map: { type: 'object' },
    });
  });

  test('with a union as oneOf, where no value can be of two of its types', () => {
    const { Moment, WatchlistChange, OptionBarsAnswer } = documentOf().components.schemas;
    assert.deepEqual(WatchlistChange, {
      oneOf: [{ type: 'boolean' }, { $ref: '#/components/schemas/WatchlistChangeResult' }],
    });
    assert.deepEqual(OptionBarsAnswer, {
      oneOf: [
        { type: 'array', items: { $ref: '#/components/schemas/OptionBars' } },
        { $ref: '#/components/schemas/OptionBarsEnvelope' },
      ],
    });
    assert.deepEqual(
      Moment?.oneOf?.map(({ type, format }) => [type, format]),
      [
        ['integer', 'int64'],
        ['string', undefined],
      ],
    );
  });
});

test('decimals are texts everywhere', () => {
  for (const [schema, path] of objectsIn(documentOf()))
    if (schema.format === 'decimal')
      assert.ok(schema.type === 'string' || String(schema.type) === 'string,null', path.join('/'));
});

test('an object in a schema is a component, so that generators have a name for it', () => {
  for (const [schema, path] of objectsIn(documentOf().components.schemas))
    if (schema.properties && path.at(-1) !== 'properties') assert.equal(path.length, 1, path.join('/'));
});

test('what a pipe adds does not make another schema of it', () => {
  assert.equal(baseOf(v.pipe(v.pipe(moment, v.description('a')), v.description('b'))), moment);
});
