/** The access token's life on a deployment: what each reader, the scheduled check and the operator saw of it. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { InvokeCommand, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, test } from 'vitest';
import { needsEmulator } from '../support/missing-emulator.ts';
import { newOrder } from '../support/orders.ts';
import { judged, launcher } from '../support/process.ts';
import { answerOf, ask, deployedStage } from './deployed-stage.ts';
import { clientConfig, commandEnvironment } from './deployment.ts';
import { canary, snapshots, stageName } from './stage.ts';

const day = 86_400_000;

/** Read from no cache, so that each call shows what the upstream says now. */
const readers = {
  'market data': { path: snapshots },
  accounts: { path: '/trading/accounts/list', iam: true },
} as const;

describe('the access token’s life', needsEmulator(), () => {
  /** From the machine's time to the upstream's: functions live in the former. */
  let ahead = -12.5 * day;
  let lambda: LambdaClient;
  const tokens: string[] = [];
  const printed: string[] = [];
  const stage = deployedStage({
    granted: true,
    props: { accessToken: {}, cache: 'off', groups: { accounts: 'iam', orders: 'iam' } },
    simulated: {
      accessToken: 'canary-standing-token',
      tokenApprovalMs: 4000,
      // Else the check would prolong its life for ever.
      tokenUseProlongs: false,
      toleranceSeconds: 1e9,
      clock: () => Date.now() + ahead,
    },
    prepare() {
      lambda = new LambdaClient(clientConfig(stage.emulator));
    },
  });

  async function read(reader: keyof typeof readers): Promise<readonly [number, string]> {
    const { path, ...how } = readers[reader];
    const response = await ('iam' in how ? ask(stage, path) : stage.call(path));
    const body = (await response.json()) as { readonly code?: string };
    return [response.status, body.code ?? ''];
  }

  async function order(): Promise<readonly [number, string]> {
    const accountId = stage.simulator.accounts[0]?.account_id;
    const body = JSON.stringify({ account_id: accountId, new_orders: [newOrder()] });
    const { status, body: problem } = await answerOf(stage, '/trade/place_order', body);
    return [status, String(problem.code ?? '')];
  }

  /** Reads on until it is served; before that, each refusal must be the token's. */
  async function untilServed(): Promise<void> {
    for (const reader of Object.keys(readers) as (keyof typeof readers)[])
      for (;;) {
        const [status, code] = await read(reader);
        if (status === 200) break;
        assert.deepEqual([status, code], [503, 'upstream_token_expired'], reader);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
  }

  const allRefused = async () => {
    for (const reader of Object.keys(readers) as (keyof typeof readers)[])
      assert.deepEqual(await read(reader), [503, 'upstream_token_expired'], reader);
  };

  async function check() {
    const { Functions = [] } = await lambda.send(new ListFunctionsCommand({}));
    const { FunctionName } = Functions.find((one) => one.FunctionName?.includes('AccessToken')) ?? {};
    assert.ok(FunctionName);
    const { FunctionError, Payload } = await lambda.send(new InvokeCommand({ FunctionName }));
    const report = JSON.parse(Buffer.from(Payload ?? []).toString()) as {
      readonly result: string;
      readonly daysLeft: number;
      readonly prolonged?: boolean;
    };
    assert.equal(FunctionError, undefined, JSON.stringify(report));
    return report;
  }

  async function stored(): Promise<string | undefined> {
    const { SecretString = '' } = await new SecretsManagerClient(clientConfig(stage.emulator)).send(
      new GetSecretValueCommand({ SecretId: stage.outputs.SecretArn }),
    );
    const { access_token: token, ...rest } = JSON.parse(SecretString);
    assert.deepEqual(rest, { app_key: canary.appKey, app_secret: canary.appSecret });
    return token;
  }

  /** @param meanwhile while the token waits for its owner */
  async function token(meanwhile: () => Promise<void>): Promise<string> {
    const child = spawn(process.execPath, [launcher, 'token', '--stack', `Countersign-${stageName}`], {
      env: {
        ...judged,
        ...commandEnvironment(stage.emulator),
      },
    });
    let output = '';
    let isWaiting: () => void = () => {};
    const waiting = new Promise<void>((resolve) => {
      isWaiting = resolve;
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        output += data;
        if (/confirm there within 5 minutes/.test(output)) isWaiting();
      });
    const ended = new Promise((resolve) => child.once('close', resolve));
    await Promise.race([waiting, ended]);
    await meanwhile();
    assert.equal(await ended, 0, output);
    printed.push(output);
    tokens.push((await stored()) ?? '');
    return output;
  }

  test('wanted, and missing: everybody is told so, and an order has no effect', async () => {
    await allRefused();
    const before = stage.simulator.orders.length;
    assert.deepEqual(await order(), [503, 'upstream_token_expired']);
    assert.equal(stage.simulator.orders.length, before);
    assert.deepEqual(await check(), { result: 'missing', daysLeft: 0 });
  });

  test('created and pending: nobody has it yet; normal: everybody has it', async () => {
    const output = await token(async () => {
      await allRefused();
      assert.equal(await stored(), undefined);
    });
    assert.match(output, /The access token is NORMAL until .* stands in the secret of Countersign-test/);
    await untilServed();
    assert.match(tokens[0] ?? '', /^[0-9a-f]{32}$/);
  });

  test('near its end: readers go on, the check used it in vain and gives the alarm’s figure', async () => {
    const { result, daysLeft, prolonged } = await check();
    assert.deepEqual([result, prolonged], ['normal', false]);
    assert.ok(daysLeft > 2 && daysLeft <= 2.5, String(daysLeft));
    await untilServed();
  });

  test('expired: everybody is told so, an order has no effect, and the check says 0 days', async () => {
    ahead = 3 * day;
    await allRefused();
    const before = stage.simulator.orders.length;
    assert.deepEqual(await order(), [503, 'upstream_token_expired']);
    assert.equal(stage.simulator.orders.length, before);
    assert.deepEqual(await check(), { result: 'expired', daysLeft: 0 });
  });

  test('anew: another token, and everybody is served', async () => {
    const output = await token(allRefused);
    assert.match(output, /^The access token in the secret is EXPIRED\.\n/);
    await untilServed();
    assert.notEqual(tokens[1], tokens[0]);
    const { result, daysLeft } = await check();
    assert.equal(result, 'normal');
    assert.ok(daysLeft > 17, String(daysLeft));
    // The function of orders has not asked for a token since: one order may still be refused, and has no effect.
    const before = stage.simulator.orders.length;
    for (;;) {
      const [status, code] = await order();
      if (status === 200) break;
      assert.deepEqual([status, code], [503, 'upstream_token_expired']);
      assert.equal(stage.simulator.orders.length, before);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.equal(stage.simulator.orders.length, before + 1);
  });

  test('it stands nowhere but in the secret', () => {
    const texts = [stage.template, stage.emulator.output(), ...printed];
    for (const text of texts)
      for (const secret of [...tokens, ...Object.values(canary), 'canary-standing-token'])
        assert.ok(!text.includes(secret));
    assert.match(stage.emulator.output(), /"event":"access_token"/);
  });
});
