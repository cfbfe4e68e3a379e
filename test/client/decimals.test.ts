/** Decimals against integers: a decimal with n places is a whole number of 10^-n. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import {
  addDecimals,
  compareDecimals,
  decimalParts,
  decimalToNumber,
  fixedDecimal,
  multiplyDecimals,
  plainDecimal,
  subtractDecimals,
} from '../../lib/client/index.ts';

const places = 30;

/** A value as an integer of 10^-30, and one of the many ways to write it. */
const written = fc
  .record({
    value: fc.oneof(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), fc.bigInt({ min: -100n, max: 100n })),
    shift: fc.integer({ min: -40, max: 40 }),
    plus: fc.boolean(),
    upper: fc.boolean(),
    zeros: fc.nat(3),
  })
  .map(({ value, shift, plus, upper, zeros }) => {
    // value × 10^-30 = (value × 10^-scale) × 10^(scale - 30)
    const scale = places + shift > 0 ? places + shift : 0;
    const digits = `${value < 0n ? -value : value}`.padStart(scale + 1, '0');
    const at = digits.length - scale;
    const fraction = digits.slice(at) + '0'.repeat(scale > 0 ? zeros : 0);
    const sign = value < 0n ? '-' : plus ? '+' : '';
    const exponent = scale - places;
    const text = `${sign}${'0'.repeat(zeros)}${digits.slice(0, at)}${fraction && `.${fraction}`}`;
    return { value, text: exponent === 0 ? text : `${text}${upper ? 'E' : 'e'}${exponent}` };
  });

/** The reference: a text without exponent, as an integer of 10^-n. */
function integerOf(text: string, n: number): bigint {
  assert.match(text, /^-?\d+(\.\d+)?$/);
  const [whole = '', fraction = ''] = text.split('.');
  assert.ok(fraction.length <= n, text);
  return BigInt(whole + fraction.padEnd(n, '0'));
}

const sign = (value: bigint) => (value > 0n ? 1 : value < 0n ? -1 : 0);

describe('decimals', () => {
  test('however written, plain text has their value, in one form', () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        const plain = plainDecimal(text);
        assert.equal(integerOf(plain, places), value);
        assert.match(plain, /^(-?(0|[1-9]\d*)(\.\d*[1-9])?)$/);
        assert.notEqual(plain, '-0');
        assert.equal(plainDecimal(plain), plain);
        const { sign: s, digits, scale } = decimalParts(text);
        assert.equal(s, sign(value));
        assert.equal(BigInt(s) * digits * 10n ** 200n, value * 10n ** BigInt(200 + scale - places));
      }),
    );
  });

  test('compare, add, subtract and multiply as integers do', () => {
    fc.assert(
      fc.property(written, written, (a, b) => {
        assert.equal(compareDecimals(a.text, b.text), sign(a.value - b.value));
        assert.equal(integerOf(addDecimals(a.text, b.text), places), a.value + b.value);
        assert.equal(integerOf(subtractDecimals(a.text, b.text), places), a.value - b.value);
        assert.equal(integerOf(multiplyDecimals(a.text, b.text), 2 * places), a.value * b.value);
      }),
    );
  });

  test('are rounded to the nearest, ties by the given rule', () => {
    fc.assert(
      fc.property(
        written,
        fc.integer({ min: 0, max: places }),
        fc.constantFrom('half-up' as const, 'half-even' as const, 'down' as const),
        ({ value, text }, n, rounding) => {
          const fixed = fixedDecimal(text, n, rounding);
          assert.match(fixed, n > 0 ? new RegExp(`^-?\\d+\\.\\d{${n}}$`) : /^-?\d+$/);
          const unit = 10n ** BigInt(places - n);
          const rounded = integerOf(fixed, n);
          const off = value - rounded * unit;
          const twice = 2n * (off < 0n ? -off : off);
          if (rounding === 'down') {
            assert.ok(twice < 2n * unit);
            assert.ok(off === 0n || sign(off) === sign(value));
          } else {
            assert.ok(twice <= unit);
            if (twice === unit)
              assert.ok(rounding === 'half-even' ? rounded % 2n === 0n : sign(off) !== sign(value));
          }
        },
      ),
    );
  });

  test('name a binary number that has another value', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        // Anything that a number prints is that number again.
        assert.deepEqual(decimalToNumber(`${number}`), { number: number === 0 ? 0 : number, exact: true });
        assert.equal(decimalToNumber(`${fixedDecimal(`${number}`, 340)}00001`).exact, false);
      }),
    );
    assert.deepEqual(decimalToNumber('0.1'), { number: 0.1, exact: true });
    assert.equal(decimalToNumber('9007199254740993').exact, false);
    assert.equal(decimalToNumber('1e999').exact, false);
  });

  for (const [text, plain] of [
    ['1.78E8', '178000000'],
    ['1.', '1'],
    ['.5', '0.5'],
    ['+00.10', '0.1'],
    ['-0.000', '0'],
    ['-1e-3', '-0.001'],
    ['100', '100'],
    ['0e5', '0'],
    [`1e1000`, `1${'0'.repeat(1000)}`],
  ] as const)
    test(`${text.slice(0, 10)} is ${plain.slice(0, 12)}`, () => assert.equal(plainDecimal(text), plain));

  test('fixed, to show', () => {
    assert.equal(fixedDecimal('240.5', 2), '240.50');
    assert.equal(fixedDecimal('1.005', 2), '1.01');
    assert.equal(fixedDecimal('1.005', 2, 'half-even'), '1.00');
    assert.equal(fixedDecimal('-1.005', 2), '-1.01');
    assert.equal(fixedDecimal('-0.004', 2), '0.00');
    assert.equal(fixedDecimal('0.5', 0, 'half-even'), '0');
    for (const n of [-1, 0.5, 1001, Number.NaN])
      assert.throws(() => fixedDecimal('1', n), { name: 'RangeError', message: /^places: / });
  });

  test('are nothing else', () => {
    for (const text of [
      '',
      ' ',
      '.',
      '1 ',
      '1,0',
      '0x1',
      '1n',
      'NaN',
      'Infinity',
      '1e',
      '1e1001',
      '1e-1001',
      '--1',
      '１',
      '1_0',
    ])
      for (const call of [plainDecimal, decimalParts, decimalToNumber, (a: string) => addDecimals('1', a)])
        assert.throws(() => call(text), { name: 'RangeError' }, text);
    // A number has lost its digits already.
    for (const value of [1.5, 1n, null, undefined, {}])
      assert.throws(() => plainDecimal(value as unknown as string), { name: 'RangeError' });
  });
});
