/**
 * Game days of docs/runbook.md: what goes wrong shows itself as the chapter says, the chapter's own commands end it, and
 * its last sentence tells that it is over. Chapters with an alarm are in `alarms.test.ts` as well.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { group, start } from '../../functions/compose/functions.ts';
import { marketData } from '../../functions/compose/offers.ts';
import type { TradingArguments } from '../../infra/commands/trading.ts';
import { given } from '../commands/given.ts';
import { memoryPlatform } from '../compositions/memory-platform.ts';
import { secretIds, secrets } from '../compositions/scene.ts';
import { codesIn, textOf } from '../docs/pages.ts';
import { accountId, credentials, newOrder, orderPath, secretText, snapshotTarget } from '../support/core.ts';
import { startWorld, type World } from './world.ts';

interface GameDay {
  readonly chapter: string;
  /** Codes, events and texts that the operator meets; each stands in the chapter. */
  readonly run: (
    world: World,
    sees: (...names: readonly string[]) => void,
    does: (command: string) => Promise<void>,
  ) => Promise<void>;
}

let ids = 0;
const place = ({ ask }: World, quantity = '1') =>
  ask(orderPath, {
    account_id: accountId,
    new_orders: [
      newOrder({
        client_order_id: `game-${Date.now()}-${++ids}`,
        order_type: 'LIMIT',
        limit_price: '9.90',
        quantity,
      }),
    ],
  });

const codeOf = ({ text }: { readonly text: string }) =>
  (JSON.parse(text) as { readonly code?: string }).code ?? '';

const days: readonly GameDay[] = [
  {
    chapter: 'All orders are blocked',
    async run(world, sees, does) {
      assert.equal((await place(world)).status, 200);
      await world.scene.alarm();
      await world.scene.pass(6000);
      const blocked = await place(world);
      assert.match(blocked.text, /has been stopped/);
      sees(codeOf(blocked), 'has been stopped');
      await does('countersign trading resume --stage prod --reason mended');
      await world.scene.pass(5000);
      assert.equal((await place(world)).status, 200);
    },
  },
  {
    chapter: 'Somebody has the secret',
    async run(world, _, does) {
      const { simulator } = world.scene;
      const leaked = { ...credentials };
      const next = { ...credentials, appSecret: 'a secret that nobody has' };
      assert.equal((await place(world)).status, 200);
      // The broker ends the old one, and the operator sets the new one.
      simulator.setCredentials([next]);
      secrets[secretIds.app] = secretText(next);
      try {
        await does('countersign trading stop --stage prod --reason leak --cancel-open');
        await world.scene.pass(6 * 60_000);
        assert.equal((await world.scene.cancelOpen()).left, 0);
        assert.equal(codeOf(await place(world)), 'order_blocked');
        await does('countersign trading resume --stage prod --reason rotated');
        await world.scene.pass(5000);
        assert.equal((await place(world)).status, 200);
        assert.equal((await world.ask(snapshotTarget)).status, 200);
      } finally {
        secrets[secretIds.app] = secretText(leaked);
      }
    },
  },
  {
    chapter: 'A bad deployment',
    async run(world, sees) {
      // Functions whose environment has lost a variable, beside those that go on.
      const { ports } = await memoryPlatform()({
        functionName: 'marketData',
        log: (entry) => void world.lines.push(entry),
        clock: world.now,
        sleep: async () => {},
      });
      const bad = start(group(marketData()), {}, ports);
      for (let minute = 0; minute < 11; minute++) {
        const answer = await bad(event, { getRemainingTimeInMillis: () => 20_000 });
        for (let count = 0; count < 2; count++)
          world.count('5XXError', 'api', answer.statusCode >= 500 ? 1 : 0);
        if (minute === 0) sees(codeOf({ text: answer.body }));
        await world.minutes(1);
      }
      sees(...world.lines.map((line) => line.event).filter((name) => name !== 'request'), ...world.rang());
      assert.deepEqual(world.rang(), ['answers-failing']);
      const since = world.now() + 10 * 60_000;
      await world.minutes(16);
      assert.deepEqual(world.rang(since), []);
    },
  },
  {
    chapter: 'Orders stay unknown',
    async run(world, sees, does) {
      const { simulator } = world.scene;
      simulator.bring(({ method, path }) =>
        method === 'POST'
          ? { kind: 'drop-after' }
          : /order/.test(path)
            ? { kind: 'status', status: 500 }
            : undefined,
      );
      sees(codeOf(await place(world)));
      await world.minutes(26);
      sees('order_not_read', 'orders_settled', ...world.rang());
      assert.ok(world.scene.logged.some(({ event }) => event === 'order_not_read'));
      await does('countersign orders audit --stage prod --unsettled');
      simulator.bring();
      await world.minutes(3);
      assert.equal(world.scene.logged.findLast(({ event }) => event === 'orders_settled')?.OrdersUnknown, 0);
      assert.equal(simulator.orders.length, 1);
    },
  },
];

describe('game days', () => {
  for (const { chapter, run } of days)
    test(chapter, async (t) => {
      const world = await startWorld();
      t.onTestFinished(() => world.close());
      const [, text = ''] = textOf('docs/runbook.md').split(`\n## ${chapter}\n`);
      const [own = ''] = text.split('\n## ');
      const plain = own.replaceAll(/\s+/g, ' ');
      await run(
        world,
        (...names) => {
          for (const name of names) assert.ok(plain.includes(name), `the chapter does not name ${name}`);
        },
        async (command) => {
          assert.ok(codesIn(plain).includes(command), `the chapter has no ${command}`);
          const words = command.replace('countersign ', '');
          if (words.startsWith('orders ')) return void (await given(words));
          const { verb: action, reason = '', cancelOpen } = await given<TradingArguments>(words);
          assert.ok(action === 'stop' || action === 'resume', command);
          const subject = { kind: 'gateway' } as const;
          await world.scene.operator.apply(
            action === 'stop'
              ? { action, subject, reason, ...(cancelOpen && { cancelOpen }) }
              : { action, subject, reason },
          );
        },
      );
    });
});

const event = {
  resource: '/market-data/stocks/snapshots/list',
  httpMethod: 'GET',
  headers: {},
  multiValueHeaders: {},
  queryStringParameters: null,
  multiValueQueryStringParameters: {},
  body: null,
  isBase64Encoded: false,
  requestContext: { requestId: 'request-of-the-game', identity: {} },
} as never;
