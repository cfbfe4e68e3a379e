/** The function of the group fundamentals. */

import { fundamentals } from '../../lib/catalogue/fundamentals/index.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler(fundamentals);
