import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createLimiterMetrics } from '../../functions/aws/limiter-metrics.ts';
import type { LogEntry } from '../../functions/aws/log.ts';

function listening() {
  const logged: LogEntry[] = [];
  const time = { now: Date.UTC(2026, 10, 17) };
  const metrics = createLimiterMetrics((entry) => logged.push(entry), {
    functionName: 'f',
    clock: () => time.now,
  });
  return { logged, time, ...metrics };
}

test('left, waited and refused are one line in the embedded metric format', () => {
  const { logged, time, hear, write } = listening();
  write();
  assert.deepEqual(logged, []);
  hear({ kind: 'given', priority: 'interactive', waitedMs: 0, left: 200 });
  hear({ kind: 'given', priority: 'interactive', waitedMs: 150, left: 199 });
  hear({ kind: 'expired', priority: 'interactive' });
  hear({ kind: 'refused', priority: 'interactive', reason: 'store_away', waitedMs: 5, retryAfterMs: 9 });
  write();
  const [{ _aws, ...members } = { _aws: undefined }] = logged;
  assert.deepEqual(members, {
    level: 'info',
    event: 'budget',
    Function: 'f',
    BudgetLeft: 199,
    BudgetWaited: [0, 150, 5],
    BudgetRefused: 1,
    given: 2,
    expired: 1,
  });
  assert.deepEqual(_aws, {
    Timestamp: time.now,
    CloudWatchMetrics: [
      {
        Namespace: 'Countersign',
        Dimensions: [['Function']],
        Metrics: [
          { Name: 'BudgetLeft', Unit: 'Count' },
          { Name: 'BudgetWaited', Unit: 'Milliseconds' },
          { Name: 'BudgetRefused', Unit: 'Count' },
        ],
      },
    ],
  });
});

test('at most one line in five seconds; what comes meanwhile is in the next', () => {
  const { logged, time, hear, write } = listening();
  for (let second = 0; second < 12; second++) {
    hear({ kind: 'given', priority: 'interactive', waitedMs: second, left: 1 });
    write();
    time.now += 1000;
  }
  assert.deepEqual(
    logged.map(({ given }) => given),
    [1, 5, 5],
  );
});

test('a window that is used up has nothing left; one that nobody can see has no figure', () => {
  const { logged, time, hear, write } = listening();
  const refused = { kind: 'refused', priority: 'interactive', waitedMs: 0, retryAfterMs: 1 } as const;
  hear({ ...refused, reason: 'used_up' });
  write();
  time.now += 5000;
  hear({ ...refused, reason: 'store_away' });
  write();
  assert.deepEqual(
    logged.map(({ BudgetLeft }) => BudgetLeft),
    [0, undefined],
  );
  assert.doesNotMatch(JSON.stringify(logged[1]), /BudgetLeft/);
});

test('failures and closings are told at once, without the words of others', () => {
  const { logged, hear } = listening();
  const cause = Object.assign(new Error('canary'), { name: 'ThrottlingException' });
  hear({ kind: 'store_failed', cause });
  hear({ kind: 'store_busy', cause });
  hear({ kind: 'store_back' });
  hear({ kind: 'closed', limit: 'market-data', until: Date.UTC(2026, 0, 1) });
  assert.deepEqual(
    logged.map(({ level, event, name }) => [level, event, name]),
    [
      ['error', 'budget_store_failed', 'ThrottlingException'],
      ['warn', 'budget_store_busy', 'ThrottlingException'],
      ['info', 'budget_store_back', undefined],
      ['warn', 'budget_closed', undefined],
    ],
  );
  assert.equal(logged[3]?.until, '2026-01-01T00:00:00.000Z');
  assert.doesNotMatch(JSON.stringify(logged), /canary/);
});
