/**
 * One wrong type in the document, and who finds it: a client whose language decodes strictly must, or the harness sees
 * nothing. `CLIENTS=all` asks every generator, and tells which of them find it.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { JsonObject } from '../../infra/json.ts';
import { orSkip } from '../support/missing.ts';
import type { Generator } from './generator.ts';
import { generators } from './generators/index.ts';
import { oapiCodegen } from './generators/oapi-codegen.ts';
import { attempt } from './trial.ts';

interface WrongType {
  readonly name: string;
  readonly schema: string;
  readonly member: string;
  readonly type: JsonObject;
}

const wrongTypes: readonly WrongType[] = [
  {
    name: 'a decimal of an answer as a number',
    schema: 'GetAccountBalanceAnswer',
    member: 'total_cash_balance',
    type: { type: 'number' },
  },
  {
    name: 'a decimal of a body as a number',
    schema: 'PlaceOrderBodyNewOrder',
    member: 'quantity',
    type: { type: 'number' },
  },
  {
    name: 'an integer of an answer as text',
    schema: 'GetStockSnapshotsItem',
    member: 'last_trade_time',
    type: { type: 'string' },
  },
  {
    name: 'one of the two forms of a time',
    schema: 'GetOrderOrder',
    member: 'place_time',
    type: { type: 'integer', format: 'int64' },
  },
  {
    name: 'a list as an object',
    schema: 'ListStockBarsAnswer',
    member: 'result',
    type: { type: 'object', properties: {} },
  },
];

interface Schemas {
  readonly components: {
    readonly schemas: Record<string, { readonly properties: Record<string, JsonObject> } | undefined>;
  };
}

const withWrong =
  ({ schema, member, type }: WrongType) =>
  (text: string): string => {
    const document = JSON.parse(text) as Schemas;
    const { properties } = document.components.schemas[schema] ?? {};
    assert.ok(properties?.[member], `${schema}.${member} is not in the document`);
    properties[member] = type;
    return JSON.stringify(document);
  };

const asked: readonly Generator[] =
  process.env.CLIENTS === 'all'
    ? generators.filter(({ documents, missing }) => !documents.includes('none') && !missing())
    : [oapiCodegen];

for (const wrong of wrongTypes)
  describe(wrong.name, orSkip(oapiCodegen.missing()), () => {
    test('is found', async () => {
      const found: string[] = [];
      for (const generator of asked) {
        const { failedAt } = await attempt(generator, 'for generators, 3.0', {
          name: wrong.name,
          of: withWrong(wrong),
        });
        if (failedAt) found.push(`${generator.name} (${failedAt})`);
      }
      console.log(`${wrong.name}: found by ${found.length} of ${asked.length} clients: ${found.join('; ')}`);
      assert.ok(found.some((one) => one.startsWith(oapiCodegen.name)));
    });
  });
