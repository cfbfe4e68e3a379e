/** `countersign trading`: its arguments, which are checked before AWS is asked anything. */

import type { LimitChanges } from '../../lib/guard-rails/limits.ts';
import { defined } from '../defined.ts';
import { type CommandGroup, command, flag, type GivenOptions, refuse, value, values } from './command.ts';
import { accountIn, deployed, json, pairIn, targetOf, whole } from './readers.ts';
import type { TradingArguments, TradingVerb } from './trading.ts';
import { limitChanges, limitLines } from './trading-values.ts';

const userIn = (text: string): string =>
  text.length > 0 && text.length <= 640 ? text : refuse('must have 1 to 640 characters.');

/** Options for the scope. Without one, a change is about the whole gateway, and `limits` and `history` show everything. */
const scopeOptions = {
  account: value('<id>', 'the scope: one account', accountIn),
  user: value(
    '<who>',
    'the scope: one user, by a token’s subject, a key’s id, an ARN, a source, or the name in a log line',
    userIn,
  ),
};
const targetOptions = { ...deployed, json };
const reasonOption = { reason: value('<text>', 'why: the history keeps it') };
const setOption = values('<name=value>', 'a limit, as often as needed', pairIn('max_orders_per_minute=30'));
const unsetOption = values('<name>', 'removes a limit', (text): readonly [string, null] => [text, null]);

type TradingOptions = GivenOptions<typeof scopeOptions & typeof targetOptions> & {
  readonly reason?: string | undefined;
  readonly set?: readonly (readonly [string, string])[];
  readonly unset?: readonly (readonly [string, null])[];
  readonly cancelOpen?: boolean;
  readonly limit?: number;
};

function checkArguments(verb: TradingVerb, given: TradingOptions): TradingArguments {
  const { account, user, reason, set = [], unset = [], limit = 50, json } = given;
  const changes = changesIn([...set, ...unset]);
  if (reason === undefined && (verb === 'stop' || verb === 'resume'))
    return refuse(`${verb} wants --reason: the history says why.`);
  if (reason !== undefined && verb === 'limits' && !changes)
    return refuse('--reason is for a change: --set or --unset.');
  if (account !== undefined && user !== undefined)
    return refuse('--account or --user: each has limits of its own.');
  return {
    target: targetOf(given),
    verb,
    scope:
      account !== undefined
        ? { kind: 'account', id: account }
        : user === undefined
          ? { kind: 'gateway' }
          : { kind: 'user', text: user },
    limit,
    json,
    ...defined({ changes, reason, cancelOpen: given.cancelOpen || undefined }),
  };
}

/** Merges the changes; undefined when there are none. */
function changesIn(given: readonly (readonly [string, string | null])[]): LimitChanges | undefined {
  if (given.length === 0) return undefined;
  const byName = new Map<string, string | null>();
  for (const [name, text] of given) {
    if (byName.has(name)) return refuse(`${name} is there twice.`);
    byName.set(name, text);
  }
  const changes = limitChanges(byName);
  return typeof changes === 'string' ? refuse(changes) : changes;
}

const limitsHelp = `Limits, by what they take:
${limitLines.join('\n')}
  notify, block or block_and_cancel:
    actions.<limit>
docs/orders.md, "Guard rails", says what each of them bounds.`;

/** Verbs, each with a phrase, its options besides the scope, and an example. */
const verbs = {
  limits: [
    'shows limits and stops, or sets limits',
    { set: setOption, unset: unsetOption, ...reasonOption },
    '--stage prod --set max_order_notional=25000 --set max_orders_per_minute=30',
    limitsHelp,
  ],
  stop: [
    'stops trading: no order is placed or replaced, cancels go through',
    { ...reasonOption, cancelOpen: flag('cancels open orders, also in a second stop') },
    '--stage prod --account 1234567 --reason "the strategy repeats itself" --cancel-open',
  ],
  resume: ['ends a stop', reasonOption, '--stage prod --account 1234567 --reason "the strategy is mended"'],
  history: [
    'shows who changed what and why, the newest first',
    { limit: whole('the most changes to show', 10_000, '50') },
    '--stage prod --limit 20',
  ],
} as const satisfies Readonly<
  Record<TradingVerb, readonly [string, Parameters<typeof command>[0]['options'], string, string?]>
>;

export const trading: CommandGroup = Object.fromEntries(
  Object.entries(verbs).map(([verb, [says, also, example, more]]) => [
    verb,
    [
      says,
      command({
        options: { ...scopeOptions, ...(also as object), ...targetOptions },
        examples: [example],
        ...defined({ more }),
        check: (given) => checkArguments(verb as TradingVerb, given),
        async run(given) {
          const { deployedTrading, manageTrading } = await import('./trading.ts');
          return manageTrading(given, await deployedTrading(given));
        },
      }),
    ],
  ]),
);
