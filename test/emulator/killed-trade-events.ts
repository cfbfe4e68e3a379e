/**
 * The listener of trade events with a shorter time limit, killed when the call says so: in place of the real handler's
 * file, never within it. The emulator's own schedule is not waited for, and so is left out.
 */

import { tradeEventPorts } from '../../functions/aws/order-ports.ts';
import { lambdaHost } from '../../functions/aws/ports.ts';
import { start, tradeEvents } from '../../functions/compose/functions.ts';
import type { TradeEventsHandler } from '../../functions/compose/trade-events.ts';

const listener = start(tradeEvents, process.env, tradeEventPorts(lambdaHost()));

export interface Start {
  /** What the function's time limit leaves. */
  readonly remainingMs: number;
  readonly killAfterMs?: number;
}

export const handler = async (event: Partial<Start>, _context: unknown): ReturnType<TradeEventsHandler> => {
  const { remainingMs, killAfterMs } = event;
  if (remainingMs === undefined) return { result: 'not_needed' };
  const endsAt = Date.now() + remainingMs;
  const killing =
    killAfterMs === undefined
      ? undefined
      : setTimeout(() => {
          process.stdout.write('{"event":"killed"}\n');
          process.exit(1);
        }, killAfterMs);
  try {
    return await listener(event, { getRemainingTimeInMillis: () => endsAt - Date.now() });
  } finally {
    clearTimeout(killing);
  }
};
