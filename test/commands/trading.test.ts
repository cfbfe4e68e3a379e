/** What an operator writes to limit and stop trading, what becomes of it, and in which words the command says so. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { printedLines } from '../../infra/commands/print.ts';
import { manageTrading, type TradingArguments, type TradingPorts } from '../../infra/commands/trading.ts';
import { limitChanges, limitTexts, settableNames } from '../../infra/commands/trading-values.ts';
import { helpOf } from '../../infra/documents/command-page.ts';
import { createAccessAdmin } from '../../lib/access/admin.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { createMemoryAccessStore } from '../../lib/access/store.ts';
import {
  createControlAdmin,
  createMemoryControls,
  type MemoryControls,
} from '../../lib/guard-rails/index.ts';
import { given, refused } from './given.ts';

const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
const issuer = 'https://issuer.example';
const operator = 'arn:aws:iam::123456789012:user/operator';

function world(change: Partial<TradingPorts> = {}, store: Partial<MemoryControls> = {}) {
  const controls = { ...createMemoryControls(), ...store };
  const state = { now: Date.UTC(2026, 10, 22, 15) };
  const directory = createAccessAdmin({ store: createMemoryAccessStore(), identity, by: operator });
  const ports: TradingPorts = {
    stackName: 'Countersign-dev',
    admin: createControlAdmin({ store: controls, identity, by: operator, clock: () => state.now }),
    directory,
    issuer,
    deployed: {},
    ...change,
  };
  /** As one line of a shell; the output since. */
  const run = async (line: string): Promise<string[]> => {
    state.now += 1000;
    const asked = await given<TradingArguments>(`trading ${line}`);
    return [...printedLines(await manageTrading(asked, ports), asked.json)];
  };
  return { run, controls, directory };
}

const effective = 'Written to Countersign-dev; effective in all functions within 5 seconds.';

test('limits are set, narrowed, taken away, and shown as they are written', async () => {
  const { run, controls } = world({ deployed: { max_order_notional: '1000', max_orders_per_minute: 60 } });
  assert.deepEqual(await run('limits'), [
    'gateway',
    '  max_order_notional: 1000 (deployed)',
    '  max_orders_per_minute: 60 (deployed)',
  ]);
  const said = await run(
    'limits --set max_order_notional=25000.50 --set max_duplicative_orders=3/60 --set allowed_sides=BUY,SELL --set actions.max_duplicative_orders=notify --unset max_orders_per_minute --reason "new desk"',
  );
  const shown = [
    'gateway',
    '  max_order_notional: 25000.50 (in place of the deployed 1000)',
    '  max_orders_per_minute: none (in place of the deployed 60)',
    '  max_duplicative_orders: 3/60',
    '  allowed_sides: BUY,SELL',
    '  actions.max_duplicative_orders: notify',
    '  version 1',
  ];
  const named = 'allowed_sides: added BUY, SELL';
  assert.deepEqual([said[0], [...said.slice(1)].sort()], [effective, [...shown, named].sort()]);
  assert.deepEqual((await run('limits --stage dev')).sort(), [...shown].sort());
  assert.deepEqual((await controls.read(['stack'])).get('stack'), {
    version: 1,
    limits: {
      max_order_notional: '25000.50',
      max_duplicative_orders: { orders: 3, seconds: 60 },
      allowed_sides: ['BUY', 'SELL'],
      max_orders_per_minute: null,
      actions: { max_duplicative_orders: 'notify' },
    },
  });
  assert.equal(
    (await run('limits --set max_order_notional=25000.50'))[0],
    'Nothing to change in Countersign-dev.',
  );
});

test('a list that is set says which names it added, and which it removed', async () => {
  const { run } = world({ deployed: { restricted_symbols: ['GME', 'AMC'] } });
  const names = async (line: string) =>
    (await run(`limits ${line}`)).filter((one) => /added|removed/.test(one));
  assert.deepEqual(await names('--set restricted_symbols=GME,BRK.B'), [
    'restricted_symbols: added BRK.B; removed AMC',
  ]);
  assert.deepEqual(await names('--set restricted_symbols=BRK.B'), ['restricted_symbols: removed GME']);
  assert.deepEqual(await names('--set restricted_symbols=BRK.B'), []);
  assert.deepEqual(await names('--set max_order_quantity=5'), []);
  assert.deepEqual(await names('--unset restricted_symbols'), ['restricted_symbols: removed BRK.B']);
  assert.deepEqual(await names('--account 1 --set allowed_sides=BUY'), ['allowed_sides: added BUY']);
});

const setAnother = 'Set it twice as large, or user_shares=none if the gateway has one user.';
const noneOf = (order: string) =>
  `No user can place an order of max_order_notional ${order}: it is more than half of max_open_notional.`;
const half = (name: string, limit: number, verb = 'use') =>
  `One user alone may ${verb} half of ${name} ${limit}. ${setAnother}`;
for (const [set, said] of [
  ['max_open_notional=1000', [half('max_open_notional', 1000)]],
  ['max_open_notional=1000 --set max_order_notional=500', [half('max_open_notional', 1000)]],
  [
    'max_open_notional=1000 --set max_order_notional=500.01',
    [half('max_open_notional', 1000), noneOf('500.01')],
  ],
  ['max_order_notional=5', []],
  ['max_orders_per_minute=30', [half('max_orders_per_minute', 30, 'send')]],
  ['max_open_notional=1000 --set user_shares=none', []],
  ['max_open_notional=1000 --account 1', []],
  ['max_open_notional=1000 --user ada', []],
] as const)
  test(`what --set ${set} leaves to one user is said when it is set`, async () => {
    const lines = await world().run(`limits --set ${set}`);
    assert.deepEqual(
      lines.filter((line) => /^(One|No) user/.test(line)),
      said,
    );
  });

test('a stop says when it is effective, what it leaves, and how to resume', async () => {
  const { run } = world();
  assert.deepEqual(await run('stop --account 1234567 --reason "the strategy repeats itself"'), [
    effective,
    'account 1234567',
    `  stopped since 2026-11-22 15:00:01 UTC by ${operator}: the strategy repeats itself`,
    '  no limits',
    '  version 1',
    `  name in logs: ${await identity.names.nameOf('account', '1234567')}`,
    'Account ids are taken as they are: compare them with those of listAccounts.',
    'Orders are neither placed nor replaced; cancels go through.',
    'Open orders are not cancelled by it: the same command with --cancel-open cancels them.',
    'To resume: countersign trading resume --stage dev --account 1234567 --reason "…"',
  ]);
  const again = await run('stop --account 1234567 --reason other');
  assert.deepEqual(
    [again[0], again[2]?.endsWith(': the strategy repeats itself')],
    ['Nothing to change in Countersign-dev.', true],
  );
  const resumed = await run('resume --account 1234567 --reason "mended"');
  assert.equal(resumed[0], effective);
  assert.ok(!resumed.join('\n').includes('stopped'));
  assert.ok(resumed.some((line) => line.startsWith('A stop of the whole gateway')));
});

test('a stop with --cancel-open asks for it, also of what is stopped already, and says whose orders go', async () => {
  const { run, controls } = world();
  await run('stop --reason why');
  const scopes = async () => (await controls.massCancels.open()).map(({ scope }) => scope);
  assert.deepEqual(await scopes(), []);
  const said = await run('stop --reason "still open" --cancel-open');
  assert.equal(said[0], effective);
  assert.ok(said.includes(`  stopped since 2026-11-22 15:00:01 UTC by ${operator}: why`));
  assert.ok(said.some((line) => line.startsWith('All open orders are being cancelled, also those of other')));
  assert.ok(!said.some((line) => line.includes('are not cancelled')));
  assert.deepEqual(await scopes(), ['stack']);
  const ofUser = await run('stop --user alice --reason why --cancel-open');
  assert.ok(ofUser.some((line) => line.startsWith('Open orders that the user placed through the gateway')));
  const ofAccount = await run('stop --account 1234567 --reason why --cancel-open');
  assert.ok(ofAccount.some((line) => line.startsWith('All open orders of the account are being')));
  assert.equal((await scopes()).length, 3);
  assert.match(
    (await run('history --account 1234567'))[0] ?? '',
    /version 1 {2}stop, cancel open orders: why$/,
  );
});

test('the history names who, whose, what and why, of all or of one', async () => {
  const { run } = world();
  assert.deepEqual(await run('history'), ['The table of Countersign-dev has no change of trading.']);
  await run('limits --set price_collar=5 --unset allowed_symbols');
  await run('stop --account 1234567 --reason why');
  const at = (second: number) => `2026-11-22T15:00:0${second}.000Z  ${operator}  `;
  const lines = [
    `${at(3)}account 1234567 version 1  stop: why`,
    `${at(2)}gateway version 1  unset allowed_symbols (before: as deployed), set price_collar=5 (before: as deployed)`,
  ];
  assert.deepEqual(await run('history'), lines);
  assert.deepEqual(await run('history --limit 1'), lines.slice(0, 1));
  assert.deepEqual(await run('history --account 1234567'), lines.slice(0, 1));
  assert.deepEqual(await run('history --account 7654321'), [
    'The table of Countersign-dev has no change of trading.',
  ]);
});

test('the history says what was set before each change of limits', async () => {
  const { run } = world();
  for (const change of ['--set price_collar=5', '--set price_collar=7', '--unset price_collar']) {
    await run(`limits ${change}`);
    await run(`limits --account 1234567 ${change}`);
  }
  await run('limits --set price_collar=9');
  await run('limits --account 1234567 --set actions.price_collar=notify');
  const changes = (await run('history')).map((line) =>
    line.slice(line.indexOf(operator) + operator.length + 2),
  );
  assert.deepEqual(changes, [
    'account 1234567 version 4  set actions.price_collar=notify (before: the default)',
    'gateway version 4  set price_collar=9 (before: none)',
    'account 1234567 version 3  unset price_collar (before: 7)',
    'gateway version 3  unset price_collar (before: 7)',
    'account 1234567 version 2  set price_collar=7 (before: 5)',
    'gateway version 2  set price_collar=7 (before: 5)',
    'account 1234567 version 1  set price_collar=5 (before: none)',
    'gateway version 1  set price_collar=5 (before: as deployed)',
  ]);
});

test('a user is meant by subject, by the name in logs, and by a key that acts for the user', async () => {
  const { run, controls, directory } = world();
  const user = { kind: 'user', issuer, subject: 'alice' } as const;
  const key = { kind: 'key', id: 'a1b2c3d4e5' } as const;
  const other = { kind: 'key', id: 'f6g7h8i9j0' } as const;
  const grants = { accounts: ['1'], userData: false, scopes: ['trade'] } as const;
  for (const subject of [user, other]) await directory.apply({ action: 'grant', subject, ...grants });
  await directory.apply({ action: 'bind', subject: key, user });
  const name = await directory.nameOf(user);
  for (const [index, text] of ['alice', name, key.id].entries()) {
    await run(`limits --user ${text} --set max_orders_per_minute=${index}`);
    const read = await controls.read([`user ${name}`]);
    assert.equal(read.get(`user ${name}`)?.limits.max_orders_per_minute, index);
  }
  const said = await run(`stop --user ${other.id} --reason why`);
  assert.ok(said.includes(`key ${other.id}`));
  const ofKey = `user ${await directory.nameOf(other)}`;
  assert.ok((await controls.read([ofKey])).get(ofKey)?.stopped);
  assert.equal((await controls.list()).length, 2);
});

test('a user of whom nothing is known is taken at the word, which is said; without tokens refused', async () => {
  const { run } = world();
  const said = await run('stop --user "alice o" --reason why');
  assert.ok(
    said.includes('Nothing has been granted to this user: compare the subject with that of the token.'),
  );
  assert.ok(said.includes('To resume: countersign trading resume --stage dev --user "alice o" --reason "…"'));
  await assert.rejects(
    world({ issuer: undefined }).run('stop --user alice --reason why'),
    /^Error: Nothing has been granted to "alice" in Countersign-dev, which takes no tokens/,
  );
});

test('one text that means two is refused', async () => {
  const { run, directory } = world();
  for (const subject of [
    { kind: 'user', issuer, subject: 'desk' },
    { kind: 'source', name: 'desk' },
  ] as const)
    await directory.apply({ action: 'grant', subject, accounts: ['1'], userData: false, scopes: ['read'] });
  await assert.rejects(run('stop --user desk --reason why'), /"desk" is the name of 2 in Countersign-dev/);
});

test('limits of everything: the gateway first; of one that was never set, a sentence', async () => {
  const { run } = world();
  assert.deepEqual(await run('limits'), ['gateway', '  no limits']);
  await run('limits --account 222 --set max_orders_per_minute=2');
  await run('limits --account 111 --set max_orders_per_minute=1');
  const heads = (await run('limits')).filter((line) => !line.startsWith(' '));
  assert.deepEqual(heads, ['gateway', 'account 111', 'account 222']);
  assert.deepEqual(
    (await run('limits --account 111')).filter((line) => !line.startsWith(' ')),
    ['account 111'],
  );
  assert.deepEqual(await run('limits --account 333'), [
    'Nothing was ever set of account 333 in Countersign-dev.',
  ]);
});

test('as JSON', async () => {
  const { run } = world({ deployed: { max_order_notional: '1000' } });
  const json = async (line: string) => {
    const [text = '', ...others] = await run(`${line} --json`);
    assert.deepEqual(others, []);
    return JSON.parse(text);
  };
  const { changed, control } = await json('stop --account 111 --reason why');
  assert.deepEqual([changed, control.version, control.about.stopped.reason], [true, 1, 'why']);
  const { deployed, controls } = await json('limits');
  assert.deepEqual([deployed, controls.length], [{ max_order_notional: '1000' }, 1]);
  assert.equal((await json('history')).history[0].change.action, 'stop');
});

test('each value is read back as it was written', () => {
  const texts = new Map<string, string | null>([
    ['max_order_quantity', '1.5'],
    ['max_orders_per_minute', '0'],
    ['max_duplicative_orders', '3/60'],
    ['restricted_symbols', 'AAPL,BRK.B'],
    ['max_quote_age', '15'],
    ['allowed_symbols', null],
    ['actions.price_collar', 'block'],
    ['actions.max_order_notional', null],
  ]);
  const changes = limitChanges(texts);
  assert.ok(typeof changes !== 'string');
  assert.deepEqual(limitTexts(changes), texts);
});

test('what says nothing clear is refused in one sentence, before anything is asked', async () => {
  for (const [line, sentence] of [
    ['pause', '"pause" is no command. The commands are limits, stop, resume, history.'],
    ['stop prod --reason why', 'Options follow the command, and nothing besides: a stage is --stage NAME.'],
    [
      'stop --stage Dev --reason why',
      '--stage must be one of dev, prod, prove, which stand in infra/stack/stages.ts.',
    ],
    ['stop', 'stop wants --reason: the history says why.'],
    ['resume --account 1', 'resume wants --reason: the history says why.'],
    ['stop --set a=1 --reason b', 'There is no option --set.'],
    ['limits --reason b', '--reason is for a change: --set or --unset.'],
    ['limits --account 1 --user b', '--account or --user: each has limits of its own.'],
    ['limits --account a/b', '--account must be an account id: 1 to 64 letters, digits, _, . and -.'],
    ['limits --set max_order_notional', '--set takes name=value, such as max_orders_per_minute=30.'],
    ['limits --set max_order_notionl=1', 'max_order_notionl is no limit. Did you mean max_order_notional?'],
    ['limits --unset max_moon', 'max_moon is no limit.'],
    ['limits --set price_collar=1 --unset price_collar', 'price_collar is there twice.'],
    [
      'limits --set max_order_notional=-1',
      "max_order_notional takes a decimal above 0 as text, such as '10000'.",
    ],
    [
      'limits --set max_order_notional=1,000',
      "max_order_notional takes a decimal above 0 as text, such as '10000'.",
    ],
    [
      'limits --set max_orders_per_minute=1.5',
      'max_orders_per_minute takes a whole number from 0 to 100000.',
    ],
    [
      'limits --set max_duplicative_orders=3',
      'max_duplicative_orders takes orders/seconds, such as 3/60: three of the same within a minute.',
    ],
    [
      'limits --set max_duplicative_orders=3/9999',
      'max_duplicative_orders takes a whole number from 1 to 3600.',
    ],
    ...['GME;AMC', 'GME AMC', 'NASDAQ:GME', 'GME,-', 'AAPL,BRK..B', `A,${'B'.repeat(65)}`].map(
      (names) =>
        [
          `limits --set restricted_symbols="${names}"`,
          'restricted_symbols takes a list of at most 1000 symbols, such as AAPL or BRK.B: letters and digits, with single dots, dashes or slashes between.',
        ] as const,
    ),
    [
      'limits --set allowed_order_types=LIMIT,MARKT',
      'allowed_order_types takes a list of MARKET, LIMIT, STOP_LOSS, STOP_LOSS_LIMIT, TRAILING_STOP_LOSS, MARKET_ON_OPEN, MARKET_ON_CLOSE, LIMIT_ON_OPEN.',
    ],
    ['limits --set allowed_sessions=CORE,N', 'allowed_sessions takes a list of ALL, CORE, NIGHT.'],
    ['limits --set allowed_sides=BUY,UP', 'allowed_sides takes a list of BUY, SELL, SHORT.'],
    [
      'limits --set allowed_symbols=',
      'allowed_symbols takes names with commas between, such as AAPL,MSFT; stop ends all trading, --unset takes the limit away.',
    ],
    [
      'limits --set actions.price_collar=ignore',
      'actions.price_collar takes notify, block or block_and_cancel.',
    ],
    ['resume --reason mended --cancel-open', 'There is no option --cancel-open.'],
    ['limits --cancel-open', 'There is no option --cancel-open.'],
    ['history --limit 0', '--limit must be a whole number from 1 to 10000.'],
  ] as const)
    await refused(`trading ${line}`, sentence);
});

test('help names every limit', async () => {
  const help = await helpOf('trading limits');
  for (const name of settableNames.filter((one) => !one.startsWith('actions.')))
    assert.ok(help.includes(name), name);
});

test('of an error of AWS the name alone; others that change the same scope, and a bad reason, in a sentence', async () => {
  const failing = (error: Error) => world({}, { find: () => Promise.reject(error) });
  const stop = 'stop --reason why';
  const aws = Object.assign(new Error('canary'), { name: 'AccessDeniedException' });
  await assert.rejects(failing(aws).run(stop), {
    message: 'The limits of Countersign-dev cannot be read or changed: AccessDeniedException.',
  });
  await assert.rejects(failing(new TypeError('a defect')).run(stop), TypeError);
  await assert.rejects(world({}, { write: async () => false }).run(stop), /Run the command again\.$/);
  await assert.rejects(world().run('stop --reason " "'), /visible characters\. Nothing was changed\.$/);
});
