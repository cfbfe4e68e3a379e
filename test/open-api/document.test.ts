/** The catalogue's operations in the document. */

import assert from 'node:assert/strict';
import * as v from 'valibot';
import { test } from 'vitest';
import type { AccessMode } from '../../infra/access-modes.ts';
import { problem, refusal } from '../../infra/open-api/problem-schema.ts';
import {
  type Group,
  getConfig,
  getOrderOutcome,
  getStockSnapshots,
  listAccounts,
  openByDefault,
  placeOrder,
} from '../../lib/catalogue/index.ts';
import { type RefusalCode, refusalKinds } from '../../lib/gateway/index.ts';
import { catalogueSize } from '../support/catalogue-size.ts';
import { each } from '../support/each.ts';
import { documentOf, exposed } from './support.ts';

const document = documentOf();
const operationObjects = Object.values(document.paths).flatMap((path) => Object.values(path));
const objectOf = ({ path, method }: { path: string; method: string }) =>
  document.paths[path]![method.toLowerCase()]!;

test('one path for each operation a gateway can offer, under the id that it has in the catalogue', () => {
  assert.equal(exposed.length, catalogueSize.exposed.operations);
  assert.deepEqual(
    exposed.map((operation) => objectOf(operation).operationId),
    exposed.map(({ id }) => id),
  );
  assert.equal(operationObjects.length, exposed.length);
  for (const operation of exposed) {
    const { 'x-aliases': aliases = [], description, tags } = objectOf(operation);
    assert.deepEqual(aliases, operation.aliases);
    for (const alias of aliases) assert.ok(description.includes(`\`${alias}\``), alias);
    assert.deepEqual(tags, [operation.group]);
  }
});

test('parameters document what is checked', () => {
  const [symbols, category, extended] = objectOf(getStockSnapshots).parameters!;
  assert.deepEqual(
    { ...symbols, description: '', schema: { ...symbols?.schema, items: {} } },
    {
      name: 'symbols',
      in: 'query',
      required: true,
      description: '',
      style: 'form',
      explode: false,
      schema: { type: 'array', items: {}, minItems: 1, maxItems: 100 },
      example: ['AAPL', 'MSFT'],
    },
  );
  assert.deepEqual(category?.schema, { type: 'string', enum: ['US_STOCK', 'US_ETF'] });
  assert.deepEqual(extended?.schema, { type: 'boolean' });
  assert.equal(extended?.required, undefined);
  assert.equal(extended?.example, true);
});

test('headers that are forwarded are parameters', () => {
  const [category] = objectOf(placeOrder).parameters!;
  assert.deepEqual([category?.name, category?.in, category?.required], ['category', 'header', undefined]);
});

test('no pattern depends on how a language reads \\d', () => {
  assert.doesNotMatch(JSON.stringify(document), /"pattern":"[^"]*\\\\d/);
});

test('every operation has an example of its request', () => {
  for (const operation of exposed) {
    const { parameters = [], requestBody } = objectOf(operation);
    for (const { name, required, example } of parameters)
      if (required) assert.notEqual(example, undefined, `${operation.id} ${name}`);
    if (requestBody)
      assert.notEqual(requestBody.content['application/json']?.example, undefined, operation.id);
  }
});

test('examples of answers fit their schemas, are short, and are the same every time', () => {
  let found = 0;
  for (const operation of exposed) {
    const example = objectOf(operation).responses[200]?.content?.['application/json']?.example;
    if (example === undefined) continue;
    found++;
    assert.ok(v.is(operation.response, example), operation.id);
    assert.ok(JSON.stringify(example).length < 6000, operation.id);
  }
  assert.ok(found > 0);
  assert.deepEqual(documentOf(), document);
});

test('a key is required where a group is open, and an AWS signature where it belongs to one account', () => {
  assert.deepEqual(objectOf(getStockSnapshots).security, [{ api_key: [] }]);
  assert.deepEqual(objectOf(placeOrder).security, [{ sigv4: [] }]);
  const local = documentOf({ access: () => 'api-key' });
  assert.deepEqual(Object.keys(local.components.securitySchemes), ['api_key']);
  assert.deepEqual(local.paths[placeOrder.path]?.post?.security, [{ api_key: [] }]);
});

test('what the gateway answers by itself takes no key, and says what it always answers', () => {
  const { security, responses } = objectOf(getConfig);
  assert.deepEqual(security, []);
  assert.deepEqual(Object.keys(responses), ['200', '400']);
  assert.deepEqual(responses[200]?.content?.['application/json']?.example, { token_check_enabled: false });
  const { securitySchemes } = documentOf({ operations: [getConfig] }).components;
  assert.deepEqual(securitySchemes, {});
});

test('each way to show who calls is named as callers need it, with the scope', () => {
  const access = (mode: AccessMode) => (group: Group) => (group === 'orders' ? mode : 'api-key');
  const orderOf = (mode: AccessMode) => {
    const { paths, components } = documentOf({
      operations: [placeOrder, getStockSnapshots],
      access: access(mode),
    });
    return { ...paths[placeOrder.path]?.post, schemes: components.securitySchemes };
  };
  const both = { api_key: [], bearerAuth: [] };
  const { schemes, ...jwt } = orderOf('jwt');
  assert.deepEqual(jwt.security, [both]);
  assert.deepEqual([jwt['x-scope'], Object.keys(schemes)], ['trade', ['api_key', 'bearerAuth']]);
  assert.deepEqual(orderOf('bound-key').security, [{ api_key: [] }, both]);
  assert.deepEqual(orderOf('iam').security, [{ sigv4: [] }]);

  const quotes = documentOf({ operations: [getStockSnapshots], access: () => 'jwt' });
  const quote = quotes.paths[getStockSnapshots.path]?.get;
  assert.deepEqual([quote?.security, quote?.['x-scope']], [[both], 'read']);
  assert.ok(quote && '401' in quote.responses && '401' in jwt.responses!);
  const open = documentOf({ operations: [getStockSnapshots], access: () => 'api-key' }).paths;
  assert.equal(open[getStockSnapshots.path]?.get?.['x-scope'], undefined);
});

test('older forms are deprecated, and say what to use', () => {
  for (const operation of exposed.filter(({ legacyOf }) => legacyOf)) {
    const { deprecated, description } = objectOf(operation);
    assert.equal(deprecated, true, operation.id);
    assert.match(description, new RegExp(`^\\*\\*Deprecated\\.\\*\\* .* use ${operation.legacyOf}\\.`));
  }
});

test('only what is exposed is there, and what that refers to', () => {
  const { paths, tags, components } = documentOf({ operations: [listAccounts] });
  assert.deepEqual(Object.keys(paths), [listAccounts.path]);
  assert.deepEqual(each(tags, 'name'), ['accounts']);
  assert.deepEqual(Object.keys(components.schemas), [
    'ListAccountsItem',
    'Problem',
    'ProblemError',
    'ProblemKnown',
    'ProblemKnownSnapshot',
    'Refusal',
  ]);
  assert.ok(openByDefault.length < document.tags.length);
});

test('every refusal of an operation is documented: its code, its status, the shape of the error', () => {
  const codesOf = (operation: { path: string; method: string }) =>
    Object.fromEntries(
      Object.entries(objectOf(operation).responses)
        .filter(([, { $ref }]) => $ref !== undefined)
        .map(([status, { $ref }]) => {
          const { content } = document.components.responses[$ref!.split('/').at(-1)!]!;
          return [status, Object.keys(content['application/problem+json']?.examples ?? {})];
        }),
    );
  const ofRead = codesOf(getStockSnapshots);
  const ofOrder = codesOf(placeOrder);
  assert.deepEqual(Object.keys(ofRead), ['400', '403', '404', '422', '429', '500', '502', '503', '504']);
  assert.deepEqual(
    Object.keys(ofOrder).filter((status) => !(status in ofRead)),
    ['401', '409', '413', '415'],
  );
  for (const operation of exposed) {
    const { 409: conflict = [], 503: away = [] } = codesOf(operation);
    const isJournaled = operation.sideEffect?.journal !== undefined;
    assert.equal(conflict.includes('idempotency_conflict'), isJournaled, operation.id);
    const tellsOfJournal = isJournaled || operation.answeredBy !== undefined;
    assert.equal(away.includes('journal_unavailable'), tellsOfJournal, operation.id);
  }
  const ofOwn = codesOf(getOrderOutcome);
  assert.deepEqual(ofOwn[404], ['unknown_operation']);
  assert.doesNotMatch(JSON.stringify(ofOwn), /upstream|budget_used_up/);
  assert.ok(ofOrder[502]?.includes('outcome_unknown') && !ofOrder[502].includes('upstream_error'));
  assert.ok(ofRead[502]?.includes('upstream_error') && !ofRead[502].includes('outcome_unknown'));
  const documented = new Set(Object.values({ ...ofRead, ...ofOrder }).flat());
  for (const codes of [ofRead, ofOrder])
    for (const some of Object.values(codes)) for (const code of some) documented.add(code);
  const ofPaths: readonly RefusalCode[] = ['unknown_operation', 'method_not_allowed'];
  assert.deepEqual(
    [...documented].sort(),
    Object.keys(refusalKinds)
      .filter((code) => !ofPaths.includes(code as RefusalCode))
      .sort(),
  );
});

test('changes take an Idempotency-Key, orders have their own ids, and both may be answered as replayed', () => {
  for (const operation of exposed) {
    const { parameters = [], responses } = objectOf(operation);
    const { journal } = operation.sideEffect ?? {};
    const key = parameters.find(({ name }) => name === 'idempotency-key');
    assert.equal(key !== undefined, journal?.by === 'idempotency-key', operation.id);
    assert.ok(!key?.required, operation.id);
    const headers = Object.keys(responses[200]?.headers ?? {});
    assert.equal(headers.includes('idempotent-replayed'), journal !== undefined, operation.id);
  }
});

test('every refusal has its examples in both forms, which differ by lists alone', () => {
  for (const { content } of Object.values(document.components.responses)) {
    assert.deepEqual(Object.keys(content), ['application/json', 'application/problem+json']);
    const nested = content['application/problem+json']?.examples ?? {};
    const flat = content['application/json']?.examples ?? {};
    assert.deepEqual(Object.keys(flat), Object.keys(nested));
    for (const [code, { value }] of Object.entries(nested)) {
      assert.ok(v.is(problem, value), code);
      assert.ok(v.is(refusal, flat[code]?.value), code);
      const texts = Object.entries(value as object).filter(([, member]) => typeof member !== 'object');
      assert.deepEqual(flat[code]?.value, Object.fromEntries(texts));
    }
  }
});
