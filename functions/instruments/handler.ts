/** The function of the group instruments. */

import * as instruments from '../../lib/catalogue/instruments.ts';
import * as legacy from '../../lib/catalogue/legacy/instruments.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler([...Object.values(instruments), ...Object.values(legacy)]);
