/** Behaviours by operation id; an operation without one is answered from its response schema. */

import { accounts } from './accounts.ts';
import { auth, config } from './auth.ts';
import { bars } from './bars.ts';
import type { Behaviour, Behaviours } from './behaviour.ts';
import { bySymbol } from './by-symbol.ts';
import { fromSchema } from './from-schema.ts';
import { instruments } from './instruments.ts';
import { legacy } from './legacy.ts';
import { market } from './market.ts';
import { marketStream } from './market-stream.ts';
import { optionContracts } from './option-contracts.ts';
import { options } from './options.ts';
import { orderChanges } from './order-changes.ts';
import { orderViews } from './order-views.ts';
import { orders } from './orders.ts';
import { screeners } from './screeners.ts';
import { trades } from './trades.ts';
import { watchlists } from './watchlists.ts';

const behaviours: Behaviours = {
  ...accounts,
  ...auth,
  ...bars,
  ...bySymbol,
  ...config,
  ...instruments,
  ...legacy,
  ...market,
  ...marketStream,
  ...optionContracts,
  ...options,
  ...orderChanges,
  ...orderViews,
  ...orders,
  ...screeners,
  ...trades,
  ...watchlists,
};

export function behaviourOf(operationId: string): Behaviour {
  return Object.hasOwn(behaviours, operationId) ? behaviours[operationId]! : fromSchema;
}
