/** Traces of the rooms: the same each time, and with a difference where a room does something else. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { firstDifference, Trace } from '../support/trace.ts';
import { rooms, traceOf } from '../traces.ts';

describe.each(Object.keys(rooms))('%s', (room) => {
  test('has the same lines each time, in which it answers', async () => {
    const [once, again] = [await traceOf(room, 0.02), await traceOf(room, 0.02)];
    assert.equal(firstDifference(once, again), undefined);
    assert.ok(once.filter((line) => line.startsWith('outcome')).length > 0);
    assert.ok(once.filter((line) => line.startsWith('record')).length > 0);
  });
});

/** A room that keeps what it is asked, and asks another one. */
async function linesOf(change: { readonly text?: string; readonly isTurned?: boolean }) {
  const trace = new Trace();
  const create = trace.watched(
    ({ store, send }: { store: { write(record: object): void }; send(text: string): Promise<string> }) => ({
      async ask(text: string) {
        store.write(change.isTurned ? { text, at: 1 } : { at: 1, text });
        return send(change.text ?? text);
      },
    }),
  );
  await create({ store: { write: () => {} }, send: async (text) => `${text}!` }).ask('a');
  return trace.lines;
}

test('the order of members, what is asked of another, and what is answered are compared', async () => {
  const lines = await linesOf({});
  assert.deepEqual(
    lines.map((line) => line.split(' ')[0]),
    ['record', 'call', 'outcome'],
  );
  assert.equal(firstDifference(lines, await linesOf({})), undefined);
  assert.match(firstDifference(lines, await linesOf({ isTurned: true })) ?? '', /line 1\n/);
  assert.match(
    firstDifference(lines, await linesOf({ text: 'b' })) ?? '',
    /line 2\n(?:.*\n)+ {2}- call .*"a".*\n {2}\+ call .*"b"/,
  );
  assert.match(firstDifference(lines, lines.slice(1)) ?? '', /line 1\n/);
});
