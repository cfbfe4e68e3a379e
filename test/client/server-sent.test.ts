/** Cases of the HTML standard on server-sent events (9.2.6), cut into chunks at every place. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { serverSentEvents } from '../../lib/client/server-sent.ts';

/** Text, and its events as type, id and data. */
const cases: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  'three lines of data are one event': ['data: YHOO\ndata: +2\ndata: 10\n\n', ['message||YHOO|+2|10']],
  'a comment is no event, and ends none': [
    ': test stream\n\ndata: first\n:\ndata: second\n: \n\n',
    ['message||first|second'],
  ],
  'an id stays until the next one, and an empty one forgets it': [
    'data: a\nid: 1\n\ndata: b\n\ndata: c\nid\n\n',
    ['message|1|a', 'message|1|b', 'message||c'],
  ],
  'an id with a NUL is ignored': ['id: 1\ndata: a\n\nid: \0\ndata: b\n\n', ['message|1|a', 'message|1|b']],
  'a name without a colon is a field without a value': [
    'data\n\ndata\ndata\n\ndata:',
    ['message||', 'message|||'],
  ],
  'one space after the colon is cut': [
    'data:test\n\ndata: test\n\ndata:  test\n\n',
    ['message||test', 'message||test', 'message|| test'],
  ],
  'lines end with CR, LF or both': [
    'data: a\rdata: b\r\ndata: c\n\r\ndata: d\r\rdata: e\n\n',
    ['message||a|b|c', 'message||d', 'message||e'],
  ],
  'a type is that of one event, also of one without data': [
    'event: x\ndata: a\n\nevent: y\n\nevent:\ndata: b\n\n',
    ['x||a', 'message||b'],
  ],
  'a byte order mark at the beginning is no part of a name': ['\ufeffdata: é\n\n', ['message||é']],
  'an unknown field is ignored, and a value may have colons': [
    'retry: 10\nother: x\ndata: a:b\n\n',
    ['message||a:b'],
  ],
  'an event without its empty line is not given': ['data: a\n\ndata: b\n', ['message||a']],
};

async function eventsOf(bytes: Uint8Array, cut: number): Promise<readonly string[]> {
  async function* chunks() {
    yield bytes.subarray(0, cut);
    yield bytes.subarray(cut);
  }
  const events: string[] = [];
  for await (const { event, id, data } of serverSentEvents(chunks()))
    events.push([event, id, ...data.split('\n')].join('|'));
  return events;
}

for (const [name, [text, expected]] of Object.entries(cases))
  test(name, async () => {
    const bytes = new TextEncoder().encode(text);
    for (let cut = 0; cut <= bytes.length; cut++)
      assert.deepEqual(await eventsOf(bytes, cut), expected, `cut at ${cut}`);
  });

test('an event ends with its CR, before anything else comes', async () => {
  async function* chunks() {
    yield new TextEncoder().encode('data: a\r\r');
    await new Promise(() => {});
  }
  const { value } = await serverSentEvents(chunks()).next();
  assert.equal(value?.data, 'a');
});
