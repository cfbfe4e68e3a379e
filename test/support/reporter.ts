/**
 * Tells once what is missing where tests are skipped, and ends a run with one plain line that says what came
 * of it.
 */

import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';
import './missing.ts';

export default class CountingReporter implements Reporter {
  #isWatching = false;
  /** Then most tests are skipped because the filter leaves them out. */
  #isFiltered = false;
  /** The line of the last run. */
  #result = '0 passed, 1 failed';

  onInit({ config }: Vitest): void {
    this.#isWatching = config.watch;
    this.#isFiltered = config.testNamePattern !== undefined;
    // Others tell of a run after its end: figures of coverage, for example.
    if (!this.#isWatching) process.once('exit', () => console.log(this.#result));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const missing = new Set<string>();
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === 'pending' ? 'failed' : state]++;
        const what = state === 'skipped' && (missingFor(test) ?? (this.#isFiltered || test.fullName));
        if (typeof what === 'string') missing.add(what);
      }
      // A file or a suite fails by itself: it does not load, it holds no test, or a hook failed.
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
    }
    // A run that found nothing is no success.
    if (count.passed + count.failed + count.skipped === 0) count.failed++;
    for (const line of missing) console.log(`- skipped: ${line}`);
    if (missing.size > 0) console.log('npm run test:setup installs what is missing.');
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    this.#result = `${count.passed} passed, ${count.failed} failed${skipped}`;
    if (count.failed > 0) process.exitCode = 1;
    if (this.#isWatching) console.log(this.#result);
  }
}

/** In words, for the test or for what it is part of. */
function missingFor(test: TestCase): string | undefined {
  for (let task: TestCase | TestSuite | TestModule = test; task.type !== 'module'; task = task.parent)
    if (task.meta().missing) return task.meta().missing;
  return undefined;
}
