/** The function of the group fundamentals. */

import { fundamentals } from '../../lib/catalogue/fundamentals/index.ts';
import * as legacy from '../../lib/catalogue/legacy/fundamentals.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler([...fundamentals, ...Object.values(legacy)]);
