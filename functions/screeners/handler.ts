/** The function of the group screeners. */

import * as screeners from '../../lib/catalogue/screeners.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler(Object.values(screeners));
