/** Rules for every entry of the catalogue, also for later ones. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { groups, type Operation, operations, routesOf, type Source } from '../../lib/catalogue/index.ts';
import { memberNames } from '../../lib/catalogue/places.ts';
import { validate } from '../../lib/gateway/validate.ts';
import { isRefusal } from '../../lib/problem.ts';
import { catalogueSize } from '../support/catalogue-size.ts';

/** Strongest first. */
const sources: readonly Source[] = [
  'interface',
  'observed',
  'vendor-sdk',
  'vendor-docs',
  'inferred',
  'gateway',
];

const none = { limit: undefined, freshness: undefined, sideEffect: undefined, gatewayAnswer: undefined };

const requestOf = (query: Readonly<Record<string, string>>, body?: string) => ({
  method: '',
  path: '',
  query: Object.entries(query),
  headers: { 'content-type': 'application/json' },
  requestId: '1',
  ...(body !== undefined && { body: new TextEncoder().encode(body) }),
});

test('an operation with a count for each of several symbols says how large a record is, if it is known, and no other does', () => {
  const takesMany = ({ title, query, body }: Operation) => {
    const members = body ? memberNames(body) : Object.keys(query);
    // A footprint has a member for each price of its time.
    return members.includes('symbols') && members.includes('count') && !/footprint/i.test(title);
  };
  const many = operations.filter(takesMany);
  assert.ok(many.length >= 3, `${many.length}`);
  assert.deepEqual(
    operations.filter(({ recordBytes }) => recordBytes !== undefined),
    many,
  );
});

test('the operations in ten groups; no id and no path is that of two', () => {
  assert.equal(operations.length, catalogueSize.operations);
  assert.equal(new Set(operations.map(({ id }) => id)).size, catalogueSize.operations);
  assert.deepEqual(new Set(operations.map(({ group }) => group)), new Set(Object.keys(groups)));
  const paths = routesOf(operations).map(({ path }) => path);
  assert.equal(paths.length, catalogueSize.paths);
  assert.equal(new Set(paths).size, paths.length);
});

for (const operation of operations)
  describe(operation.id, () => {
    const { query = {}, body } = operation.example;
    const bodyText = operation.body ? JSON.stringify(body) : undefined;

    test('its example is a good request, in the form in which it is sent', () => {
      const checked = validate(operation, requestOf(query, bodyText));
      assert.ok(!isRefusal(checked), JSON.stringify(checked));
      assert.deepEqual(Object.fromEntries(checked.query), query);
      assert.equal(checked.body, bodyText ?? '');
    });

    test('every parameter that is missing or wrong is named, with the allowed and the received value', () => {
      const parameters = Object.entries(operation.query);
      const missing = validate(operation, requestOf({}, bodyText));
      const required = parameters.filter(([, parameter]) => parameter.required);
      if (required.length === 0) assert.ok(!isRefusal(missing));
      else {
        assert.ok(isRefusal(missing));
        assert.deepEqual(
          missing.errors?.map(({ name, detail, allowed }) => [name, detail, allowed]),
          required.map(([name, { allowed }]) => [name, 'required', allowed]),
        );
      }
      if (parameters.length === 0) return;
      // A control character is nowhere allowed.
      const wrong = validate(
        operation,
        requestOf(Object.fromEntries(parameters.map(([name]) => [name, '\u0007'])), bodyText),
      );
      assert.ok(isRefusal(wrong));
      assert.deepEqual(
        wrong.errors?.map(({ in: where, name, allowed, received }) => [where, name, allowed, received]),
        parameters.map(([name, { allowed }]) => ['query', name, allowed, '\u0007']),
      );
    });

    test('an unknown parameter is refused, unless the entry takes any', () => {
      const checked = validate(operation, requestOf({ ...query, something_else: '1' }, bodyText));
      if (operation.anyQuery) {
        assert.ok(!isRefusal(checked));
        assert.deepEqual(checked.query.at(-1), ['something_else', '1']);
      } else {
        assert.ok(isRefusal(checked));
        assert.deepEqual(
          checked.errors?.map(({ name, detail }) => [name, detail]),
          [['something_else', 'unknown parameter']],
        );
      }
    });

    test('it names the source of each fact, and how to find out the outcome of a change whose answer is lost', () => {
      for (const from of Object.values(operation.sources)) assert.ok(from.length > 0);
      assert.ok(operation.method === 'POST' || (!operation.body && !operation.sideEffect));
      // A 200 that says that the request failed is an unknown outcome: that needs a way to find it out.
      if (operation.verdict !== undefined) assert.ok(operation.sideEffect);
      if (operation.sideEffect) assert.match(operation.sideEffect.findOut, /^[A-Z].*\.$/);
      const notes = operation.notes ?? [];
      for (const text of [...notes.map((note) => note.text), ...(operation.decisions ?? [])])
        assert.match(text, /^\S.*\.$/);
      for (const { source } of notes) assert.ok(sources.includes(source), source);
      if (!operation.sources.path.includes('interface'))
        assert.ok(operation.decisions?.length, 'says that the path is not the interface text’s');
    });

    test('it is the gateway’s own exactly when the gateway answers it of what it keeps', () => {
      const { answeredBy, sources, limit, freshness, sideEffect, gatewayAnswer } = operation;
      const isOwn = Object.values(sources).some((from: readonly Source[]) => from.includes('gateway'));
      assert.equal(answeredBy !== undefined, isOwn);
      if (!answeredBy) return;
      assert.equal(operation.method, 'GET');
      assert.deepEqual({ limit, freshness, sideEffect, gatewayAnswer }, none);
    });

    test('it is answered without a key exactly when the gateway answers it by itself, with what fits', () => {
      const { gatewayAnswer, group, response, limit, freshness, sideEffect } = operation;
      assert.equal(gatewayAnswer !== undefined, groups[group].exposure === 'public');
      if (!gatewayAnswer) return;
      assert.ok(v.is(response, JSON.parse(gatewayAnswer.body)));
      assert.equal(operation.method, 'GET');
      assert.match(gatewayAnswer.body, /^[ -"%-~]+$/, 'API Gateway would read $ and # as a template');
      assert.match(gatewayAnswer.reason, /^[a-z].*[^.]$/);
      assert.deepEqual([limit, freshness, sideEffect], [undefined, undefined, undefined]);
    });

    test('its paging, if it has any, goes by a parameter and members that it has', () => {
      const { paging } = operation;
      if (!paging) return;
      assert.ok(operation.query[paging.parameter], paging.parameter);
      assert.equal(operation.query[paging.parameter]?.required, false);
      const record = { [('ofLastItem' in paging.next && paging.next.ofLastItem) || 'any']: 'x' };
      const page = paging.items ? { [paging.items]: [record], pagination_key: 'x' } : [record];
      assert.equal(Array.isArray(page), paging.items === undefined);
      assert.equal(v.is(v.array(v.unknown()), page), operation.response.type === 'array');
    });
  });
