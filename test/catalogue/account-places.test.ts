/**
 * Every place of an account is declared: what looks like one in any query, body or answer, older forms too, is either
 * declared or stands in one short list of what names no account.
 */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type * as v from 'valibot';
import { describe, test } from 'vitest';
import {
  baseOf,
  isArray,
  isObject,
  isRecord,
  isUnion,
  isWrapped,
} from '../../infra/open-api/schema-parts.ts';
import { accountsNamed, looksLikeAccount } from '../../lib/catalogue/account-places.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { type Operation, operations } from '../../lib/catalogue/index.ts';
import { each } from '../support/each.ts';

/** What looks like an account and names none, or none that its record does not name already. */
const namesNone: Readonly<Record<string, string>> = {
  account_type: 'the kind of an account: MARGIN or CASH',
  account_class: 'the kind of an account, more exactly',
  account_label: 'the kind of an account, in words',
  account_number: 'the broker’s number of the account of its record, which passes or is withheld as a whole',
  account_tax_type: 'how a position’s account is taxed',
  account_currency_assets: 'the amounts of the account that was asked for, by currency',
};

/** The JSON Pointer of every member that a schema has, with `*` for each element of a list. */
function* placesIn(schema: v.GenericSchema, at = ''): Generator<string> {
  const base = baseOf(schema);
  if (isWrapped(base)) yield* placesIn(base.wrapped, at);
  else if (isArray(base)) yield* placesIn(base.item, `${at}/*`);
  else if (isRecord(base)) yield* placesIn(base.value, `${at}/*`);
  else if (isUnion(base)) for (const option of base.options) yield* placesIn(option, at);
  else if (isObject(base))
    for (const [name, inner] of Object.entries(base.entries)) {
      yield `${at}/${name}`;
      yield* placesIn(inner, `${at}/${name}`);
    }
}

const lastOf = (pointer: string) => pointer.slice(pointer.lastIndexOf('/') + 1);

function placesOf({ query, body, response }: Operation) {
  return {
    query: Object.keys(query),
    body: body ? [...new Set(placesIn(body))] : [],
    answer: [...new Set(placesIn(response))],
  };
}

function declaredBy({ accounts: { query = [], body = [], records } = {} }: Operation) {
  return { query, body, answer: records ? [`${records.list}/*/${records.by}`] : [] };
}

const kinds = ['query', 'body', 'answer'] as const;

for (const operation of operations)
  test(`${operation.id} declares what looks like an account, and nothing that it does not have`, () => {
    const places = placesOf(operation);
    const declared = declaredBy(operation);
    for (const kind of kinds) {
      for (const place of places[kind])
        if (looksLikeAccount(lastOf(place)) && !Object.hasOwn(namesNone, lastOf(place)))
          assert.ok(declared[kind].includes(place), `${kind} ${place} is not declared`);
      for (const place of declared[kind]) assert.ok(places[kind].includes(place), `${kind} has no ${place}`);
    }
    // What no account is declared for is looked at by no step that follows.
    if (operation.accounts) assert.ok(isAccountData(operation.group));
  });

test('what names no account exists, and is declared nowhere', () => {
  const names = operations.flatMap((operation) =>
    kinds.flatMap((kind) => placesOf(operation)[kind].map(lastOf)),
  );
  const declared = operations.flatMap((operation) =>
    kinds.flatMap((kind) => declaredBy(operation)[kind].map(lastOf)),
  );
  for (const name of Object.keys(namesNone)) {
    assert.ok(names.includes(name), `${name} is in no schema`);
    assert.ok(!declared.includes(name), name);
  }
});

test('how many operations name accounts, and where', () => {
  const count = (kind: (typeof kinds)[number]) =>
    operations.filter((operation) => declaredBy(operation)[kind].length > 0).length;
  assert.deepEqual(kinds.map(count), [8, 5, 1]);
});

describe('the accounts of a body', () => {
  const places = { accounts: { body: ['/account_id', '/orders/*/account_id'] } };
  const read = (body: unknown) => accountsNamed(places, [], body);

  test('are those at the declared places, each once', () => {
    const { accounts, faults } = read({
      account_id: 'A',
      orders: [{ account_id: 'B' }, { account_id: 'A', legs: [] }],
    });
    assert.deepEqual([[...accounts].sort(), faults], [['A', 'B'], []]);
  });

  for (const [body, name] of [
    [{ account_id: 'A', accountId: 'B' }, '/accountId'],
    [{ account_id: 'A', ACCOUNT_ID: 'B' }, '/ACCOUNT_ID'],
    [{ account_id: 'A', orders: [{ legs: [{ account_id: 'B' }] }] }, '/orders/0/legs/0/account_id'],
    [{ account_id: 'A', orders: { account_id: 'B' } }, '/orders/account_id'],
    [{ account_id: 'A', 'to/account': 'B' }, '/to~1account'],
    [{ account_id: 'A', subAccounts: ['B'] }, '/subAccounts'],
    [{ account_id: 'A', account: null }, '/account'],
    [{ account_id: ['A'] }, '/account_id'],
    [{ account_id: { id: 'A' } }, '/account_id'],
    [{ account_id: 7 }, '/account_id'],
    [{ account_id: null }, '/account_id'],
    [{ account_id: 'A', orders: [{ account_id: null }] }, '/orders/0/account_id'],
    [JSON.parse('{"account_id":"A","__proto__":{"account_id":"B"}}'), '/__proto__/account_id'],
    [[{ account_id: 'B' }], '/0/account_id'],
  ] as const)
    test(`${JSON.stringify(body)} has a fault at ${name}`, () => {
      assert.deepEqual(each(read(body).faults, 'name'), [name]);
    });

  test('no name that looks like one is overlooked, however deep it stands', () => {
    const name = fc
      .tuple(fc.string({ maxLength: 3 }), fc.mixedCase(fc.constant('account')), fc.string({ maxLength: 3 }))
      .map((parts) => parts.join(''))
      .filter((text) => text !== 'account_id');
    const step = fc.oneof(fc.constantFrom('orders', 'legs', 'a/b', '~'), fc.nat(2));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 5 }), name, fc.jsonValue(), (steps, last, value) => {
        const inner: unknown = steps.reduceRight<unknown>(
          (deeper, one) => (typeof one === 'number' ? [...Array(one).fill(0), deeper] : { [one]: deeper }),
          { [last]: value },
        );
        const { accounts, faults } = read({ account_id: 'A', inner });
        assert.deepEqual([accounts, faults.length], [['A'], 1]);
      }),
    );
  });

  test('of a hostile body some faults are enough, and no depth is too deep', () => {
    const wide = JSON.parse(`{${Array.from({ length: 50_000 }, (_, at) => `"account${at}":1`).join()}}`);
    assert.equal(read(wide).faults.length, 20);
    const deep = JSON.parse(`${'[{"a":'.repeat(100_000)}{"account_id":"B"}${'}]'.repeat(100_000)}`);
    assert.equal(read({ account_id: 'A', deep }).faults.length, 1);
  });
});
