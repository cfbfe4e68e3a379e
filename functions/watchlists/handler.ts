/** The function of the group watchlists. */

import * as watchlists from '../../lib/catalogue/watchlists.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler(Object.values(watchlists));
