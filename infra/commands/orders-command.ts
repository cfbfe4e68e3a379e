/** `countersign orders`: its arguments, which are checked before AWS is asked anything. */

import { defined } from '../defined.ts';
import { type CommandGroup, command, flag, refuse, value, values } from './command.ts';
import type { OrdersArguments } from './orders.ts';
import type { DecideArguments } from './orders-decide.ts';
import type { RestoredArguments } from './orders-restored.ts';
import { accountIn, deployed, json, oneOf, targetOf } from './readers.ts';

const unitMs = { d: 86_400_000, h: 3_600_000 } as const;

/** First day that has an audit; a query for each earlier day would find nothing. */
const firstAuditDay = Date.UTC(2026, 0, 1);

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
    ? Math.max(firstAuditDay, since)
    : refuse('must be days or hours, such as 30d or 12h, or a day or a moment in UTC that is past.');
}

const tableIn = oneOf('journal', 'controls', 'users');

const requiredReason = (reason: string | undefined, keeper: string): string =>
  reason ?? refuse(`--reason must say why: ${keeper} keeps it.`);

async function showRestored(given: RestoredArguments) {
  const { deployedRestored, showRestored } = await import('./orders-restored.ts');
  return showRestored(given, await deployedRestored(given));
}

export const orders: CommandGroup = {
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
        unsettled: flag('only requests whose outcome is not known'),
        ...deployed,
        json,
      },
      examples: [
        '--stage prod --unsettled',
        '--stage prod --since 7d --account 1234567',
        '--stage prod --client-order-id gw-20261021-000001 --since 2026-10-01',
      ],
      check: ({ since, json, unsettled, account, clientOrderId, user, ...target }): OrdersArguments => ({
        target: targetOf(target),
        since,
        unsettled,
        json,
        ...defined({ account, clientOrderId, user }),
      }),
      async run(given) {
        const { deployedOrders, showOrders } = await import('./orders.ts');
        return showOrders(given, await deployedOrders(given));
      },
    }),
  ],
  decide: [
    'says what became of an order that has been unknown for twenty minutes, or that an order has ended',
    command({
      options: {
        account: value('<id>', 'the order’s account', accountIn),
        clientOrderId: value(
          '<id>',
          'the order; with --as ended, absent for all that limits count of the account',
        ),
        as: value(
          '<what>',
          'accepted: it counts until the upstream shows its end; no_effect: its id is free; ended: it was placed, and limits count it no longer',
          oneOf('accepted', 'no_effect', 'ended'),
        ),
        reason: value('<text>', 'why: the audit keeps it'),
        ...deployed,
      },
      examples: [
        '--stage prod --account 1234567 --client-order-id gw-20261021-000001 --as no_effect --reason "the broker has no such order"',
        '--stage prod --account 1234567 --as ended --reason "the account left the app key"',
      ],
      more: 'no_effect and ended look at the upstream first: an order that it shows is not decided against. One that shows later is accepted again, and counts. What an operator decided, an operator may decide again.',
      check: ({ account, clientOrderId, as: decision, reason, ...target }): DecideArguments => {
        if (decision === undefined) return refuse('--as must be accepted, no_effect or ended.');
        if (account === undefined || (clientOrderId === undefined && decision !== 'ended'))
          return refuse('--account and --client-order-id must say which order is meant.');
        return {
          account,
          ...defined({ clientOrderId }),
          decision,
          reason: requiredReason(reason, 'the audit'),
          target: targetOf(target),
        };
      },
      async run(given) {
        const { decide, deployedDecision } = await import('./orders-decide.ts');
        return decide(given, await deployedDecision(given));
      },
    }),
  ],
  restored: [
    'shows which tables were restored to an earlier time, and what orders wait for',
    command({
      options: deployed,
      examples: ['--stage prod'],
      check: (given): RestoredArguments => ({ target: targetOf(given) }),
      run: showRestored,
    }),
  ],
  confirm: [
    'takes a restored table as it is now: orders open when none is left that was restored',
    command({
      options: {
        table: values('<name>', 'journal, controls or users, as often as needed', tableIn),
        reason: value('<text>', 'why: the history of trading keeps it'),
        ...deployed,
      },
      examples: ['--stage prod --table controls --reason "limits and stops are set again"'],
      more: 'Set limits, stops and grants again before you confirm controls and users. The journal opens by itself: confirm it only when the command says so, and nothing is open that limits have to count.',
      check: ({ table: tables, reason, ...target }): RestoredArguments => ({
        target: targetOf(target),
        confirms: {
          tables: tables.length > 0 ? tables : refuse('--table must be journal, controls or users.'),
          reason: requiredReason(reason, 'the history of trading'),
        },
      }),
      run: showRestored,
    }),
  ],
};
