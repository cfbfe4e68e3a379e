/** What an operator may write, what becomes of it, and in which words the command says so. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { printedLines } from '../../../infra/commands/print.ts';
import { manageUsers, type UsersArguments, type UsersPorts } from '../../../infra/commands/users.ts';
import { StartError } from '../../../infra/environment.ts';
import { createAccessAdmin, type Listed } from '../../../lib/access/admin.ts';
import { createDirectory } from '../../../lib/access/create-directory.ts';
import type { Principal } from '../../../lib/access/evidence.ts';
import { createIdentity } from '../../../lib/access/identity.ts';
import { type AccessStore, createMemoryAccessStore } from '../../../lib/access/store.ts';
import { readClaims, skewSeconds } from '../../../lib/access/token-claims.ts';
import { given, refused } from '../given.ts';

const identity = createIdentity(async () => 'an-identity-key-of-a-test-0123456789');
const issuer = 'https://issuer.example';

function world(change: Partial<AccessStore> = {}, outputs: Readonly<Record<string, string>> = {}) {
  const store = { ...createMemoryAccessStore(), ...change };
  const state = { now: Date.UTC(2026, 10, 22, 15, 0, 0, 500) };
  const clock = () => state.now;
  const ports: UsersPorts = {
    stackName: 'Countersign-dev',
    outputs: new Map(Object.entries({ AuthIssuer: issuer, ApiKeyId: 'a1b2c3d4e5', ...outputs })),
    admin: createAccessAdmin({ store, identity, by: 'arn:aws:iam::1:user/operator', clock }),
    clock,
  };
  /** As one line of a shell; the output since. */
  const run = async (line: string): Promise<string[]> => {
    state.now += 1000;
    const asked = await given<UsersArguments>(`users ${line}`);
    return [...printedLines(await manageUsers(asked, ports), asked.json)];
  };
  const directory = () => createDirectory({ store, identity, clock });
  return { run, state, directory, store };
}

const user = { kind: 'user', issuer, subject: 'alice' } as const;
const key = { kind: 'key', id: 'a1b2c3d4e5' } as const;

test('a user’s life: granted, seen, narrowed, blocked, and away', async () => {
  const { run, directory } = world();
  const granted = await run('grant --user alice --account 111 --account 222 --user-data --scopes trade,read');
  assert.equal(granted[0], 'Written to Countersign-dev; its functions see it within 60 seconds.');
  assert.deepEqual(granted.slice(1, 6), [
    'user alice',
    `  issuer: ${issuer}`,
    '  account 111: read, trade',
    '  account 222: read, trade',
    '  watchlists: read, trade',
  ]);
  const standing = await directory().standing({ principal: user });
  assert.equal(granted[6], `  name in logs: ${standing.user}`);
  assert.match(granted[7] ?? '', /^Account ids are taken as they are/);
  assert.deepEqual(
    (await run('grant --user alice --account 111'))[0],
    'Nothing to change in Countersign-dev.',
  );

  assert.ok((await run('revoke --user alice --account 111 --scopes trade')).includes('  account 111: read'));
  assert.ok(!(await run('revoke --user alice --account 222')).join().includes('222'));
  assert.ok((await run('block --user alice')).includes('  blocked'));
  assert.equal((await directory().standing({ principal: user })).kind, 'revoked');
  assert.ok(
    (await run('grant --user alice --account 333')).join().includes('none of this counts until unblock'),
  );
  await run('unblock --user alice');
  assert.deepEqual((await run('revoke --user alice')).slice(1), [
    'user alice',
    '  may do nothing, and is not blocked',
  ]);
  assert.equal((await directory().standing({ principal: user })).kind, 'unknown');
  assert.deepEqual(await run('list'), ['Nothing has been granted in Countersign-dev.']);
});

test('a key acts for a user: bound by its names or its id, shown with the user, and alone again', async () => {
  const { run, directory } = world();
  await run('grant --user alice --all-accounts --scopes read');
  const bound = await run('bind --key default/default --user alice');
  assert.deepEqual(bound.slice(1, 3), ['key a1b2c3d4e5', '  acts for user alice, with that user’s rights']);
  const standing = await directory().standing({ principal: key });
  assert.deepEqual(standing.kind === 'granted' && [...standing.grants.accounts.keys()], ['*']);
  assert.ok((await run('show --user alice')).includes('  key a1b2c3d4e5 acts for it'));
  assert.ok((await run(`show --name ${standing.user}`)).includes('  every account: read'));
  await assert.rejects(
    run('grant --key a1b2c3d4e5 --account 1'),
    /stands for a user.*Nothing was changed\.$/,
  );
  await run('unbind --key a1b2c3d4e5');
  assert.equal((await directory().standing({ principal: key })).kind, 'unknown');
  await run('grant --key a1b2c3d4e5 --account 1');
  await assert.rejects(run('bind --key a1b2c3d4e5 --user alice'), /has grants of its own/);
});

test('after a change of issuer, what takes away reaches the user of the issuer before, too', async () => {
  const before = 'https://before.example';
  const earlier = world({}, { AuthIssuer: before });
  await earlier.run('grant --user alice --all-accounts --scopes read,trade');
  await earlier.run('bind --key a1b2c3d4e5 --user alice');
  await earlier.run('bind --key b1b2c3d4e5 --user bob');
  const { run, directory } = world(earlier.store);
  const kindOf = async (principal: Principal) => (await directory().standing({ principal })).kind;
  await run('grant --user alice --account 111');
  assert.deepEqual(
    (await run('show --user alice')).filter((line) => /issuer|acts/.test(line)),
    [`  issuer: ${issuer}`, `  issuer: ${before}`, '  key a1b2c3d4e5 acts for it'],
  );
  assert.ok((await run('list')).includes(`  acts for user alice of ${before}, with that user’s rights`));
  assert.deepEqual(await run('show --user bob'), [`user bob of ${before}`, '  key b1b2c3d4e5 acts for it']);

  assert.equal(await kindOf(key), 'granted');
  assert.equal(
    (await run('block --user alice')).at(-1),
    `That is the user of the stage’s issuer, and of each other one in the table: ${issuer}, ${before}. grant, bind and unblock take the stage’s issuer.`,
  );
  assert.deepEqual([await kindOf(key), await kindOf(user)], ['revoked', 'revoked']);
  await run('unblock --user alice');
  assert.deepEqual([await kindOf(key), await kindOf(user)], ['revoked', 'granted']);
  assert.ok((await run('block --user bob')).includes(`  issuer: ${before}`));
  await run('sign-out --user alice');
  // The two of one moment stand in any order.
  const [one = '', other = ''] = (await run('audit --limit 2')).sort();
  assert.match(one, /operator {2}sign-out user alice of https:\/\/before\.example tokens before/);
  assert.match(other, /operator {2}sign-out user alice tokens before/);
  const { others } = JSON.parse((await run('revoke --user alice --json')).join());
  assert.deepEqual(
    others.map(({ record }: { record: Listed }) => 'accounts' in record.record && record.record.accounts),
    [[]],
  );
  const tokenless = world(earlier.store, { AuthIssuer: '' });
  assert.equal((await tokenless.run('block --user alice')).filter((line) => line === '  blocked').length, 2);
});

test('what reached one issuer alone is said to have, and to be done again', async () => {
  const earlier = world({}, { AuthIssuer: 'https://before.example' });
  await earlier.run('grant --user alice --account 111');
  let writes = 0;
  const { run } = world({
    ...earlier.store,
    write: (one) => (writes++ > 0 ? Promise.reject(new Error('away')) : earlier.store.write(one)),
  });
  await assert.rejects(
    run('block --user alice'),
    /^Error: Written to Countersign-dev for the user of https:\/\/issuer\.example, and not for that of https:\/\/before\.example: run the command again\.$/,
  );
});

test('every account stays granted when one is revoked, and the operator is told', async () => {
  const { run } = world();
  await run('grant --iam arn:aws:sts::123456789012:assumed-role/traders/session --all-accounts');
  const words = await run('revoke --iam arn:aws:iam::123456789012:role/path/traders --account 111');
  assert.ok(words.join().includes('Every account is still granted'));
  assert.ok(words.includes('iam arn:aws:iam::123456789012:role/traders'));
});

test('to revoke every account leaves none, and a bound key’s rights are said to be its user’s', async () => {
  const { run, directory } = world();
  await run('grant --user alice --account 111 --all-accounts --scopes read,trade');
  await run('bind --key a1b2c3d4e5 --user alice');
  const words = await run('revoke --key a1b2c3d4e5 --all-accounts');
  assert.ok(words.includes('It goes on with the rights of user alice: unbind or block ends that.'));
  await run('revoke --user alice --all-accounts');
  assert.equal((await directory().standing({ principal: user })).kind, 'unknown');
});

test('a token’s block is never made shorter by another one', async () => {
  const { run } = world();
  await run('block --token jti-1 --days 100');
  assert.ok((await run('block --token jti-1')).includes('  blocked until 2027-03-02'));
  assert.ok((await run('block --token jti-1 --days 101')).includes('  blocked until 2027-03-03'));
  await run('unblock --token jti-1');
  assert.ok((await run('block --token jti-1 --days 1')).includes('  blocked until 2026-11-23'));
});

test('tokens and apps are blocked, a token for its days, and a user’s tokens by whichever clock they were issued', async () => {
  const { run, directory, state } = world();
  await run('grant --user alice --account 1');
  assert.ok((await run('block --token jti-1 --days 2')).includes('  blocked until 2026-11-24'));
  assert.ok((await run('block --app app-1')).includes('  blocked'));
  const issuedAt = Math.floor(state.now / 1000);
  const standingOf = async (token: object) =>
    (await directory().standing({ principal: user, token: { issuedAt, ...token } })).kind;
  assert.equal(await standingOf({ id: 'jti-1' }), 'revoked');
  assert.equal(await standingOf({ clientId: 'app-1' }), 'revoked');
  assert.equal(await standingOf({ id: 'jti-2', clientId: 'app-2' }), 'granted');
  await run('unblock --app app-1');
  assert.equal(await standingOf({ clientId: 'app-1' }), 'granted');
  state.now += 2 * 86_400_000;
  assert.equal(await standingOf({ id: 'jti-1' }), 'granted');
  assert.ok(
    (await run('sign-out --user alice')).join().includes('The user can sign in again after 60 seconds'),
  );
  const now = Math.floor(state.now / 1000);
  // The issuer's clock is ahead of the operator's by as much as the verifier allows, and then by more.
  for (const issuedAt of [now, now + 1, now + skewSeconds])
    assert.equal(await standingOf({ issuedAt }), 'revoked');
  assert.equal(await standingOf({ issuedAt: now + skewSeconds + 1 }), 'granted');
});

test('the audit has a line for each change, the newest first, and none for a look or for nothing', async () => {
  const { run, store } = world();
  for (const line of [
    'grant --user alice --account 111 --user-data',
    'grant --user alice --account 111 --user-data',
    'revoke --user alice --account 111',
    'bind --source app --user alice',
    'block --token jti --days 1',
    'sign-out --user alice',
    'revoke --user alice',
    'list',
    'show --user alice',
  ])
    await run(line);
  const by = 'arn:aws:iam::1:user/operator';
  assert.deepEqual(await run('audit'), [
    `2026-11-22T15:00:07.500Z  ${by}  revoke user alice everything`,
    `2026-11-22T15:00:06.500Z  ${by}  sign-out user alice tokens before 2026-11-22 15:01:07 UTC`,
    `2026-11-22T15:00:05.500Z  ${by}  block token jti until 2026-11-23`,
    `2026-11-22T15:00:04.500Z  ${by}  bind source app to user alice`,
    `2026-11-22T15:00:03.500Z  ${by}  revoke user alice account 111: everything`,
    `2026-11-22T15:00:01.500Z  ${by}  grant user alice account 111, watchlists: read`,
  ]);
  assert.equal((await run('audit --limit 2')).length, 2);
  for (const { id, sealed } of await store.audit(100))
    assert.doesNotMatch(id + Buffer.from(sealed).toString('latin1'), /alice|"111"|operator/);
});

test('as JSON, one line each', async () => {
  const { run } = world();
  const [changed = '', ...more] = await run('grant --key default/default --account 1 --json');
  assert.deepEqual(more, []);
  const { name, ...rest } = JSON.parse(changed);
  const record = { principal: key, accounts: [['1', ['read']]], userData: [] };
  assert.deepEqual(rest, { stack: 'Countersign-dev', changed: true, record: { name, record } });
  const only = async (line: string) => JSON.parse((await run(line)).join('\n'));
  assert.deepEqual((await only('list --json')).records, [{ name, record }]);
  assert.deepEqual((await only('show --key a1b2c3d4e5 --json')).record, { name, record });
  assert.equal((await only('audit --json')).audit[0].change.action, 'grant');
});

test('records under another identity key are counted, and no lines are invented for them', async () => {
  const { run, store } = world();
  const stranger = createIdentity(async () => 'another-identity-key-of-a-test-012345');
  const admin = createAccessAdmin({ store, identity: stranger, by: 'x' });
  await admin.apply({ action: 'block', subject: user });
  assert.match((await run('list')).join(), /1 more were written under another identity key/);
  assert.match((await run('audit')).join(), /sealed with another identity key/);
});

test('an operator can block each user, app and token that is accepted', async () => {
  const rules = { issuer, audience: 'api' };
  const claims = { iss: issuer, aud: 'api', iat: 1, exp: 2 };
  const accepted = (more: object) => !('fault' in readClaims({ ...claims, ...more }, 'at+jwt', rules, 1500));
  const canBlock = async (option: string, text: string) => {
    const { who } = await given<UsersArguments>(['users', 'block', `--${option}=${text}`]);
    assert.ok(who && Object.values(who).includes(text), text);
  };
  const part = fc.constantFrom(
    'a',
    'é',
    ' ',
    '  ',
    '\u00a0',
    '\u202e',
    '\ud800',
    '\n',
    '|',
    '=',
    'x'.repeat(255),
  );
  const text = fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
  );
  let count = 0;
  await fc.assert(
    fc.asyncProperty(text, async (one) => {
      if (!accepted({ sub: one, client_id: one, jti: one })) return;
      count++;
      for (const option of ['user', 'app', 'token']) await canBlock(option, one);
    }),
    { numRuns: 1000 },
  );
  assert.ok(count > 100, `${count}`);
  for (const good of ['CN=Ada Lovelace,O=Example', 'é'.repeat(512)]) assert.ok(accepted({ sub: good }), good);
  for (const bad of [' ada', 'ada ', 'a  b', 'a\u00a0b']) assert.ok(!accepted({ sub: bad }), bad);
});

test('a line that says nothing clear is refused in one sentence', async () => {
  const who = '--user alice';
  const key40 = 'k'.repeat(40);
  for (const [line, sentence] of [
    ['give', /^"give" is no command\. The commands are grant, /],
    ['grnat', '"grnat" is no command. Did you mean grant?'],
    ['prod grant', /^"prod" is no command/],
    ['list prod', 'Options follow the command, and nothing besides: a stage is --stage NAME.'],
    ['list --stage Dev', '--stage must be one of dev, prod, prove, which stand in infra/stack/stages.ts.'],
    ['list --stage dev --stack Own', '--stage or --stack: each names a stack.'],
    ['list --stack a/b', /^--stack must be the name of a stack in CloudFormation/],
    ['grant --account 1', /^grant takes one of --user, --key, --iam, --source/],
    ['grant --user a --key b --account 1', /^grant takes one of/],
    [`grant ${who}`, /^grant wants --account/],
    [`grant ${who} --account *`, /^--account must be an account id/],
    [`grant ${who} --account 1 --scopes all`, /^--scopes must be of read, trade, write/],
    [`grant ${who} --account 1 --limit 2`, /^There is no option --limit/],
    [`grant ${who} --accounts 1`, 'There is no option --accounts. Did you mean account?'],
    ['grant --user a\u202eb --account 1', /^--user must be 1 to 512 visible characters/],
    [['grant', '--user', '', '--account', '1'], /visible characters/],
    [`grant --key ${key40} --account 1`, /id of an API key, not its value/],
    ['grant --iam traders --account 1', /must be the ARN/],
    // No caller has one of these: a block of it would have no effect.
    ['block --iam arn:aws:sts::123456789012:assumed-role/traders', /must be the ARN/],
    ['block --iam arn:aws:iam::123456789012:role/', /must be the ARN/],
    ['block --iam arn:aws:iam::123456789012:group/traders', /must be the ARN/],
    ['block --iam arn:aws:iam::123456789012:policy/traders', /must be the ARN/],
    ['block --iam arn:aws:sts::123456789012:role/traders', /must be the ARN/],
    ['bind --key a1', /^bind wants --user/],
    ['bind --user a', /^bind takes one of --key, --iam, --source/],
    ['sign-out --user a --key a1', 'There is no option --key.'],
    ['block --user a --days 3', /^--days is for a token/],
    ['block --token a --days 0', '--days must be a whole number from 1 to 3650.'],
    ['audit --limit many', '--limit must be a whole number from 1 to 10000.'],
    ['list --user a', 'There is no option --user.'],
  ] as const)
    await refused(typeof line === 'string' ? `users ${line}` : ['users', ...line], sentence, key40);
  for (const callers of [
    'iam::123456789012:user/path/ada',
    'iam::123456789012:root',
    'sts::123456789012:federated-user/ada',
  ])
    assert.deepEqual((await given<UsersArguments>(`users block --iam arn:aws:${callers}`)).who, {
      kind: 'iam',
      arn: `arn:aws:${callers}`,
    });
  const targetOf = async (line: string) => (await given<UsersArguments>(`users list ${line}`)).target;
  assert.deepEqual(await targetOf(''), { stackName: 'Countersign-dev', options: '--stage dev' });
  assert.deepEqual(await targetOf('--stage prod'), {
    stackName: 'Countersign-prod',
    options: '--stage prod',
  });
  assert.deepEqual(await targetOf('--stack Own'), { stackName: 'Own', options: '--stack Own' });
});

test('what cannot be done is one sentence, and nothing was written', async () => {
  const { run, store } = world({}, { AuthIssuer: '' });
  await assert.rejects(
    run('grant --user alice --account 1'),
    /takes no tokens, so it has no users: set auth/,
  );
  await assert.rejects(run('grant --key mobile/phone --account 1'), /has no key phone in a plan mobile/);
  await assert.rejects(run('revoke --key a1 --scopes read'), /Of what: --account/);
  assert.deepEqual(await store.audit(10), []);

  const away = () => Promise.reject(Object.assign(new Error('canary'), { name: 'AccessDeniedException' }));
  for (const line of ['list', 'audit', 'show --key a1', 'grant --key a1 --account 1'])
    await assert.rejects(world({ read: away, list: away, audit: away }).run(line), (error) => {
      assert.ok(error instanceof StartError);
      assert.equal(
        error.message,
        'The users of Countersign-dev cannot be read or changed: AccessDeniedException.',
      );
      return true;
    });
  const contended = world({ write: async () => false });
  await assert.rejects(
    contended.run('grant --key a1 --account 1'),
    /nothing was changed\. Run the command again/,
  );
});

test('a change is said to be written although the table cannot be read any more', async () => {
  const store = createMemoryAccessStore();
  let isAway = false;
  const { run } = world({
    ...store,
    read: (keys) => (isAway ? Promise.reject(new Error('the table is away')) : store.read(keys)),
    async write(change) {
      isAway = true;
      return store.write(change);
    },
  });
  assert.deepEqual((await run('block --token jti-1 --days 2')).slice(0, 3), [
    'Written to Countersign-dev; its functions see it within 60 seconds.',
    'token jti-1',
    '  blocked until 2026-11-24',
  ]);
  assert.equal((await store.audit(10)).length, 1);
});
