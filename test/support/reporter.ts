/**
 * Tells once what is missing where tests are skipped, names at the end what failed, and ends a run with one plain line
 * that says what came of it.
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
    const count = { passed: 0, skipped: 0 };
    const skippedFor = new Set<string>();
    let isMissing = false;
    const faults = unhandledErrors.map((error) => toldOf('outside a test', error));
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'passed' || state === 'skipped') count[state]++;
        else faults.push(toldOf(`${module.relativeModuleId} > ${test.fullName}`, errors?.[0]));
        if (state !== 'skipped') continue;
        const missing = missingFor(test);
        isMissing ||= missing !== undefined;
        if (missing !== undefined || !this.#isFiltered) skippedFor.add(missing ?? test.fullName);
      }
      // A file or a suite fails by itself: it does not load, it holds no test, or a hook failed.
      for (const parent of [module, ...module.children.allSuites()])
        for (const error of parent.errors()) {
          const name = parent.type === 'suite' ? ` > ${parent.fullName}` : '';
          faults.push(toldOf(`${module.relativeModuleId}${name}`, error));
        }
    }
    // A run that found nothing is no success.
    if (count.passed + count.skipped + faults.length === 0) faults.push('- failed: no test was found');
    for (const line of skippedFor) console.log(`- skipped: ${line}`);
    if (isMissing)
      console.log('npm run test:setup installs what it can of it, and says how to get the rest.');
    // Once more after all else: of a long log, the end is read, and often the end alone is kept.
    for (const line of faults.sort()) console.log(line);
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    this.#result = `${count.passed} passed, ${faults.length} failed${skipped}`;
    if (faults.length > 0) process.exitCode = 1;
    if (this.#isWatching) console.log(this.#result);
  }
}

/** One line, which `.ci/run` repeats at its end. */
function toldOf(where: string, error: unknown): string {
  const said =
    typeof error === 'object' && error && 'message' in error ? String(error.message) : 'no error was given';
  return `- failed: ${where}: ${said.split('\n')[0]}`;
}

/** In words, for the test or for what it is part of. */
function missingFor(test: TestCase): string | undefined {
  for (let task: TestCase | TestSuite | TestModule = test; task.type !== 'module'; task = task.parent)
    if (task.meta().missing) return task.meta().missing;
  return undefined;
}
