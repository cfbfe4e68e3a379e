import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tally } from './tally.ts';

const failure = (failureType: string, cause: unknown) => ({ error: { failureType, cause } });

test('only leaves count, and a parent that fails by itself', () => {
  const tally = new Tally();
  tally.add('pass', { name: 'a', nesting: 1 });
  assert.match(
    tally.add('fail', { name: 'b', nesting: 1, details: failure('testCodeFailure', new Error('why')) }) ?? '',
    /why/,
  );
  tally.add('fail', { name: 'parent', nesting: 0, details: failure('subtestsFailed', '1 subtest failed') });
  tally.add('pass', { name: 'c', nesting: 0 });
  assert.equal(`${tally}`, '2 passed, 1 failed');
  assert.equal(tally.ok, false);

  tally.add('pass', { name: 'd', nesting: 1 });
  tally.add('fail', { name: 'suite', nesting: 0, details: { type: 'suite', ...failure('hookFailed', 'x') } });
  assert.equal(`${tally}`, '3 passed, 2 failed');
});

test('a skipped test is told, and a run of only such ones is no failure', () => {
  const tally = new Tally();
  assert.equal(tally.add('pass', { name: 'a', nesting: 0, skip: 'no engine' }), '- skipped: no engine');
  assert.equal(`${tally}`, '0 passed, 0 failed, 1 skipped');
  assert.equal(tally.ok, true);
});

test('a skipped suite is told as a skipped test is, and the same reason only once', () => {
  const tally = new Tally();
  const suite = { nesting: 0, details: { type: 'suite' } };
  assert.equal(tally.add('pass', { ...suite, name: 'a', skip: 'no emulator' }), '- skipped: no emulator');
  assert.equal(tally.add('pass', { ...suite, name: 'b', skip: 'no emulator' }), undefined);
  assert.equal(tally.add('pass', { ...suite, name: 'c', skip: true }), '- skipped: c');
  assert.equal(`${tally}`, '0 passed, 0 failed, 3 skipped');
  assert.equal(tally.ok, true);
  tally.add('fail', { name: 'd', nesting: 0, details: failure('testCodeFailure', 'why') });
  assert.equal(tally.ok, false);
});

test('a file without a test fails', () => {
  const tally = new Tally();
  tally.add('pass', { name: 'test/empty.test.ts', nesting: 0, file: 'test/empty.test.ts' });
  assert.equal(`${tally}`, '0 passed, 1 failed');
});

test('no test at all is a failure', () => assert.equal(new Tally().ok, false));
