/**
 * Code lines and words stay below their ceilings, the figures are those that are counted, and each raise has its reason. `test/deployed/integration/bundle.test.ts` holds the bytes, because it has the bundles; `.ci/run` holds what takes time.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import {
  bytesOf,
  ceilings,
  ceilingsFile,
  changesOf,
  type Figures,
  git,
  grown,
  holdCeilings,
  raisesBeyondAllowance,
  raisesWithoutReason,
  shrunk,
  timesOfCi,
} from '../ceilings.ts';
import { codeLines, countHouse, houseFigures } from '../code-lines.ts';
import { root } from '../support/bundle.ts';
import { orTell } from '../support/missing.ts';
import { sourcesIn } from '../support/sources.ts';

test('code lines and words are not above their ceilings', () => holdCeilings(countHouse()));

test('a code line holds something besides white space and comments', () => {
  const text = [
    '/** Why. */',
    'const address = "https://a.example"; // where',
    '',
    '/* several',
    '   lines */ run(`',
    '  // a text, and $' + '{"`"} in it',
    '`);',
  ].join('\n');
  assert.equal(codeLines(text), 4);
});

test('the file has a figure for each thing that is counted, and no other', () => {
  const functions = [...sourcesIn('functions')].filter((file) => basename(file) === 'handler.ts');
  assert.deepEqual(
    Object.keys(ceilings).sort(),
    [
      ...houseFigures,
      'processor seconds of npm test',
      'minutes of CI',
      ...functions.map((file) => bytesOf(basename(dirname(file)))),
    ].sort(),
  );
});

const history = changesOf(root);
const missing = history
  ? undefined
  : 'The whole history is missing, where the reasons of raised ceilings stand: git fetch --unshallow';

test('a commit that raises a ceiling says why', orTell(missing), () => {
  assert.deepEqual(raisesWithoutReason(root, history ?? []), []);
});

test('no commit raises lines or words by more than its change was allowed', orTell(missing), () => {
  assert.deepEqual(raisesBeyondAllowance(history ?? []), []);
});

describe('a count', () => {
  const allowed = { 'lines of tests': 1000 };

  test('at its ceiling, or a little below, is not worth a word', () => {
    for (const count of [1000, 980])
      assert.deepEqual(
        [...grown({ 'lines of tests': count }, allowed), ...shrunk({ 'lines of tests': count }, allowed)],
        [],
      );
  });

  test('above its ceiling says what grew, and what to do', () => {
    const [fault = '', ...more] = grown({ 'lines of tests': 1001 }, allowed);
    assert.match(
      fault,
      /^"lines of tests" grew from 1000 to 1001\. Delete .*, or raise .*"Ceiling: <reason>"/,
    );
    assert.deepEqual(more, []);
  });

  test('without a ceiling, or that is no number, is above it', () => {
    assert.match(grown({ [bytesOf('new')]: 5 }, allowed)[0] ?? '', /^"bytes of new" grew from 0 to 5\./);
    assert.equal(grown({ 'lines of tests': Number.NaN }, allowed).length, 1);
  });

  test('far below its ceiling asks for a lower one', () => {
    assert.match(shrunk({ 'lines of tests': 979 }, allowed)[0] ?? '', /is 979; lower its ceiling of 1000/);
  });
});

test('times of CI are told by part, and beside their ceilings', () => {
  const allowed = { 'minutes of CI': 10, 'processor seconds of npm test': 900 };
  const { lines, faults } = timesOfCi(900, { install: 150, tests: 450 }, allowed);
  assert.deepEqual(lines, [
    'install    2.5 minutes   25 %',
    'tests      7.5 minutes   75 %',
    'minutes of CI: 10 of 10',
    'processor seconds of npm test: 900 of 900',
  ]);
  assert.deepEqual(faults, []);
  assert.deepEqual(
    timesOfCi(901, { install: 150, tests: 456 }, allowed).faults.map((fault) => fault.split('. ')[0]),
    ['"minutes of CI" grew from 10 to 10.1', '"processor seconds of npm test" grew from 900 to 901'],
  );
});

describe('a history', () => {
  /** Writes the figures and commits them with the message. */
  type Commit = (figures: Figures, message: string) => void;

  function repository(t: TestContext): {
    folder: string;
    commit: Commit;
    run: (...args: string[]) => string;
  } {
    const folder = mkdtempSync(join(tmpdir(), 'ceilings-'));
    t.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, dirname(ceilingsFile)));
    const settings = ['user.name=a', 'user.email=a@b.example', 'commit.gpgsign=false'];
    const run = (...args: string[]) => git(folder, ...settings.flatMap((one) => ['-c', one]), ...args);
    run('init', '--quiet', '--initial-branch=main');
    const commit: Commit = (figures, message) => {
      writeFileSync(join(folder, ceilingsFile), `${JSON.stringify(figures, null, 2)}\n`);
      run('add', '.');
      run('commit', '--quiet', '--message', message);
    };
    return { folder, commit, run };
  }

  const faultsIn = (folder: string) =>
    raisesWithoutReason(folder, changesOf(folder) ?? []).map(
      (fault) => /"(.+?)" from \d+ to \d+/.exec(fault)?.[0],
    );

  test('may begin anywhere, lower a figure, and raise it with a reason', (t) => {
    const { folder, commit } = repository(t);
    commit({ a: 10, b: 10 }, 'First');
    commit({ a: 9, b: 10 }, 'Less');
    commit({ a: 12, b: 10 }, 'More\n\nIt does more.\n\nCeiling: a new operation');
    assert.deepEqual(faultsIn(folder), []);
  });

  test('is refused for a raise without a reason, also of a figure that is new', (t) => {
    const { folder, commit } = repository(t);
    commit({ a: 10, b: 10 }, 'First');
    commit({ a: 11, b: 9 }, 'More\n\nCeiling:');
    commit({ a: 11, b: 9, c: 5 }, 'A function; Ceiling: not at the start of a line');
    assert.deepEqual(faultsIn(folder), ['"c" from 0 to 5', '"a" from 10 to 11']);
  });

  test('is accepted again when the figure was put back, and raised with a reason', (t) => {
    const { folder, commit } = repository(t);
    commit({ a: 10 }, 'First');
    commit({ a: 12 }, 'More');
    commit({ a: 11 }, 'A little less');
    assert.deepEqual(faultsIn(folder), ['"a" from 10 to 12']);
    commit({ a: 10 }, 'Back');
    commit({ a: 12 }, 'More\n\nCeiling: it does more');
    assert.deepEqual(faultsIn(folder), []);
  });

  test('of lines is refused beyond what was allowed, whatever the reason, until they are fewer again', (t) => {
    const { folder, commit } = repository(t);
    const beyond = () =>
      raisesBeyondAllowance(changesOf(folder) ?? [], ['a']).map((fault) => /above \d+/.exec(fault)?.[0]);
    commit({ a: 100 }, 'First');
    commit({ a: 101 }, 'More\n\nCeiling: it does more');
    assert.deepEqual(beyond(), ['above 100']);
    commit({ a: 110 }, 'A feature\n\nAllowed: 10 a: a feature');
    assert.deepEqual(beyond(), []);
    commit({ a: 112 }, 'More of it\n\nCeiling: it needs more');
    assert.deepEqual(beyond(), ['above 110']);
    commit({ a: 113 }, 'A small feature\n\nAllowed: 1 a: a small feature');
    assert.deepEqual(beyond(), ['above 110']);
    commit({ a: 90 }, 'Less');
    assert.deepEqual(beyond(), []);
    commit({ a: 91 }, 'Again\n\nCeiling: there was room');
    assert.deepEqual(beyond(), ['above 90']);
  });

  test('takes the reasons of a merge from what it brings', (t) => {
    const { folder, commit, run } = repository(t);
    commit({ a: 10 }, 'First');
    run('switch', '--quiet', '--create', 'explained');
    commit({ a: 12 }, 'More\n\nCeiling: it does more');
    run('switch', '--quiet', '--create', 'silent', 'main');
    commit({ a: 13 }, 'More');
    run('switch', '--quiet', 'main');
    run('merge', '--quiet', '--no-ff', '--message', 'Merge', 'explained');
    assert.deepEqual(faultsIn(folder), []);
    run('merge', '--quiet', '--no-ff', '--strategy-option=theirs', '--message', 'Merge', 'silent');
    assert.deepEqual(faultsIn(folder), ['"a" from 12 to 13']);
  });

  test('that is not there, or not all of it, is not judged', (t) => {
    const { folder, commit, run } = repository(t);
    assert.equal(changesOf(folder), undefined);
    commit({ a: 10 }, 'First');
    commit({ a: 11 }, 'More');
    const shallow = join(folder, 'shallow');
    run('clone', '--quiet', '--depth=1', `file://${folder}`, shallow);
    assert.equal(changesOf(shallow), undefined);
    rmSync(join(folder, '.git'), { recursive: true });
    assert.equal(changesOf(folder), undefined);
  });
});
