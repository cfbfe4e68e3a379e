/** Without the emulator its tests are skipped in one line; where everything must run, they fail. */

import { whatIsMissing } from './ministack.ts';
import { orSkip } from './missing.ts';

export const needsEmulator = () => orSkip(whatIsMissing());
