/**
 * Each alarm, judged by its own row over the lines that the functions log: with its fault it rings, and no other one does;
 * when the fault is over it ends; and in a quiet hour none rings.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { alarmTable, causesOf } from '../../infra/stack/alarm-table.ts';
import { textOf } from '../docs/pages.ts';
import { snapshotTarget } from '../support/core.ts';
import { faults, ticks } from './faults.ts';
import { startWorld, type World } from './world.ts';

test('each alarm has a fault', () => {
  const rung = new Set(faults.flatMap(({ rings }) => rings));
  assert.deepEqual(
    Object.keys(alarmTable).filter((name) => !rung.has(name as never)),
    [],
  );
});

test('of the alarms that one fault raises, all but those to begin with may follow from others', () => {
  for (const { name, rings, beginWith = rings.slice(0, 1) } of faults)
    assert.deepEqual(
      rings.filter((one) => causesOf(one, rings).length === 0),
      beginWith,
      name,
    );
});

test('in a quiet hour none rings', async (t) => {
  const world = await startWorld();
  t.onTestFinished(() => world.close());
  await world.minutes(60);
  assert.deepEqual(world.rang(), []);
});

test('quotes at full pace beside one other read a minute: refreshes get no permit, no caller is refused, and none rings', async (t) => {
  const world = await startWorld({ share: 0.05 });
  t.onTestFinished(() => world.close());
  for (let burst = 1; burst <= 4; burst++) {
    assert.equal((await world.ask(ticks(burst))).status, 200);
    for (let asked = 0; asked < 25; asked++) {
      assert.equal((await world.ask(snapshotTarget)).status, 200);
      await world.scene.pass(2000);
    }
    await world.minutes(5);
  }
  assert.ok(world.scene.logged.some(({ event, refused }) => event === 'budget' && Number(refused) > 0));
  assert.deepEqual(world.rang(), []);
});

describe('a fault', () => {
  for (const { name, rings, run, end, endsAfter = 31, ...options } of faults)
    test(`${name}: ${rings.join(', ')}`, async (t) => {
      const world = await startWorld(options);
      t.onTestFinished(() => world.close());
      await run(world);
      assert.deepEqual([...world.rang()].sort(), [...rings].sort());
      const chapters = rings.map((one) => chapterOf(alarmTable[one].runbook)).join('\n');
      for (const code of codesSeen(world))
        assert.ok(chapters.includes(`\`${code}\``), `the chapters of the alarms do not name ${code}`);
      if (!end) return;
      await end(world);
      await world.minutes(endsAfter);
      assert.deepEqual(world.rang(world.now() - 2 * 60_000), []);
    });
});

const chapterOf = (title: string) =>
  textOf('docs/runbook.md').split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

/** Of answers that are no caller's fault. */
const codesSeen = ({ scene }: World): ReadonlySet<string> =>
  new Set(
    scene.logged.flatMap(({ event, status, code }) =>
      event === 'request' && Number(status) >= 429 && typeof code === 'string' ? [code] : [],
    ),
  );
