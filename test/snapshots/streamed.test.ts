/** Where streamed and fetched values meet: the newer trade wins, member by member, and all other bytes stay as they were. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import {
  createMemoryStreamedLog,
  defaultSnapshotOptions,
  type StreamedBatch,
  type StreamedLog,
  viewOf,
} from '../../lib/cache/snapshots/index.ts';
import { SnapshotMemory } from '../../lib/cache/snapshots/memory.ts';
import { streamedMembers, withNewer } from '../../lib/cache/snapshots/newer-members.ts';
import { StreamedReader } from '../../lib/cache/snapshots/streamed.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (record: Uint8Array) => new TextDecoder().decode(record);
const plain = viewOf([['category', 'US_STOCK']]);
const extended = viewOf([
  ['category', 'US_STOCK'],
  ['extend_hour_required', 'true'],
]);

test('members are written over in the form that the record has, and every other byte stays', () => {
  const record =
    '{ "symbol" : "A", "price": "1.50",\n"volume": 12, "last_trade_time": 100 , "eps":"\\u0031.10"}';
  const members = { last_trade_time: '101', price: '1.60', volume: '20', high: '2.0' };
  assert.equal(
    text(withNewer(bytes(record), members, plain, true)),
    '{ "symbol" : "A", "price": "1.60",\n"volume": 20, "last_trade_time": 101 , "eps":"\\u0031.10","high":"2.0"}',
  );
});

test('what is older changes nothing, not even one byte', () => {
  const record = bytes('{"symbol":"A","price":"1.50","last_trade_time":"100"}');
  assert.equal(withNewer(record, { last_trade_time: '99', price: '1' }, plain, true), record);
  assert.equal(withNewer(record, { price: '1' }, plain, true), record);
  assert.equal(withNewer(bytes('[]'), { last_trade_time: '999' }, plain, true).length, 2);
});

test('of one moment, more volume is newer; with the same volume, what arrives later', () => {
  const record = bytes('{"price":"1","volume":"1000","last_trade_time":100}');
  const members = (volume: string) => ({ last_trade_time: '100', price: '2', volume });
  const price = (volume: string, isLater: boolean) =>
    streamedMembers(withNewer(record, members(volume), plain, isLater)).price;
  assert.deepEqual(
    [price('999', true), price('1E3', false), price('1E3', true), price('1001', false)],
    ['1', '1', '2', '2'],
  );
});

test('members of a session are for views that ask for it, and the close follows the price that it was', () => {
  const record = bytes('{"price":"1","close":"1","last_trade_time":100,"extend_hour_last_trade_time":null}');
  const members = {
    last_trade_time: '101',
    price: '2',
    extend_hour_last_trade_time: '90',
    extend_hour_high: '3',
  };
  assert.equal(
    text(withNewer(record, members, plain, true)),
    '{"price":"2","close":"2","last_trade_time":101,"extend_hour_last_trade_time":null}',
  );
  assert.equal(
    text(withNewer(record, members, extended, true)),
    '{"price":"2","close":"2","last_trade_time":101,"extend_hour_last_trade_time":90,"extend_hour_high":"3"}',
  );
});

const names = ['last_trade_time', 'price', 'volume', 'quote_time', 'bid', 'close', 'symbol', 'eps'] as const;
const value = fc.oneof(
  fc.constantFrom('0', '1', '12', '1.50', '1E2', '99999999999'),
  fc.constantFrom('null', 'true', '"x\\"y"', '{"price":"7"}', '[1,"}"]', '"\\u0031"'),
  fc.stringMatching(/^\d{1,6}$/).map((digits) => `"${digits}"`),
);
const space = fc.constantFrom('', ' ', '\n\t');

test('whatever the record is, the result is JSON with the same members besides those that are newer', () => {
  const record = fc
    .array(fc.tuple(fc.constantFrom(...names), value, space), { maxLength: 8 })
    .map(
      (members) =>
        `{${members.map(([name, text, gap]) => `${gap}"${name}"${gap}:${gap}${text}${gap}`).join()}}`,
    );
  const change = fc.dictionary(
    fc.constantFrom('last_trade_time', 'price', 'volume', 'quote_time', 'bid'),
    fc.constantFrom('1', '12', '200', '1.5', '1E2'),
  );
  fc.assert(
    fc.property(record, change, fc.boolean(), (before, members, isLater) => {
      const after = JSON.parse(text(withNewer(bytes(before), members, plain, isLater))) as Record<
        string,
        unknown
      >;
      const own = JSON.parse(before) as Record<string, unknown>;
      for (const [name, told] of Object.entries(after)) {
        const isChanged = JSON.stringify(told) !== JSON.stringify(own[name]);
        if (isChanged)
          assert.ok(Number(told) === Number(members[name]) || name === 'close', `${name} of ${before}`);
      }
      for (const name of Object.keys(own)) assert.ok(name in after);
      // Again changes nothing more.
      const again = withNewer(bytes(JSON.stringify(after)), members, plain, isLater);
      assert.deepEqual(JSON.parse(text(again)), after);
    }),
    { numRuns: 2000 },
  );
});

const start = 1_795_239_000_000;

function createReading() {
  const memory = new SnapshotMemory(defaultSnapshotOptions, undefined, true);
  const log = createMemoryStreamedLog(() => start);
  const hidden = new Set<number>();
  const lossy: StreamedLog = {
    ...log,
    read: async (after) => (await log.read(after)).filter(({ sequence }) => !hidden.has(sequence)),
  };
  const reader = new StreamedReader(lossy, memory.views);
  let sequence = 0;
  const fetch = (price: string, tradedAt: number, sentAt: number) =>
    fetchRecord({ price, last_trade_time: tradedAt }, sentAt);
  const fetchRecord = (members: object, sentAt: number) => {
    const record = bytes(JSON.stringify({ symbol: 'A', ...members }));
    const outcome = { kind: 'answer', records: new Map([['A', record]]), unknown: [] } as const;
    const head = {
      sequence: ++sequence,
      kind: 'refresh',
      view: plain.id,
      symbols: ['A'],
      demand: [],
    } as const;
    memory.apply({ ...head, sentAt, outcome }, start);
  };
  const write = (sequence: number, price: string, at: number, more: Partial<StreamedBatch> = {}) =>
    log.write({
      sequence,
      at: start + at,
      signs: [start + at],
      changes: [
        { category: 'US_STOCK', symbol: 'A', members: { price, last_trade_time: String(start + at) } },
      ],
      ...more,
    });
  const whole = { carried: [{ category: 'US_STOCK', symbols: ['A'] }] };
  const quote = (bid: string, at: number): Partial<StreamedBatch> => ({
    changes: [{ category: 'US_STOCK', symbol: 'A', members: { bid, quote_time: String(start + at) } }],
  });
  const book = () => {
    const { bid, quote_time } = streamedMembers(memory.entriesOf(plain.id).entries.get('A')!.record);
    return [bid, quote_time && Number(quote_time) - start];
  };
  const shown = () => {
    const entry = memory.entriesOf(plain.id).entries.get('A');
    return entry && [streamedMembers(entry.record).price, entry.sentAt - start, entry.isStreamed];
  };
  return { reader, hidden, fetch, fetchRecord, write, whole, quote, book, shown };
}

test('an instance begins with a whole batch, and follows from there', async () => {
  const { reader, fetch, write, whole, shown } = createReading();
  fetch('1', start - 50, start - 40);
  await write(1, '2', 1);
  await reader.poll(start);
  assert.deepEqual(shown(), ['1', -40, false]);
  await write(2, '3', 10, whole);
  await reader.poll(start);
  assert.deepEqual(shown(), ['3', 10, true]);
  await write(3, '4', 20);
  await reader.poll(start);
  assert.deepEqual(shown(), ['4', 20, true]);
});

test('the sign of a session does not count for what the session has torn', async () => {
  const { reader, fetch, write, whole, shown } = createReading();
  fetch('1', start - 50, start - 40);
  await write(1, '2', 10, whole);
  await write(2, '2', 20, { torn: [['A']], changes: [] });
  await write(3, '2', 30, { torn: [['B', 'A']], changes: [] });
  await reader.poll(start);
  assert.deepEqual(shown(), ['2', 10, true]);
  await write(4, '3', 40, { torn: [[]] });
  await reader.poll(start);
  assert.deepEqual(shown(), ['3', 40, true]);
});

test('after a hole nothing counts, until it is filled or a whole batch follows', async () => {
  const { reader, hidden, fetch, write, whole, shown } = createReading();
  fetch('1', start - 50, start - 40);
  await write(1, '2', 10, whole);
  await reader.poll(start);
  hidden.add(2);
  await write(2, '3', 20);
  await write(3, '4', 30);
  await reader.poll(start);
  assert.deepEqual(shown(), ['2', 10, true]);
  hidden.clear();
  await reader.poll(start);
  assert.deepEqual(shown(), ['4', 30, true]);
  hidden.add(4);
  await write(4, '5', 40);
  await write(5, '6', 50, whole);
  await reader.poll(start);
  assert.deepEqual(shown(), ['6', 50, true]);
});

test('a record that was fetched after a whole batch is not taken for one that the stream kept', async () => {
  const { reader, fetch, write, whole, shown } = createReading();
  await write(1, '3', 10, whole);
  await reader.poll(start);
  // Behind the stream: it lacks the trade that the whole batch told.
  fetch('1', start - 50, start + 5);
  await write(2, '3', 11, { changes: [] });
  await reader.poll(start);
  assert.deepEqual(shown(), ['1', 5, false]);
  await write(3, '3', 10, { ...whole, at: start + 12, signs: [start + 12] });
  await reader.poll(start);
  assert.deepEqual(shown(), ['3', 12, true]);
});

test('a fetch brings what is newer, and sets nothing back', async () => {
  const { reader, fetch, write, whole, shown } = createReading();
  fetch('1', start - 50, start - 40);
  await write(1, '3', 10, whole);
  await reader.poll(start);
  fetch('2', start + 4, start + 20);
  assert.deepEqual(shown(), ['3', 20, true]);
  fetch('9', start + 25, start + 30);
  assert.deepEqual(shown(), ['9', 30, true]);
});

test('a fetched book without its time is as old as the fetch, so that an earlier streamed one does not outlive it', async () => {
  const { reader, fetchRecord, write, whole, quote, book } = createReading();
  fetchRecord({ bid: '10' }, start - 40);
  await write(1, '', 0, { ...whole, ...quote('10.1', 10) });
  await reader.poll(start);
  assert.deepEqual(book(), ['10.1', 10]);
  fetchRecord({ bid: '9' }, start + 9);
  assert.deepEqual(book(), ['10.1', 10], 'the book was streamed after the fetch was sent');
  fetchRecord({}, start + 20);
  assert.deepEqual(book(), ['10.1', 10], 'a fetch without a book says nothing of it');
  fetchRecord({ bid: '9' }, start + 60);
  assert.deepEqual(book(), ['9', undefined]);
  // The book is torn: whole batches repeat what the session told before.
  await write(2, '', 0, { ...whole, ...quote('10.1', 10), torn: [['A']] });
  await reader.poll(start);
  assert.deepEqual(book(), ['9', undefined]);
  await write(3, '', 0, quote('9.5', 61));
  await reader.poll(start);
  assert.deepEqual(book(), ['9.5', 61]);
  fetchRecord({ bid: '', quote_time: null }, start + 70);
  assert.deepEqual(book(), ['', undefined], 'outside hours there is none');
  await write(4, '', 0, quote('9.6', 71));
  await reader.poll(start);
  fetchRecord({ bid: null, quote_time: null }, start + 80);
  assert.deepEqual(book(), [undefined, undefined]);
});

test('a sign by a clock that is far ahead makes nothing younger', async () => {
  const { reader, fetch, write, whole, shown } = createReading();
  fetch('1', start - 50, start - 40);
  await write(1, '3', 10, { ...whole, signs: [start + 600_000] });
  await reader.poll(start);
  assert.deepEqual(shown(), ['3', -40, true]);
});

test('what is carried no more is no more kept fresh', async () => {
  const { reader, fetch, write, whole, shown } = createReading();
  fetch('1', start - 50, start - 40);
  await write(1, '3', 10, whole);
  await reader.poll(start);
  await write(2, '3', 10, { at: start + 20, carried: [], signs: [], changes: [] });
  await reader.poll(start);
  assert.deepEqual(shown(), ['3', 10, false]);
});
