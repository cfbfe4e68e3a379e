/** The function of the group accounts. */

import * as accounts from '../../lib/catalogue/accounts.ts';
import { deployedHandler } from '../aws/deployed.ts';

export const handler = deployedHandler(Object.values(accounts));
