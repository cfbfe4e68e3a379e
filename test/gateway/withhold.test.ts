/** Of a list of records of several accounts each reader gets its own, in the upstream's bytes and order. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { withholdRecords } from '../../lib/gateway/withhold.ts';

const ids = ['A1', 'B2', 'C3', 'ü😀'] as const;
const records = { list: '', by: 'account_id' };

const withheld = (text: string, granted: readonly string[], places = records): string | undefined => {
  const body = withholdRecords(new TextEncoder().encode(text), places, (id) => granted.includes(id));
  return body && new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
};

// Random lists as text, beside what they mean --------------------------------------------------------------------

/** A value as it is written, and every account that it names: by its text, or undefined where it is no text. */
interface Written {
  readonly text: string;
  readonly named: readonly (string | undefined)[];
}

const space = fc.constantFrom('', '', '', ' ', '\n\t');

/** The same text with some characters as escapes; both halves of a surrogate pair are, or neither is. */
const escaped = (text: string) =>
  fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map((which) => {
    const written = [...text].map((char, at) => (which[at] ? char.replace(/[\s\S]/g, asEscape) : char));
    return `"${written.join('')}"`;
  });

const asEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const id = fc.constantFrom(...ids);

/** At a member that names an account. */
const account: fc.Arbitrary<Written> = fc.oneof(
  { weight: 6, arbitrary: id.chain((one) => escaped(one).map((text) => ({ text, named: [one] }))) },
  { weight: 1, arbitrary: fc.constantFrom('null', '""').map((text) => ({ text, named: [''] })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('7', '1.10', '[]', '["A1"]', '{"id":"A1"}', 'true')
      .map((text) => ({ text, named: [undefined] })),
  },
);

/** Anywhere else: accounts that it names by chance are no accounts. */
const plain: fc.Arbitrary<Written> = fc
  .oneof(
    fc.constantFrom(
      '1.10',
      '12345678901234567890',
      'null',
      '"x"',
      '"{\\"account_id\\":\\"B2\\"}"',
      '"]"',
      '[]',
    ),
    fc.json({ maxDepth: 1 }).filter((text) => !/account/i.test(text)),
  )
  .map((text) => ({ text, named: [] }));

const accountName = fc.constantFrom(
  'account_id',
  'account_id',
  'account_id',
  'accountId',
  'ACCOUNT_ID',
  'Account_Id',
);
const otherName = fc.constantFrom(
  'user_id',
  'account_type',
  'account_number',
  'x',
  '',
  'my_account_id',
  '"',
  '\\',
);

interface MemberText extends Written {
  readonly isOwn: boolean;
}

const nameText = (name: string) => (/["\\]/.test(name) ? fc.constant(JSON.stringify(name)) : escaped(name));

const member = (value: fc.Arbitrary<Written>): fc.Arbitrary<MemberText> =>
  fc.oneof(
    accountName.chain((name) => memberOf(name, account, name === 'account_id')),
    otherName.chain((name) => memberOf(name, value, false)),
  );

const memberOf = (name: string, value: fc.Arbitrary<Written>, isOwn: boolean) =>
  fc
    .tuple(space, nameText(name), space, space, value, space)
    .map(([a, key, b, c, { text, named }, d]) => ({ text: `${a}${key}${b}:${c}${text}${d}`, named, isOwn }));

const { record } = fc.letrec<{ value: Written; record: Written & { readonly isAttributed: boolean } }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      plain,
      tie('record').map(({ text, named }) => ({ text, named })),
      fc.array(tie('record'), { maxLength: 2 }).map((all) => ({
        text: `[${all.map(({ text }) => text).join()}]`,
        named: all.flatMap(({ named }) => named),
      })),
    ),
    record: fc.array(member(tie('value')), { maxLength: 4 }).map((members) => ({
      text: `{${members.map(({ text }) => text).join()}}`,
      named: members.flatMap(({ named }) => named),
      isAttributed: members.some(({ isOwn, named }) => isOwn && named[0] !== undefined && named[0] !== ''),
    })),
  }),
);

const notRecord = fc.constantFrom('null', '7', '"A1"', '"account_id"', '["account_id","A1"]', '[]', 'true');

const element = fc.oneof(
  { weight: 5, arbitrary: record },
  { weight: 1, arbitrary: notRecord.map((text) => ({ text, named: [], isAttributed: false })) },
);

/** A list with its elements, each with the space behind it. */
const list = fc
  .tuple(space, fc.array(fc.tuple(space, element, space), { maxLength: 6 }), space)
  .map(([before, elements, after]) => ({
    elements: elements.map(([, one, behind]) => ({ ...one, text: one.text + behind })),
    text: `${before}[${elements.map(([a, { text }, b]) => `${a}${text}${b}`).join()}${elements.length ? '' : ' '}]${after}`,
    before,
    after,
  }));

const granted = fc.uniqueArray(id);

test('a record passes as it is written exactly when it names an account of the reader and no other', () => {
  let kept = 0;
  let lost = 0;
  fc.assert(
    fc.property(list, granted, ({ text, elements, before, after }, mine) => {
      JSON.parse(text);
      const visible = elements.filter(
        ({ named, isAttributed }) =>
          isAttributed &&
          named.every((one) => one === '' || (one !== undefined && mine.includes(one as 'A1'))),
      );
      kept += visible.length;
      lost += elements.length - visible.length;
      assert.equal(withheld(text, mine), `${before}[${visible.map((one) => one.text).join()}]${after}`);
    }),
    { numRuns: 2000 },
  );
  assert.ok(kept > 500 && lost > 500, `${kept} kept, ${lost} withheld`);
});

describe('what is no such list', () => {
  for (const text of ['{}', 'null', '"[]"', '7', '{"data":[{"account_id":"A1"}]}'])
    test(`${text} is withheld as a whole`, () => assert.equal(withheld(text, ['A1']), undefined));

  test('an empty list is one', () => assert.equal(withheld(' [ ] ', []), ' [] '));
});

describe('a list in a member', () => {
  const places = { list: '/da~1ta/all', by: 'account_id' };
  const of = (text: string) => withheld(text, ['A1'], places);

  test('is filtered, and what stands around it keeps its bytes', () => {
    assert.equal(
      of('{ "total": 2.0, "da/ta": { "all" : [ {"account_id":"B2"} , {"account_id":"A1"} ] , "x": 1 } }'),
      '{ "total": 2.0, "da/ta": { "all" : [{"account_id":"A1"} ] , "x": 1 } }',
    );
  });

  for (const [what, text] of [
    ['no list', '{"da/ta":{"all":{}}}'],
    ['no member', '{"da/ta":{}}'],
    ['two members', '{"da/ta":{"all":[{"x":"B2"}],"all":[]}}'],
    ['two members, one escaped', '{"da/ta":{"a\\u006cl":[{"x":"B2"}],"all":[]}}'],
    ['another account beside the list', '{"account_id":"B2","da/ta":{"all":[]}}'],
    ['another account behind the list', '{"da/ta":{"all":[]},"more":[{"accountId":"B2"}]}'],
  ] as const)
    test(`${what}: the answer is withheld`, () => assert.equal(of(text), undefined));
});
