/** The settings of the function of streams of trade events, from its environment variables. */

import { originsFaults, readOrigins } from '../events/cors.ts';
import { type Environment, type Read, readAccess, readMaxStreams, requiredOf } from './environment.ts';
import { orderStreams } from './ranges.ts';
import type { OrderStreamSettings } from './settings.ts';

/** Names the items that count streams. */
export const orderStreamPartition = 'order-events';

export function readOrderStreamSettings(env: Environment): Read<OrderStreamSettings> {
  const faults: string[] = [];
  const historyTable = requiredOf(env, faults)('TRADE_EVENTS_HISTORY_TABLE');
  const maxStreams = readMaxStreams(env, orderStreams, faults);
  const access = readAccess(env, faults);
  if (!access) faults.push('ACCESS_TABLE: not set');
  const corsOrigins = readOrigins(env.CORS_ORIGINS);
  faults.push(...originsFaults(corsOrigins).map((fault) => `CORS_ORIGINS: ${fault}`));
  return access && faults.length === 0
    ? { ok: true, settings: { access, historyTable, maxStreams, corsOrigins } }
    : { ok: false, faults };
}
