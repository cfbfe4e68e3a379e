/** The arguments of `npm run orders`: what stands in them, checked before AWS is asked anything. */

import { defined } from '../defined.ts';
import { type Fail, failWith, parsedArguments, stageIn } from './arguments.ts';

export interface OrdersArguments {
  readonly stage: string;
  readonly verb: 'audit';
  readonly account?: string;
  readonly clientOrderId?: string;
  /** A user's subject, a key's id, a role's ARN, a source, or the name in a log line. */
  readonly user?: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
}

const options = {
  account: { type: 'string' },
  'client-order-id': { type: 'string' },
  user: { type: 'string' },
  since: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const usage = `Usage: npm run orders -- audit [stage] …          (without a stage: dev)

  Prints who ordered what: a line of JSON for each request that placed, changed or cancelled an order, oldest first.

  --since <30d, 12h, or 2026-11-22, or 2026-11-22T15:00:00Z>   default: 30d
  --account <id>
  --client-order-id <id>
  --user <subject of the token, id of the key, ARN, source, or the name in a log line>

  npm run orders -- audit prod --since 7d --account 1234567
  npm run orders -- audit prod --client-order-id gw-20261021-000001 --since 2026-10-01`;

const fail: Fail = failWith('npm run orders -- --help shows what there is.');

/**
 * @param now in milliseconds since the epoch
 * @returns undefined when help is wanted
 * @throws StartError for arguments that say nothing clear
 */
export function ordersArguments(
  args: readonly string[],
  now: number = Date.now(),
): OrdersArguments | undefined {
  const { values, positionals } = parsedArguments(args, options, fail);
  if (values.help || args.length === 0) return undefined;
  const [verb, stage = 'dev', ...rest] = positionals;
  if (verb !== 'audit' || rest.length > 0)
    return fail(`${JSON.stringify(positionals.join(' '))} is not audit with a stage.`);
  return {
    stage: stageIn(stage, fail),
    verb,
    since: sinceIn(values.since ?? '30d', now),
    ...defined({ account: values.account, clientOrderId: values['client-order-id'], user: values.user }),
  };
}

const unitMs = { d: 86_400_000, h: 3_600_000 } as const;

/** Before this there was no audit; each day before it would be a query for nothing. */
const earliest = Date.UTC(2026, 0, 1);

function sinceIn(text: string, now: number): number {
  const [, count, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  const isMoment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(text);
  const since = unit
    ? now - Number(count) * unitMs[unit as keyof typeof unitMs]
    : isMoment
      ? Date.parse(text)
      : Number.NaN;
  if (!(since <= now))
    return fail(
      '--since must be days or hours, such as 30d or 12h, or a day or a moment in UTC that is past.',
    );
  return Math.max(earliest, since);
}
