/** The document for generators: none of what their clients were seen to fail on, and nothing said that is wrong. */

import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, test } from 'vitest';
import type { JsonObject } from '../../infra/json.ts';
import { forGenerators } from '../../infra/open-api/for-generators.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { type Document, documentOf, objectsIn } from './support.ts';

for (const version of ['3.1', '3.0'] as const)
  describe(`OpenAPI ${version} for generators`, () => {
    const exact = documentOf({ version });
    const before = structuredClone(exact);
    const document = forGenerators(exact as unknown as JsonObject) as unknown as Document;
    const schemaObjects = [...objectsIn(document.components.schemas), ...objectsIn(document.paths)].filter(
      ([, path]) => !path.some((keyword) => /^examples?$/.test(keyword)),
    );

    test('has no union, and no text with a format that becomes something else', () => {
      for (const [schema, path] of schemaObjects) {
        assert.ok(!('oneOf' in schema) && !('anyOf' in schema), path.join('/'));
        assert.ok(schema.format === undefined || schema.format === 'int64', path.join('/'));
      }
    });

    test('says nothing of a type that is disputed', () => {
      const { properties } = document.components.schemas.PlaceOrderBody ? orderOf(document) : {};
      assert.deepEqual(properties?.place_time, {});
      assert.ok(!('Moment' in document.components.schemas));
    });

    test('has refusals in their flat form alone', () => {
      assert.ok(Object.keys(document.components.schemas).includes('Refusal'));
      assert.ok(!JSON.stringify(document.components).includes('application/problem+json'));
    });

    test('has texts for decimals, with their pattern', () => {
      const { quantity } = document.components.schemas.PlaceOrderBodyNewOrder?.properties ?? {};
      assert.equal(quantity?.type, 'string');
      assert.match(String(quantity?.pattern), /^\^/);
    });

    test('has a name for the enumeration of several places, unless a named one has a value of it', () => {
      const named = Object.entries(document.components.schemas).filter(([, schema]) => schema.enum);
      const values = named.flatMap(([, schema]) => schema.enum ?? []);
      assert.equal(new Set(values).size, values.length, 'no value is in two');
      const others = schemaObjects.filter(
        ([schema, path]) => path.length > 1 && schema.type === 'string' && Array.isArray(schema.enum),
      );
      const keys = others.map(([schema]) => JSON.stringify(schema.enum));
      for (const [at, [schema, path]] of others.entries())
        assert.ok(
          (schema.enum as string[]).some((value) => values.includes(value)) ||
            keys.indexOf(keys[at]!) === keys.lastIndexOf(keys[at]!),
          path.join('/'),
        );
      assert.deepEqual(document.components.schemas.Category?.enum, ['US_STOCK', 'US_ETF']);
      console.log(
        `enumerations in OpenAPI ${version}: ${named.length} named, ${others.length} at their places`,
      );
    });

    test('asks of an order that is placed for members that only old clients leave out, and of no other', () => {
      const { required: asked, properties } = document.components.schemas.PlaceOrderBodyNewOrder ?? {};
      const required = (asked ?? []) as readonly string[];
      for (const name of ['combo_type', 'instrument_type', 'market', 'symbol'])
        assert.ok(required.includes(name), name);
      assert.deepEqual(document.components.schemas.SupportTradingSession?.enum, [
        'ALL',
        'CORE',
        'NIGHT',
        'ALL_DAY',
      ]);
      assert.ok(properties?.quantity && !required.includes('quantity'));
      for (const [name, schema] of Object.entries(document.components.schemas))
        if (!/Body/.test(name) && exact.components.schemas[name])
          assert.deepEqual(schema.required, exact.components.schemas[name]?.required, name);
    });

    test('refers to what it has, and has what is referred to', () => {
      const referred = new Set(
        [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name),
      );
      assert.deepEqual([...referred].sort(), Object.keys(document.components.schemas).sort());
    });

    test('has no schema that is called like a type that generators make themselves, or that a language has', () => {
      const made = new Set(
        Object.values(document.paths)
          .flatMap((path) => Object.values(path))
          .flatMap(({ operationId }) => {
            const id = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}`;
            return [`${id}Response`, `${id}Params`, `${id}Request`];
          }),
      );
      // A parameter is called `type`, and java.lang.reflect.Type is imported beside its enumeration.
      for (const name of ['Type', 'Error', 'Result', 'Data', 'Object']) made.add(name);
      for (const name of Object.keys(document.components.schemas)) assert.ok(!made.has(name), name);
    });

    test('has no two members of an object whose names are one in code', () => {
      for (const [{ properties }, path] of schemaObjects) {
        if (!properties) continue;
        const names = Object.keys(properties).map((name) => name.replaceAll('_', '').toLowerCase());
        assert.equal(new Set(names).size, names.length, path.join('/'));
      }
    });

    test('takes every request and every answer that the exact document has as an example', () => {
      const Validator = version === '3.1' ? Ajv2020 : Ajv;
      const ajv = new Validator({ strict: false, validateFormats: false });
      ajv.addSchema({ $id: 'document', components: document.components });
      let checked = 0;
      for (const { path, method } of operations) {
        const operation = document.paths[path]?.[method.toLowerCase()];
        const body = operation?.requestBody?.content['application/json'];
        const answer = operation?.responses[200]?.content?.['application/json'];
        for (const { schema, example } of [body, answer].flatMap((one) => (one ? [one] : []))) {
          if (example === undefined) continue;
          const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
          assert.ok(ajv.validate(JSON.parse(text), example), `${path}: ${ajv.errorsText()}`);
          checked++;
        }
      }
      assert.ok(checked > 60, `${checked} examples`);
    });

    test('leaves the exact document as it is', () => {
      assert.deepEqual(exact, before);
    });
  });

const orderOf = ({ components }: Document) =>
  Object.values(components.schemas).find(({ properties }) => properties?.place_time) ?? {};
