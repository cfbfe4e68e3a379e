/** Texts to a client at its own pace: one that takes some, one that takes none, and one that leaves. */

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'vitest';
import { passOn, type Sink } from '../../functions/events/texts.ts';

/** Full after each text, until the test drains it. */
class FullSink extends EventEmitter implements Sink {
  readonly written: unknown[] = [];
  destroyed = false;
  writableNeedDrain = false;
  writableEnded = false;

  write(text: unknown): boolean {
    this.written.push(text);
    this.writableNeedDrain = true;
    this.emit('full');
    return false;
  }
  drain(): void {
    this.writableNeedDrain = false;
    this.emit('drain');
  }
  end(): void {
    this.writableEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** Says which texts were asked for, and when it was left. */
function source() {
  const said: (number | 'left')[] = [];
  async function* texts() {
    try {
      for (let index = 1; index <= 3; index++) {
        said.push(index);
        yield `${index}`;
      }
    } finally {
      said.push('left');
    }
  }
  return { said, texts: texts() };
}

test('the next text is asked for when the last one was taken', async () => {
  const [sink, { said, texts }] = [new FullSink(), source()];
  const counts: number[] = [];
  sink.on('full', () => {
    counts.push(said.length);
    setImmediate(() => {
      counts.push(said.length);
      sink.drain();
    });
  });
  assert.equal(await passOn(texts, sink), true);
  assert.deepEqual(counts, [1, 1, 2, 2, 3, 3]);
  assert.deepEqual(sink.written, ['1', '2', '3']);
  assert.deepEqual([sink.writableEnded, sink.destroyed], [true, false]);
  assert.equal(sink.listenerCount('drain') + sink.listenerCount('close'), 0);
});

test('a client that takes nothing is cut off, and the source is left', async () => {
  const [sink, { said, texts }] = [new FullSink(), source()];
  assert.equal(await passOn(texts, sink, 1), false);
  assert.deepEqual([sink.writableEnded, sink.destroyed], [false, true]);
  assert.deepEqual(said, [1, 'left']);
});

test('when the client leaves, the source is left without another text', async () => {
  for (const leaves of ['full', 'drained']) {
    const [sink, { said, texts }] = [new FullSink(), source()];
    sink.on('full', () =>
      setImmediate(() => {
        if (leaves === 'drained') sink.drain();
        sink.destroy();
      }),
    );
    assert.equal(await passOn(texts, sink), false);
    assert.deepEqual(sink.written, ['1']);
    assert.equal(sink.writableEnded, false);
    assert.equal(said.at(-1), 'left');
  }
});
