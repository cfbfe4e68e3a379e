/**
 * The function that places orders, killed where a header of the test says so: in place of the real handler's file, never
 * within it.
 */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { handler as orders } from '../../functions/orders/handler.ts';
import { placeOrder } from '../../lib/catalogue/index.ts';
import { killHeader } from './kill-header.ts';

const answered = 'http.client.response.finish';

function exitAfterPlacement(message: unknown): void {
  const { request } = message as { readonly request: { readonly path: string } };
  if (request.path.endsWith(placeOrder.path)) process.exit(1);
}

export const handler: typeof orders = (event, context) => {
  const at = Object.entries(event.headers ?? {}).find(([name]) => name.toLowerCase() === killHeader)?.[1];
  if (at === undefined) return orders(event, context);
  if (at !== 'answered') setTimeout(() => process.exit(1), Number(at));
  else subscribe(answered, exitAfterPlacement);
  return orders(event, context).finally(() => unsubscribe(answered, exitAfterPlacement));
};
