/** The arguments of `npm run trading`: what stands in them, checked before AWS is asked anything. */

import type { LimitChanges } from '../../lib/guard-rails/limits.ts';
import { accountIn, type Fail, failWith, onlyKnown, parsedArguments, stageIn, wholeIn } from './arguments.ts';
import { limitChanges } from './trading-values.ts';

const verbs = {
  limits: ['account', 'user', 'set', 'unset', 'reason'],
  stop: ['account', 'user', 'reason', 'cancel-open'],
  resume: ['account', 'user', 'reason'],
  history: ['account', 'user', 'limit'],
} as const;

export type TradingVerb = keyof typeof verbs;

/** Whose trading is meant, as the operator writes it. */
export type TradingScope =
  | { readonly kind: 'gateway' }
  | { readonly kind: 'account'; readonly id: string }
  /** A subject of a token, or the name of a key, a role or a source. */
  | { readonly kind: 'user'; readonly text: string };

export interface TradingArguments {
  readonly stage: string;
  readonly verb: TradingVerb;
  readonly scope: TradingScope;
  /** Absent where limits are only shown. */
  readonly changes?: LimitChanges;
  readonly reason?: string;
  /** Of a stop: cancels what is open, too. */
  readonly cancelOpen?: boolean;
  readonly limit: number;
  readonly json: boolean;
}

const options = {
  account: { type: 'string' },
  user: { type: 'string' },
  set: { type: 'string', multiple: true },
  unset: { type: 'string', multiple: true },
  reason: { type: 'string' },
  'cancel-open': { type: 'boolean' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const usage = `Usage: npm run trading -- <command> [stage] …          (without a stage: dev)

  limits  [<whose>]                                      shows limits and stops
  limits  [<whose>] --set <name>=<value> … --unset <name> … [--reason <text>]
  stop    [<whose>] --reason <text> [--cancel-open]      no order is placed or replaced; cancels go through;
                                                         --cancel-open cancels what is open, also in a second stop
  resume  [<whose>] --reason <text>
  history [<whose>] [--limit 50]                         who changed what and why, the newest first

<whose>  --account <id> | --user <subject of the token, id of the key, ARN, source, or the name in a log line>
         without it the whole gateway; limits and history: everything
Limits   max_order_quantity, max_order_notional, max_open_notional=50000.00, max_orders_per_minute=30,
         max_duplicative_orders=3/60 (orders/seconds), price_collar=5 (percent), allowed_symbols=AAPL,MSFT,
         restricted_symbols, allowed_sides, allowed_order_types, allowed_sessions,
         market_order_margin=5 (percent), max_quote_age=15 (seconds), allow_unknown=price,futures, actions.<limit>=notify, block or
         block_and_cancel
--json prints JSON. docs/orders.md, "Guard rails", says what each limit bounds.

  npm run trading -- limits prod --set max_order_notional=25000 --set max_orders_per_minute=30
  npm run trading -- stop prod --account 1234567 --reason "the strategy repeats itself" --cancel-open`;

const fail: Fail = failWith('npm run trading -- --help lists the commands.');

/**
 * @returns undefined when help is wanted
 * @throws StartError for arguments that say nothing clear
 */
export function tradingArguments(args: readonly string[]): TradingArguments | undefined {
  const { values, positionals } = parsedArguments(args, options, fail);
  if (values.help || args.length === 0) return undefined;
  const [verb = '', stage = 'dev', ...rest] = positionals;
  if (!isVerb(verb) || rest.length > 0)
    return fail(`${JSON.stringify(positionals.join(' '))} is no command with a stage.`);
  stageIn(stage, fail);
  onlyKnown(verb, values, [...verbs[verb], 'json'], fail);
  const { reason } = values;
  const changes = changesIn(values.set, values.unset);
  if (reason === undefined && (verb === 'stop' || verb === 'resume'))
    return fail(`${verb} wants --reason: the history says why.`);
  if (reason !== undefined && verb === 'limits' && !changes)
    return fail('--reason is for a change: --set or --unset.');
  return {
    stage,
    verb,
    scope: scopeIn(values.account, values.user),
    ...(changes && { changes }),
    ...(reason !== undefined && { reason }),
    ...(values['cancel-open'] && { cancelOpen: true }),
    limit: wholeIn('limit', values.limit ?? '50', 10_000, fail),
    json: values.json ?? false,
  };
}

const isVerb = (text: string): text is TradingVerb => Object.hasOwn(verbs, text);

function scopeIn(account: string | undefined, user: string | undefined): TradingScope {
  if (account !== undefined && user !== undefined)
    return fail('--account or --user: each has limits of its own.');
  if (account !== undefined) return { kind: 'account', id: accountIn(account, fail) };
  if (user === undefined) return { kind: 'gateway' };
  return user.length > 0 && user.length <= 640
    ? { kind: 'user', text: user }
    : fail('--user must have 1 to 640 characters.');
}

/** Undefined where nothing is to be changed. */
function changesIn(set: readonly string[] = [], unset: readonly string[] = []): LimitChanges | undefined {
  const given = new Map<string, string | null>();
  const pairs = set.map((text) => {
    const at = text.indexOf('=');
    return at > 0
      ? ([text.slice(0, at), text.slice(at + 1)] as const)
      : fail(`--set takes name=value, such as max_orders_per_minute=30, not ${JSON.stringify(text)}.`);
  });
  for (const [name, text] of [...pairs, ...unset.map((name) => [name, null] as const)]) {
    if (given.has(name)) return fail(`${name} is there twice.`);
    given.set(name, text);
  }
  if (given.size === 0) return undefined;
  const changes = limitChanges(given);
  return typeof changes === 'string' ? fail(changes) : changes;
}
