/** The function of the group screeners. */

import * as legacy from '../../lib/catalogue/legacy/screeners.ts';
import * as screeners from '../../lib/catalogue/screeners.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler([...Object.values(screeners), ...Object.values(legacy)]);
