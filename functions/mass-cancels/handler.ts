/** The function that cancels what is open, when an operator or a failed check asks for it. */

import { deployedMassCancels } from '../aws/deployed-mass-cancels.ts';

export const handler = deployedMassCancels();
