/** `countersign token` against the simulator and a stand-in for AWS: what it stores, what it leaves, and what it says. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import { deployedPorts, renewToken, type TokenPorts } from '../../../infra/commands/token.ts';
import { StartError } from '../../../infra/environment.ts';
import { type SimulatorOptions, startSimulator } from '../../../infra/simulator/index.ts';
import { createTokenCalls } from '../../../lib/access-token/calls.ts';
import { toCredential } from '../../../lib/gateway/credential.ts';
import { runCountersign } from '../../support/process.ts';
import { type StackStub, type StackStubOptions, startStackStub } from '../stack-stub.ts';

const canary = { appKey: 'canary-app-key-77aa', appSecret: 'canary-app-secret-31ee' };
const pair = { app_key: canary.appKey, app_secret: canary.appSecret };
/** What the simulator takes besides issued tokens: with it, it wants one. */
const accessToken = 'canary-standing-token';
const day = 86_400_000;

interface World {
  readonly upstream: string;
  readonly stub: StackStub;
  readonly said: string[];
  readonly outcomes: () => readonly string[];
  /** The virtual time of simulator and command. */
  readonly time: { now: number };
  /** Called at each pause of the command. */
  onPause: () => void;
  run(): Promise<string | undefined>;
  token(): unknown;
}

async function worldFor(
  t: TestContext,
  options: Partial<SimulatorOptions> = {},
  stubOptions: StackStubOptions = {},
): Promise<World> {
  let hidden: readonly string[] = Object.values(canary);
  const time = { now: Date.now() };
  const simulator = await startSimulator({
    ...canary,
    accessToken,
    clock: () => time.now,
    // Signatures carry the machine's time.
    toleranceSeconds: 1e9,
    ...options,
  });
  t.onTestFinished(() => simulator.close());
  const stub = await startStackStub(t, {
    secret: JSON.stringify(pair),
    upstream: simulator.url,
    ...stubOptions,
  });
  for (const [name, value] of Object.entries(stub.env)) {
    process.env[name] = value;
    t.onTestFinished(() => void delete process.env[name]);
  }
  const world: World = {
    upstream: simulator.url,
    stub,
    said: [],
    outcomes: () => simulator.received.map(({ target, outcome }) => `${target} ${outcome}`),
    time,
    onPause: () => {},
    /** @returns the error's line, if it ended with one */
    async run() {
      const ports: TokenPorts = {
        ...(await deployedPorts('Countersign-test')),
        clock: () => time.now,
        pause: async (milliseconds) => {
          time.now += milliseconds;
          world.onPause();
        },
        say: (line) => world.said.push(line),
      };
      let line: string | undefined;
      try {
        await renewToken(ports);
      } catch (error) {
        assert.ok(error instanceof StartError, String(error));
        line = error.message;
      }
      // Whatever was said: never what is secret.
      hidden = [...hidden, String(world.token() ?? accessToken)];
      for (const text of [...world.said, line ?? ''])
        for (const secret of hidden) assert.ok(!text.includes(secret), text);
      return line;
    },
    token: () => JSON.parse(stub.current || '{}').access_token,
  };
  return world;
}

test('where the upstream wants no token, nothing is changed', async (t) => {
  const simulator = await startSimulator(canary);
  t.onTestFinished(() => simulator.close());
  const world = await worldFor(t, {}, { upstream: simulator.url });
  assert.equal(await world.run(), undefined);
  assert.deepEqual(world.said, [
    'The upstream wants no access token with this app key; nothing was changed.',
  ]);
  assert.equal(world.stub.writes, 0);
  assert.deepEqual(
    simulator.received.map(({ target, outcome }) => `${target} ${outcome}`),
    ['/openapi/config ok'],
  );
});

test('a token’s life: made, confirmed, stored beside the rest; good; prolonged near its end; expired; anew', async (t) => {
  const secret = JSON.stringify({ ...pair, note: 'of the operator' });
  const world = await worldFor(t, { tokenApprovalMs: 62_000 }, { secret });
  assert.equal(await world.run(), undefined);
  assert.match(world.said[0] ?? '', /^The secret holds no access token\.$/);
  assert.match(
    world.said[1] ?? '',
    /waits for its owner.*open the broker’s app and confirm there within 5 minutes/,
  );
  assert.match(
    world.said[2] ?? '',
    /is NORMAL until \d{4}-.* UTC, and stands in the secret of Countersign-test/,
  );
  const first = world.token();
  assert.deepEqual(JSON.parse(world.stub.current ?? ''), {
    ...pair,
    note: 'of the operator',
    access_token: first,
  });
  assert.equal(world.stub.previous, secret);
  assert.deepEqual(Object.keys(world.stub.labels).sort(), ['AWSCURRENT', 'AWSPREVIOUS']);
  // 62 seconds, asked for every 5.
  assert.equal(world.outcomes().filter((one) => one === '/auth/tokens/check ok').length, 13);

  world.time.now += 7 * day;
  assert.equal(await world.run(), undefined);
  assert.match(world.said.at(-1) ?? '', /^It can be used; nothing was changed\.$/);

  world.time.now += 6 * day;
  assert.equal(await world.run(), undefined);
  assert.equal(world.token(), first);
  assert.equal(world.stub.writes, 1);
  const until = new Date(world.time.now + 15 * day).toISOString().slice(0, 10);
  assert.match(world.said.at(-1) ?? '', new RegExp(`is NORMAL until ${until}`));

  world.time.now += 16 * day;
  assert.equal(await world.run(), undefined);
  assert.ok(world.said.includes('The access token in the secret is EXPIRED.'));
  assert.notEqual(world.token(), first);
  assert.equal(world.stub.writes, 2);
});

test('a token that nobody confirms is not stored, and another run makes another', async (t) => {
  const world = await worldFor(t, { tokenApprovalMs: 301_000 });
  const line = await world.run();
  assert.match(
    line ?? '',
    /^The access token became INVALID; nothing was changed\. Run the command again\.$/,
  );
  assert.equal(world.stub.writes, 0);
  assert.equal(world.outcomes().filter((one) => one.startsWith('/auth/tokens/check')).length, 60);
});

test('a token that the secret holds and nobody knows is replaced', async (t) => {
  for (const unknown of ['f'.repeat(32), 'not-of-a-token-s-form']) {
    const secret = JSON.stringify({ ...pair, access_token: unknown });
    const world = await worldFor(t, {}, { secret });
    assert.equal(await world.run(), undefined);
    assert.equal(world.said[0], 'The access token in the secret is INVALID.');
    assert.match(String(world.token()), /^[0-9a-f]{32}$/);
    assert.notEqual(world.token(), unknown);
  }
});

test('a pending token in the secret is waited for, not replaced', async (t) => {
  const world = await worldFor(t, { tokenApprovalMs: 30_000 });
  const signing = toCredential(JSON.stringify(pair), { clock: Date.now });
  assert.ok(signing.ok);
  const { token } = await createTokenCalls({
    baseUrl: world.upstream,
    credential: signing.credential,
  }).create();
  world.stub.set(JSON.stringify({ ...pair, access_token: token }));
  assert.equal(await world.run(), undefined);
  assert.equal(world.said[0], 'The access token in the secret is PENDING.');
  assert.equal(world.token(), token);
  assert.equal(world.stub.writes, 0);
});

test('what another operator writes meanwhile stays, whenever it comes', async (t) => {
  const rotated = { ...pair, rotated: 'yes' };
  const waiting = await worldFor(t);
  waiting.onPause = () => waiting.stub.set(JSON.stringify(rotated));
  assert.equal(await waiting.run(), undefined);
  assert.deepEqual(JSON.parse(waiting.stub.current ?? ''), { ...rotated, access_token: waiting.token() });

  const last = await worldFor(t);
  let times = 0;
  last.stub.beforeMove = () => {
    if (times++ < 2) last.stub.set(JSON.stringify({ ...rotated, times }));
  };
  assert.equal(await last.run(), undefined);
  assert.deepEqual(JSON.parse(last.stub.current ?? ''), { ...rotated, times: 2, access_token: last.token() });
  assert.equal(last.stub.previous, JSON.stringify({ ...rotated, times: 2 }));
  assert.deepEqual(Object.keys(last.stub.labels).sort(), ['AWSCURRENT', 'AWSPREVIOUS']);
});

test('a token is not stored beside another app key', async (t) => {
  const other = JSON.stringify({ app_key: 'another-app-key', app_secret: 'another-app-secret' });
  const world = await worldFor(t);
  world.onPause = () => world.stub.set(other);
  assert.match((await world.run()) ?? '', /got another app key meanwhile/);
  assert.equal(world.stub.current, other);
});

test('what is wrong is one line', async (t) => {
  for (const [options, stub, line] of [
    [{}, { secret: '' }, /holds no app key and app secret: run countersign secret first\.$/],
    [
      { appSecret: 'other' },
      {},
      /^The upstream gave no token: getConfig was refused: 401 INCORRECT_SIGN\. Nothing was changed/,
    ],
    [{}, { denied: ['GetSecretValue'] }, /cannot be read: AccessDeniedException\.$/],
    [{}, { denied: ['PutSecretValue'] }, /cannot be written: AccessDeniedException\.$/],
    [{}, { denied: ['UpdateSecretVersionStage'] }, /cannot be written: AccessDeniedException\.$/],
  ] as const) {
    const world = await worldFor(t, options, stub);
    const text = (await world.run()) ?? '';
    assert.match(text, line);
    assert.ok(!text.includes('\n'));
  }
  const world = await worldFor(t, {}, { upstream: '' });
  await assert.rejects(world.run(), /has no output UpstreamUrl: deploy the stage once more/);
});

test('as a process: nothing secret in what it prints, with exit code 0 or 1', async (t) => {
  const { stub } = await worldFor(t, { tokenApprovalMs: 0, clock: Date.now });
  const made = await spawned(stub);
  assert.equal(made.code, 0, made.output);
  const token = JSON.parse(stub.current ?? '').access_token;
  assert.match(token, /^[0-9a-f]{32}$/);
  for (const secret of [token, ...Object.values(canary)]) assert.ok(!made.output.includes(secret));

  const json = await spawned(stub, '--json');
  const [line = ''] = json.output.split('\n').filter((one) => one.startsWith('{'));
  const { stack, needed, changed, status } = JSON.parse(line);
  assert.deepEqual([stack, needed, changed, status], ['Countersign-test', true, false, 'NORMAL']);
  for (const secret of [token, ...Object.values(canary)]) assert.ok(!json.output.includes(secret));
});

const spawned = ({ env }: StackStub, ...more: readonly string[]) =>
  runCountersign(['token', '--stack', 'Countersign-test', ...more], env);
