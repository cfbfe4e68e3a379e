/** The listener of trade and position events. */

import { deployedTradeEvents } from '../aws/deployed-trade-events.ts';

export const handler = deployedTradeEvents();
