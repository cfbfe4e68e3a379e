/**
 * The function that places orders, killed where a header of the test says so: in place of the real handler's file, never
 * within it.
 */

import { handler as orders } from '../../functions/orders/handler.ts';

/** In milliseconds after the request came. */
export const killHeader = 'x-test-kill-after-ms';

export const handler: typeof orders = (event, context) => {
  const after = Object.entries(event.headers ?? {}).find(([name]) => name.toLowerCase() === killHeader)?.[1];
  if (after !== undefined) setTimeout(() => process.exit(1), Number(after));
  return orders(event, context);
};
