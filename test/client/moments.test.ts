import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { dayToDate, epochNanoseconds, toCompactDay, toDate, toDay } from '../../lib/client/index.ts';

const anyDate = fc.date({
  noInvalidDate: true,
  min: new Date('0100-01-01T00:00:00Z'),
  max: new Date('9999-12-31T00:00:00Z'),
});

describe('a moment', () => {
  test('is the same in each of its forms', () => {
    fc.assert(
      fc.property(
        anyDate,
        fc.integer({ min: -23 * 60, max: 23 * 60 }),
        fc.boolean(),
        (date, minutes, colon) => {
          const time = date.getTime();
          const offset = Math.abs(minutes);
          const [hours, rest] = [Math.trunc(offset / 60), offset % 60].map((n) => `${n}`.padStart(2, '0'));
          const zone = `${minutes < 0 ? '-' : '+'}${hours}${colon ? ':' : ''}${rest}`;
          const local = new Date(time + minutes * 60_000).toISOString();
          if (/^[+-]/.test(local)) return;
          // As milliseconds, eight digits are the first day of 1970: as a text they are a day.
          const digits = /^\d{8}$/.test(`${time}`) ? [] : [`${time}`];
          for (const form of [time, ...digits, date.toISOString(), local.replace('Z', zone)]) {
            assert.equal(toDate(form).getTime(), time, `${form}`);
            assert.equal(epochNanoseconds(form), BigInt(time) * 1_000_000n);
          }
        },
      ),
    );
  });

  test('keeps each of nine digits, of which a Date holds three', () => {
    fc.assert(
      fc.property(
        anyDate,
        fc.nat(999_999_999),
        fc.integer({ min: 1, max: 9 }),
        (date, nanoseconds, digits) => {
          const second = BigInt(Math.floor(date.getTime() / 1000));
          const fraction = `${nanoseconds}`.padStart(9, '0').slice(0, digits);
          const text = `${new Date(Number(second) * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
          const all = second * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
          assert.equal(epochNanoseconds(text), all);
          assert.equal(
            toDate(text).getTime(),
            Number(second) * 1000 + Number(fraction.padEnd(9, '0').slice(0, 3)),
          );
        },
      ),
    );
  });

  test('is a day’s midnight UTC, where it is a day alone, as capital flow has it', () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        const day = date.toISOString().slice(0, 10);
        for (const form of [day, day.replaceAll('-', '')]) {
          assert.deepEqual(toDate(form), dayToDate(day), form);
          assert.equal(epochNanoseconds(form), BigInt(dayToDate(day).getTime()) * 1_000_000n);
        }
      }),
    );
  });

  test('in the four forms that were seen live', () => {
    const time = Date.UTC(2026, 10, 20, 14, 30);
    for (const form of [time, `${time}`, '2026-11-20T14:30:00.000+0000'])
      assert.equal(toDate(form).getTime(), time);
    assert.equal(toDate('20261120').getTime(), Date.UTC(2026, 10, 20));
  });

  test('is nothing else', () => {
    for (const moment of [
      '',
      'now',
      '2021-02-29',
      '20210229',
      '99999999',
      '2021-1228',
      '2021-12-28T09:00:09',
      '2021-12-28 09:00:09Z',
      '2021-06-31T00:00:00Z',
      '2021-02-29T00:00:00Z',
      '2021-01-01T24:00:00Z',
      '2021-01-01T00:60:00Z',
      '2021-01-01T00:00:00+24:00',
      '2021-01-01T00:00:00.1234567890Z',
      '1.5',
      1.5,
      Number.NaN,
      8.64e15 + 1,
      '99999999999999999',
      null,
      new Date(),
    ])
      assert.throws(() => toDate(moment as number | string), { name: 'RangeError' }, `${moment}`);
  });
});

describe('a day', () => {
  test('has two forms, and begins at midnight UTC', () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        const day = date.toISOString().slice(0, 10);
        const compact = day.replaceAll('-', '');
        for (const form of [day, compact]) {
          assert.equal(toDay(form), day);
          assert.equal(toCompactDay(form), compact);
          assert.equal(dayToDate(form).toISOString(), `${day}T00:00:00.000Z`);
        }
      }),
    );
  });

  test('is one that exists', () => {
    for (const day of [
      '2026-02-29',
      '20260431',
      '2026-13-01',
      '2026-00-10',
      '2026-1-1',
      '2026-0101',
      '',
      20260101,
    ])
      assert.throws(() => toDay(day as string), { name: 'RangeError' }, `${day}`);
    assert.equal(toDay('20240229'), '2024-02-29');
  });
});
