/** Each kind of parameter: what callers may write, and what is sent for it. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import {
  choice,
  choices,
  day,
  decimal,
  epoch,
  flag,
  instant,
  list,
  type Parameter,
  text,
  whole,
} from '../../lib/catalogue/parameters.ts';

const facts = { description: 'For this test.' };

const sentFor = (parameter: Parameter, value: unknown) => {
  const parsed = v.safeParse(parameter.schema, value);
  return parsed.success ? parsed.output : undefined;
};

const kinds: Readonly<
  Record<
    string,
    {
      readonly parameter: Parameter;
      readonly taken: readonly (readonly [given: unknown, sent: string])[];
      readonly refused: readonly unknown[];
    }
  >
> = {
  choice: {
    parameter: choice(['US_STOCK', 'US_ETF'], facts),
    taken: [['US_ETF', 'US_ETF']],
    refused: ['', 'us_etf', ' US_ETF', 'US_STOCK,US_ETF', 1, undefined],
  },
  flag: {
    parameter: flag(facts),
    taken: [
      [true, 'true'],
      [false, 'false'],
      ['true', 'true'],
      ['True', 'true'],
      ['False', 'false'],
    ],
    refused: ['TRUE', 'yes', '1', 1, '', null],
  },
  whole: {
    parameter: whole({ ...facts, minimum: 1, maximum: 1200 }),
    taken: [
      [200, '200'],
      ['1', '1'],
      ['1200', '1200'],
      ['007', '7'],
    ],
    refused: [0, 1201, '0', '-1', '+1', '1.0', '1e2', ' 1', '', 1.5, Number.NaN, '1'.repeat(400)],
  },
  epoch: {
    parameter: epoch(facts),
    taken: [
      [1_792_591_500_412, '1792591500412'],
      ['1792591500412', '1792591500412'],
      [new Date(1_792_591_500_412), '1792591500412'],
      [0, '0'],
    ],
    refused: [-1, 1.5, '2026-10-21', new Date(Number.NaN), '999999999999999', ''],
  },
  instant: {
    parameter: instant(facts),
    taken: [
      ['2026-10-21T13:30:00.000Z', '2026-10-21T13:30:00.000Z'],
      ['2026-10-21T13:30:00Z', '2026-10-21T13:30:00.000Z'],
      ['2026-10-21T13:30:00.1239Z', '2026-10-21T13:30:00.123Z'],
      [new Date(Date.UTC(2026, 9, 21, 13, 30)), '2026-10-21T13:30:00.000Z'],
    ],
    refused: [
      '2026-10-21',
      '2026-10-21T13:30:00',
      '2026-02-30T00:00:00Z',
      '2026-10-21T24:30:00Z',
      '2026-10-21T13:30:00+02:00',
      '1999-12-31T23:59:59Z',
      '3000-01-01T00:00:00Z',
      new Date(Number.NaN),
      'yesterday',
      0,
    ],
  },
  day: {
    parameter: day(facts),
    taken: [
      ['2026-10-21', '2026-10-21'],
      ['2028-02-29', '2028-02-29'],
    ],
    refused: ['2026-02-29', '2026-13-01', '20261021', '2026-1-1', '', new Date()],
  },
  decimal: {
    parameter: decimal(facts),
    taken: [
      ['240', '240'],
      ['240.50', '240.50'],
    ],
    refused: [240, '-1', '1e3', '.5', '5.', '', '1,000'],
  },
  list: {
    parameter: list({ ...facts, maxItems: 3 }),
    taken: [
      ['AAPL', 'AAPL'],
      ['AAPL,MSFT', 'AAPL,MSFT'],
      [['AAPL', 'BRK B'], 'AAPL,BRK B'],
    ],
    refused: [
      '',
      ',',
      'A,',
      'A,,B',
      ' A',
      'A ,B',
      'A,B,C,D',
      'A\n',
      'É',
      [],
      [''],
      ['A,B'],
      ['A', 'B', 'C', 'D'],
    ],
  },
  choices: {
    parameter: choices(['PRE', 'RTH'], facts),
    taken: [
      ['PRE', 'PRE'],
      ['PRE,RTH', 'PRE,RTH'],
      [['RTH', 'PRE'], 'RTH,PRE'],
    ],
    refused: ['', 'PRE,', 'PRE,XYZ', 'pre', [], ['XYZ']],
  },
  text: {
    parameter: text({ ...facts, maxLength: 5 }),
    taken: [
      ['a b=c', 'a b=c'],
      ['+/=', '+/='],
    ],
    refused: ['', ' ', ' a', 'a ', 'abcdef', 'a\t', 'a&b', 'é', 1],
  },
};

for (const [kind, { parameter, taken, refused }] of Object.entries(kinds))
  describe(kind, () => {
    for (const [given, sent] of taken)
      test(`${JSON.stringify(given)} is sent as ${sent}`, () => {
        assert.equal(sentFor(parameter, given), sent);
      });
    for (const given of refused)
      test(`${String(JSON.stringify(given)).slice(0, 60)} is refused`, () => {
        assert.equal(sentFor(parameter, given), undefined);
      });
  });

test('what is sent for any text is sent for itself too: there is one form', () => {
  const parameters = operations.flatMap(({ query }) => Object.values(query));
  const fragments = [
    'AAPL',
    ',',
    'true',
    'True',
    '007',
    '2026-10-21',
    'T13:30:00',
    'Z',
    '+02:00',
    '1.50',
    'PRE',
  ];
  const texts = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...fragments), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.constantFrom(...parameters.flatMap(({ json }) => json.enum ?? [])),
    fc.nat({ max: 2000 }).map(String),
  );
  let sent = 0;
  fc.assert(
    fc.property(fc.constantFrom(...parameters), texts, (parameter, value) => {
      const output = sentFor(parameter, value);
      if (output === undefined) return;
      sent++;
      assert.equal(sentFor(parameter, output), output);
      // Nothing that the signature could not carry, and nothing that only a machine would see.
      assert.match(output, /^[ -%'-~]+$/);
    }),
    { numRuns: 3000 },
  );
  assert.ok(sent > 100, `${sent} of the texts were good`);
});

test('the documented form accepts what is sent, and refuses what is refused', () => {
  for (const { parameter, taken, refused } of Object.values(kinds)) {
    const fits = documented(parameter);
    for (const [, sent] of taken) assert.ok(fits(sent), `${sent} as ${JSON.stringify(parameter.json)}`);
    for (const given of refused)
      if (typeof given === 'string' && fits(given))
        // A pattern cannot express which days and hours exist; the format does.
        assert.match(parameter.json.format ?? '', /^date/, given);
  }
});

/** A parameter's OpenAPI schema, as far as a text can be checked against it. */
function documented({ json, list: several }: Parameter): (sent: string) => boolean {
  const one = (value: string) =>
    (json.enum?.includes(value) ?? true) &&
    new RegExp(json.pattern ?? '').test(value) &&
    value.length <= (json.maxLength ?? Infinity) &&
    (json.type !== 'boolean' || /^(true|false)$/.test(value)) &&
    (json.type !== 'integer' ||
      (/^\d+$/.test(value) &&
        Number(value) >= (json.minimum ?? -Infinity) &&
        Number(value) <= (json.maximum ?? Infinity)));
  if (!several) return one;
  return (text) => {
    const items = text.split(several.separator);
    return items.length <= (several.maxItems ?? Infinity) && items.every(one);
  };
}
