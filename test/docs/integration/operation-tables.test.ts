/** What the pages of operators say of a stage's size, and of what stays after destroy, is what templates say. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { withTables } from '../../../infra/cost/cost-tables.ts';
import { fateLines, sizeLines } from '../../../infra/documents/deployment-tables.ts';
import { textOf } from '../pages.ts';

test('the tables of docs/deployment.md and docs/operation.md are current', () => {
  for (const [name, lines] of [
    ['docs/deployment.md', sizeLines()],
    ['docs/operation.md', fateLines()],
  ] as const) {
    const page = textOf(name);
    assert.equal(page, withTables(page, [lines]), 'the stack has changed: npm run docs');
  }
});
