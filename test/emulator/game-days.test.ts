/**
 * Game days of docs/runbook.md on deployed functions: something goes wrong, `status` names the chapter, the chapter's own
 * commands are run as it has them, and its last sentence tells that it is over. That an alarm rings then is what
 * test/alarms shows; here CloudWatch is told so, because the emulator evaluates no metrics.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudWatchClient, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch';
import {
  CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import {
  DisableRuleCommand,
  EnableRuleCommand,
  EventBridgeClient,
  ListRulesCommand,
} from '@aws-sdk/client-eventbridge';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest';
import type { AlarmName } from '../../infra/stack/alarm-table.ts';
import { stackNameOf } from '../../infra/stack/stages.ts';
import { getStockQuotes, listStockTicks } from '../../lib/catalogue/index.ts';
import { wordsOf } from '../commands/given.ts';
import { run } from '../commands/run.ts';
import { codesIn, textOf } from '../docs/pages.ts';
import { orderBody, orderPath } from '../support/core.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { copyOfTable } from '../world/dynamo.ts';
import { answerOf, deployedStage, pause } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { snapshots } from './stage.ts';

/** As the page calls it. */
const name = 'prod';
const staleAfterSeconds = 3;

describe('game days on the emulator', needsEmulator(), () => {
  const stage = deployedStage({
    name,
    granted: true,
    props: {
      groups: { orders: 'iam' },
      cache: { snapshots: { staleAfterSeconds } },
      plans: { default: { tier: 'app' } },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'countersign-game-'));
  const before = process.cwd();
  beforeAll(() => {
    process.chdir(folder);
    const upstream = { baseUrl: 'https://upstream.example', limits: 'interface' };
    writeFileSync('countersign.json', JSON.stringify({ [name]: { upstream } }));
    process.env.API_KEY = stage.apiKey;
  });
  afterEach(() => stage.simulator.bring());
  afterAll(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  /** What an operator has: a chapter, and a shell. */
  function operatorWith(chapter: string) {
    const [, rest = ''] = textOf('docs/runbook.md').split(`\n## ${chapter}\n`);
    const plain = (rest.split('\n## ')[0] ?? '').replaceAll(/\s+/g, ' ');
    const type = (command: string) => run(wordsOf(command.replace('$API_URL', stage.url)).slice(1));
    return {
      /** Codes, events and texts: each stands in the chapter. */
      sees(...names: readonly string[]) {
        for (const one of names) assert.ok(plain.includes(one), `${chapter} does not name ${one}`);
      },
      /** A command of the chapter. @returns what it says */
      async does(command: string): Promise<string> {
        assert.ok(codesIn(plain).includes(command), `${chapter} has no ${command}`);
        const { out, err } = await type(command);
        return out + err;
      },
      /** The page's first command. It names the chapter where the alarm rings, and else is well. */
      async looks(alarm: AlarmName, state: 'ALARM' | 'OK'): Promise<string> {
        await new CloudWatchClient(clientConfig(stage.emulator)).send(
          new SetAlarmStateCommand({
            AlarmName: `${stackNameOf(name)}-${alarm}`,
            StateValue: state,
            StateReason: 'game day',
          }),
        );
        const { code, out, err } = await type(`countersign status --stage ${name}`);
        assert.equal(code, state === 'OK' ? 0 : 1, out + err);
        if (state === 'OK') return out;
        assert.match(out, new RegExp(`^- ${alarm} since .*; docs/runbook\\.md, “${chapter}”$`, 'm'));
        assert.ok(plain.includes(`\`${alarm}\``), alarm);
        return out;
      },
    };
  }

  let ids = 0;
  const place = () =>
    answerOf(
      stage,
      orderPath,
      orderBody({
        client_order_id: `game-day-${++ids}-${Date.now()}`,
        order_type: 'LIMIT',
        limit_price: '1.10',
      }),
    );
  const codeOf = ({ body }: Awaited<ReturnType<typeof place>>) => String(body.code);
  async function ask(path: string, headers: Readonly<Record<string, string>> = {}) {
    const response = await stage.call(path, { headers });
    const text = await response.text();
    const { code } = JSON.parse(text) as { readonly code?: string };
    return { status: response.status, code, cacheStatus: response.headers.get('cache-status') ?? '' };
  }
  /** Functions may go on with what they know for some seconds; a busy machine takes longer. */
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await pause(500);
  }
  const isPlaced = async () => (await place()).status === 200;

  test('Quotes are stale', async () => {
    const operator = operatorWith('Quotes are stale');
    await until(async () => (await ask(snapshots)).status === 200);
    stage.simulator.bring(() => ({ kind: 'status', status: 500 }));
    let seen = '';
    await until(async () => {
      seen = (await ask(snapshots)).cacheStatus;
      return seen.includes('older-than-the-bound');
    });
    operator.sees('older-than-the-bound', 'turn_failed');
    assert.ok((await logged(stage.emulator)).includes('"event":"turn_failed"'));
    await operator.looks('quotes-stale', 'ALARM');
    assert.match(await operator.does('countersign smoke "$API_URL"'), /the upstream gives nothing newer now/);
    stage.simulator.bring();
    await until(async () => (await operator.does('countersign smoke "$API_URL"')).startsWith('All is well'));
    assert.ok(!(await ask(snapshots)).cacheStatus.includes('older-than-the-bound'));
    await operator.looks('quotes-stale', 'OK');
  });

  test('The upstream is down', async () => {
    const operator = operatorWith('The upstream is down');
    await until(isPlaced);
    stage.simulator.bring(() => ({ kind: 'drop' }));
    const { status, code = '' } = await ask(`${getStockQuotes.path}?symbol=AAPL&category=US_STOCK`);
    assert.ok(status >= 500, code);
    operator.sees(code);
    await operator.looks('upstream-failing', 'ALARM');
    await operator.does('countersign trading stop --stage prod --reason upstream');
    await until(async () => codeOf(await place()) === 'order_blocked');
    stage.simulator.bring();
    await until(async () => (await operator.does('countersign smoke "$API_URL"')).startsWith('All is well'));
    assert.equal(codeOf(await place()), 'order_blocked');
    await operator.does('countersign trading resume --stage prod --reason upstream-is-back');
    await until(isPlaced);
    await operator.looks('upstream-failing', 'OK');
  });

  test('Tables are restored', async () => {
    const operator = operatorWith('Tables are restored');
    const { emulator, outputs } = stage;
    const settle = () =>
      new LambdaClient(clientConfig(emulator)).send(
        new InvokeCommand({ FunctionName: outputs.OrderSettlementFunction }),
      );
    await settle();
    const restore = await copyOfTable(emulator.endpoint, outputs.TradingControlsTable ?? '');
    await run(wordsOf('trading stop --stage prod --reason after-the-copy'));
    await settle();
    await restore();
    await until(async () => codeOf(await place()) === 'orders_closed');
    operator.sees('orders_closed');
    await settle();
    assert.ok((await logged(emulator)).includes('"event":"orders_closed"'));
    await operator.looks('orders-closed', 'ALARM');
    assert.match(
      await operator.does('countersign orders restored --stage prod'),
      /^controls \(.*\) is as it was at .*: orders are neither placed nor replaced/,
    );
    // The stop is lost, as the page says: the operator sees what there is, and decides.
    const history = await operator.does('countersign trading history --stage prod');
    assert.ok(!history.includes('after-the-copy') && history.includes('upstream-is-back'), history);
    await operator.does('countersign orders confirm --stage prod --table controls --reason set-again');
    assert.match(
      await operator.does('countersign orders restored --stage prod'),
      /^No table of Countersign-prod/,
    );
    await until(isPlaced);
    await operator.looks('orders-closed', 'OK');
  });

  test('Orders stay unknown, because the settlement is switched off', async () => {
    const operator = operatorWith('Orders stay unknown');
    const events = new EventBridgeClient(clientConfig(stage.emulator));
    const { Rules = [] } = await events.send(new ListRulesCommand({}));
    const { Name } = Rules.find((one) => one.Name?.includes('OrderSettlement')) ?? {};
    await events.send(new DisableRuleCommand({ Name }));
    const said = await operator.looks('orders-unknown', 'ALARM');
    const [, rule] = /does not run: aws events enable-rule --name (\S+)$/m.exec(said) ?? [];
    assert.equal(rule, Name);
    await operator.does('countersign orders audit --stage prod --unsettled');
    await events.send(new EnableRuleCommand({ Name: rule }));
    await operator.looks('orders-unknown', 'OK');
  });

  test('Everything is 429', async () => {
    const operator = operatorWith('Everything is 429');
    const ticks = (count: number) => `${listStockTicks.path}?symbol=AAPL&category=US_STOCK&count=${count}`;
    // More than a tighter limit has in its window, and then one that the upstream refuses.
    for (let count = 1; count <= 40; count += 5)
      await Promise.all([0, 1, 2, 3, 4].map((more) => ask(ticks(count + more))));
    stage.simulator.bring(() => ({ kind: 'status', status: 429 }));
    const refused = await ask(ticks(41));
    stage.simulator.bring();
    assert.deepEqual([refused.status, refused.code], [503, 'upstream_rate_limited']);
    operator.sees('`upstream_rate_limited`, which is 503');
    let code: string | undefined;
    for (let count = 42; code === undefined; count++) ({ code } = await ask(ticks(count)));
    operator.sees(code);
    assert.match(
      await operator.does('countersign limits --stage prod'),
      /keeps published(-sandbox)? since .*429/,
    );
    await operator.looks('limits-tightened', 'ALARM');
    await operator.does('countersign limits --stage prod --reset');
    assert.match(await operator.does('countersign limits --stage prod'), /as configured: interface\.$/m);
    let count = 100;
    await until(async () => (await ask(ticks(++count))).status === 200);
    await operator.looks('limits-tightened', 'OK');
  });
});

/** What the functions have written. */
async function logged(emulator: Parameters<typeof clientConfig>[0]): Promise<string> {
  const client = new CloudWatchLogsClient(clientConfig(emulator));
  const lines: string[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client }, {}))
    for (const { logGroupName } of logGroups)
      for await (const { events = [] } of paginateFilterLogEvents({ client }, { logGroupName }))
        lines.push(...events.map(({ message = '' }) => message));
  return lines.join('\n');
}
