/** The function of lookups by event: quotes, and every other read of the open groups. */

import { operations } from '../../lib/catalogue/index.ts';
import { deployedLookups } from '../aws/deployed-lookups.ts';

export const handler = deployedLookups(operations);
