/** Streams read by what apps read them with, while connections are cut; `npm run study -- stream-cuts` takes five minutes. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { orSkip } from '../../support/missing.ts';
import { readme } from '../table.ts';
import { measureCuts } from './cuts.ts';
import { readers } from './readers.ts';

for (const reader of readers) {
  describe(`${reader.name} comes back`, { concurrent: true, ...orSkip(reader.missing()) }, () => {
    test('to what a poll answers, and to each order event', async () => {
      // The last one is silent.
      const { connections, published, byReader } = await measureCuts({
        readers: [reader],
        cuts: 3,
        everySeconds: 3,
      });
      const [measured] = byReader;
      console.log(JSON.stringify(measured));
      assert.ok(connections >= 3 && published > 0);
      const { changes, settledMs, again, ...wrong } = measured!;
      assert.ok(changes > 3);
      assert.deepEqual(wrong, { name: reader.name, otherThanPoll: [], missing: 0, invented: 0 });
    });
  });
}

test('the page of examples has every command that is run here', () => {
  const page = readFileSync(readme, 'utf8');
  for (const { compile = [], run } of readers)
    for (const line of [...compile, ...(run ? [run] : [])]) assert.ok(page.includes(line), line);
});
