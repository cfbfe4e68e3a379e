/** What a test needs and this machine may not have. */

declare module 'vitest' {
  interface TaskMeta {
    /** What is missing, and how to get it. */
    missing?: string;
  }
}

/**
 * Options of a test or suite: skipped where something is missing, of which the reporter tells once. In CI, which
 * runs everything, what is missing is a failure.
 */
export function orSkip(missing: string | undefined): Skipped {
  if (missing === undefined) return {};
  if (process.env.CI) throw new Error(missing);
  return orTell(missing);
}

/** Likewise, and skipped in CI, too: for the history, which a clone has or has not, and no installation brings. */
export const orTell = (missing: string | undefined): Skipped =>
  missing === undefined ? {} : { skip: true, meta: { missing } };

export interface Skipped {
  skip?: boolean;
  meta?: { missing: string };
}
