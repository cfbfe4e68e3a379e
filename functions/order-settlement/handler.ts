/** The function that settles orders whose outcome stayed unknown. */

import { deployedSettlement } from '../aws/deployed-settlement.ts';

export const handler = deployedSettlement();
