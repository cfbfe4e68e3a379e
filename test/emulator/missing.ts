/** Without the emulator its tests are skipped in one line; where everything must run, they fail. */

import { whatIsMissing } from './ministack.ts';

/** For a suite's `skip`: false, or why. */
export function missingEmulator(): string | false {
  const missing = whatIsMissing();
  if (missing && process.env.CI) throw new Error(missing);
  return missing ?? false;
}
