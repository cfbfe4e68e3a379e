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
  const { logged, time, record, write } = listening();
  write();
  assert.deepEqual(logged, []);
  record({ kind: 'granted', priority: 'interactive', limit: 'market-data', waitedMs: 0, remaining: 200 });
  record({ kind: 'granted', priority: 'interactive', limit: 'market-data', waitedMs: 150, remaining: 199 });
  record({ kind: 'expired', priority: 'interactive' });
  record({
    kind: 'refused',
    priority: 'interactive',
    limit: 'market-data',
    reason: 'store_unavailable',
    waitedMs: 5,
    retryAfterMs: 9,
  });
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
  const { logged, time, record, write } = listening();
  for (let second = 0; second < 12; second++) {
    record({
      kind: 'granted',
      priority: 'interactive',
      limit: 'market-data',
      waitedMs: second,
      remaining: 1,
    });
    write();
    time.now += 1000;
  }
  assert.deepEqual(
    logged.map(({ given }) => given),
    [1, 5, 5],
  );
});

test('a window that is used up has nothing left; one that nobody can see has no figure', () => {
  const { logged, time, record, write } = listening();
  const refused = {
    kind: 'refused',
    priority: 'interactive',
    limit: 'market-data',
    waitedMs: 0,
    retryAfterMs: 1,
  } as const;
  record({ ...refused, reason: 'exhausted' });
  write();
  time.now += 5000;
  record({ ...refused, reason: 'store_unavailable' });
  write();
  assert.deepEqual(
    logged.map(({ BudgetLeft }) => BudgetLeft),
    [0, undefined],
  );
  assert.doesNotMatch(JSON.stringify(logged[1]), /BudgetLeft/);
});

test('failures and closings are told at once, without the words of others', () => {
  const { logged, record } = listening();
  const cause = Object.assign(new Error('canary'), { name: 'ThrottlingException' });
  record({ kind: 'store_unavailable', cause });
  record({ kind: 'store_busy', cause });
  record({ kind: 'store_recovered' });
  record({ kind: 'blocked', limit: 'market-data', until: Date.UTC(2026, 0, 1) });
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
