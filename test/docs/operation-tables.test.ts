/** What docs/operation.md says of a stage's size, and of what stays after destroy, is what templates say. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { withTables } from '../../infra/commands/cost-tables.ts';
import { fateLines, sizeLines } from '../../infra/commands/deployment-tables.ts';
import { textOf } from './pages.ts';

test('the tables of docs/operation.md are current', () => {
  const page = textOf('docs/operation.md');
  assert.equal(page, withTables(page, [sizeLines(), fateLines()]), 'the stack has changed: npm run docs');
});
