/** The function that stops trading for an alarm. */

import { deployedTradingStop } from '../aws/deployed-trading-stop.ts';

export const handler = deployedTradingStop();
