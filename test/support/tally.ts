/** Counts what node:test reports. A test that has subtests is only their sum; a file is not a test. */

import { inspect } from 'node:util';

/** The part of a `test:pass` or `test:fail` event that is counted. */
export interface Outcome {
  readonly name: string;
  /** 0 for a test at the top of its file. */
  readonly nesting: number;
  readonly file?: string | undefined;
  readonly skip?: string | boolean | undefined;
  readonly todo?: string | boolean | undefined;
  readonly details?: { readonly type?: string | undefined; readonly error?: unknown };
}

export class Tally {
  passed = 0;
  failed = 0;
  skipped = 0;
  /** At each nesting: a test was reported there since the last one further out, and is its child. */
  readonly #seen: boolean[] = [];
  /** Said already: what is missing is often missing for many suites. */
  readonly #reasons = new Set<string>();

  /** Children come before their parent. Returns what is to be said of it at once, if anything. */
  add(kind: 'pass' | 'fail', outcome: Outcome): string | undefined {
    const { nesting, name, details } = outcome;
    // A skipped suite runs none of its tests, so it is the only one to tell of them.
    const isParent =
      this.#seen[nesting + 1] === true || (details?.type === 'suite' && outcome.skip === undefined);
    this.#seen.length = nesting + 1;
    this.#seen[nesting] = true;

    const error = details?.error as { failureType?: string; cause?: unknown } | undefined;
    if (isParent && (kind === 'pass' || error?.failureType === 'subtestsFailed')) return undefined;
    if (outcome.skip !== undefined || outcome.todo !== undefined) {
      this.skipped++;
      return this.#skipLine(name, outcome.skip);
    }
    // node:test reports a file that held no test as a passing test of that name.
    if (kind === 'pass' && name !== outcome.file) {
      this.passed++;
      return undefined;
    }
    this.failed++;
    const cause = kind === 'pass' ? 'no test in this file' : (error?.cause ?? error);
    const detail = typeof cause === 'string' ? cause : inspect(cause, { depth: 8, maxStringLength: 4000 });
    return `✖ ${outcome.file ?? ''} › ${name}\n${detail.replace(/^/gm, '    ')}`;
  }

  #skipLine(name: string, reason: Outcome['skip']): string | undefined {
    if (typeof reason !== 'string' || !reason) return `- skipped: ${name}`;
    if (this.#reasons.has(reason)) return undefined;
    this.#reasons.add(reason);
    return `- skipped: ${reason}`;
  }

  /** The last line of a test run. */
  toString(): string {
    return `${this.passed} passed, ${this.failed} failed${this.skipped ? `, ${this.skipped} skipped` : ''}`;
  }

  /** A run that found nothing is no success; one that skipped all it found has said why. */
  get ok(): boolean {
    return this.failed === 0 && this.passed + this.skipped > 0;
  }
}
