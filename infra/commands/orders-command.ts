/** `countersign orders` as an operator types it: checked before AWS is asked anything. */

import { defined } from '../defined.ts';
import { command, type Group, refuse, value } from './command.ts';
import type { OrdersArguments } from './orders.ts';
import { accountIn, deployed, json, targetOf } from './readers.ts';

const unitMs = { d: 86_400_000, h: 3_600_000 } as const;

/** Before this there was no audit; each day before it would be a query for nothing. */
const earliest = Date.UTC(2026, 0, 1);

/** @param now in milliseconds since the epoch */
export function sinceIn(text: string, now: number = Date.now()): number {
  const [, count, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  const isMoment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(text);
  const since = unit
    ? now - Number(count) * unitMs[unit as keyof typeof unitMs]
    : isMoment
      ? Date.parse(text)
      : Number.NaN;
  return since <= now
    ? Math.max(earliest, since)
    : refuse('must be days or hours, such as 30d or 12h, or a day or a moment in UTC that is past.');
}

export const orders: Group = {
  audit: [
    'prints who ordered what, oldest first: a line of JSON for each request that placed, changed or cancelled an order',
    command({
      options: {
        since: value(
          '<when>',
          '30d, 12h, 2026-11-22 or 2026-11-22T15:00:00Z',
          (text) => sinceIn(text),
          '30d',
        ),
        account: value('<id>', 'orders of one account', accountIn),
        clientOrderId: value('<id>', 'one order'),
        user: value('<who>', 'a token’s subject, a key’s id, an ARN, a source, or the name in a log line'),
        ...deployed,
        json,
      },
      examples: [
        '--stage prod --since 7d --account 1234567',
        '--stage prod --client-order-id gw-20261021-000001 --since 2026-10-01',
      ],
      check: ({ since, json, account, clientOrderId, user, ...target }): OrdersArguments => ({
        target: targetOf(target),
        since,
        json,
        ...defined({ account, clientOrderId, user }),
      }),
      async run(given) {
        const { deployedOrders, showOrders } = await import('./orders.ts');
        await showOrders(given, await deployedOrders(given));
      },
    }),
  ],
};
