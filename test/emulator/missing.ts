/** Without the emulator its tests are skipped in one line; where everything must run, they fail. */

import { orSkip } from '../support/missing.ts';
import { whatIsMissing } from './ministack.ts';

export const needsEmulator = () => orSkip(whatIsMissing());
