/** The settings of the listener of trade events, besides those of every function. */

import { orderReadOperations } from '../../lib/trade-events/gateway-order-reads.ts';
import { type Environment, type FunctionSettings, readFunctionSettings, requiredOf } from './environment.ts';
import { eventsUrlFault } from './grpc-transport.ts';

export interface TradeEventsSettings {
  readonly function: FunctionSettings;
  /** Of the event service. */
  readonly url: string;
  readonly tableName: string;
  readonly busName: string;
  /** The ARN or name of the secret that holds the identity key. */
  readonly identityKeySecretId: string;
  readonly compareEveryMs: number;
}

export type ReadTradeEventsSettings =
  | { readonly ok: true; readonly settings: TradeEventsSettings }
  /** One sentence for each variable that is wrong; values are not repeated. */
  | { readonly ok: false; readonly faults: readonly string[] };

export function readTradeEventsSettings(env: Environment): ReadTradeEventsSettings {
  const faults: string[] = [];
  const required = requiredOf(env, faults);
  const tableName = required('TRADE_EVENTS_TABLE');
  const busName = required('TRADE_EVENTS_BUS');
  const identityKeySecretId = required('IDENTITY_KEY_SECRET_ID');
  const url = required('TRADE_EVENTS_URL');
  const urlFault = url ? eventsUrlFault(url) : undefined;
  if (urlFault) faults.push(`TRADE_EVENTS_URL: ${urlFault}`);
  const minutes = env.TRADE_EVENTS_COMPARE_EVERY_MINUTES || '5';
  if (!/^[1-9]\d?$/.test(minutes) || Number(minutes) > 60)
    faults.push('TRADE_EVENTS_COMPARE_EVERY_MINUTES: not a whole number from 1 to 60');
  // No caller comes here whom a directory could know: the listener itself holds the app key.
  const read = readFunctionSettings({ ...env, IDENTITY_KEY_SECRET_ID: undefined }, orderReadOperations);
  if (!read.ok) return { ok: false, faults: [...read.faults, ...faults] };
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    settings: {
      function: read.settings,
      url,
      tableName,
      busName,
      identityKeySecretId,
      compareEveryMs: 60_000 * Number(minutes),
    },
  };
}
