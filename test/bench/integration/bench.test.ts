/** Each bench in brief: that it runs and that its figures make sense. How fast anything is, is not judged here. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { missingForStartUp } from '../../lambda/runtime-client.ts';
import { root } from '../../support/bundle.ts';
import { orSkip } from '../../support/missing.ts';
import { benches } from '../benches.ts';
import { measured } from '../first-events.ts';

const brief = { rounds: 1, warmUp: 0 };
const functions = readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('/handler.ts'))
  .map((file) => file.slice(0, -'/handler.ts'.length));

/** What each one must have measured, at least. */
const expected: Readonly<Record<keyof typeof benches, readonly string[]>> = {
  signer: ['GET, 4 parameters, signer', 'POST 300 B, signer', "POST 16 KiB, signer with Node's digests"],
  gateway: ['direct', 'through'],
  refused: ['placeOrder, 1024 KiB', 'listStockBars, 8 KiB'],
  'cached-read': ['straight through', 'stores in memory'],
  'start-up': [
    'empty',
    'empty with the AWS client',
    'empty with a call, first answer',
    'empty with the clients of lookups',
    'without operations',
    ...functions.flatMap((name) => [name, `${name}, first answer`]),
  ],
};

for (const [name, { run }] of Object.entries(benches))
  test(
    `${name} measures what it says`,
    orSkip(name === 'start-up' ? missingForStartUp() : undefined),
    async () => {
      const figures = await run(brief);
      for (const what of expected[name as keyof typeof benches]) assert.ok(what in figures, what);
      for (const [what, figure] of Object.entries(figures))
        assert.ok(Number.isFinite(figure) && figure > 0, `${what}: ${figure}`);
    },
  );

test('every function is one that start-up measures', () =>
  assert.deepEqual(functions.toSorted(), measured.toSorted()));
