/** What a function does whose environment is wrong. */

import type { Log } from './log.ts';

/**
 * One line in the log of each start; every invocation fails, which alarms hear.
 *
 * @example if (faults.length > 0) return wrongConfiguration(log, faults);
 */
export function wrongConfiguration(log: Log, faults: readonly string[]): () => Promise<never> {
  log({ level: 'error', event: 'wrong_configuration', faults });
  return () => Promise.reject(new Error('wrong_configuration'));
}
