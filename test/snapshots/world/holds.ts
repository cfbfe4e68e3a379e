/** What is true of every run, whatever went wrong in it. */

import assert from 'node:assert/strict';
import { report } from './report.ts';
import type { Measured } from './study.ts';

export function holds(name: string, measured: Measured): void {
  console.log(report(name, measured));
  assert.equal(measured.wrong, 0, 'answers that are not what was asked for, or older than they say');
  assert.ok(measured.worstMinute <= 300, `${measured.worstMinute} in a minute`);
}
