import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createLimiterMetrics } from '../../functions/log/limiter-metrics.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { each } from '../support/each.ts';

function listening() {
  const logged: LogEntry[] = [];
  const time = { now: Date.UTC(2026, 10, 17), steps: 0 };
  const metrics = createLimiterMetrics((entry) => logged.push(entry), {
    functionName: 'f',
    tableName: 't',
    steps: () => time.steps,
    clock: () => time.now,
  });
  return { logged, time, ...metrics };
}

test('left, waited and refused are one line in the embedded metric format', () => {
  const { logged, time, record, usedUp, write } = listening();
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
  usedUp();
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
    refused: 1,
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

test('what is left is the least of the limit and of those within it since the last line', () => {
  const { logged, time, record, write } = listening();
  const granted = { kind: 'granted', priority: 'interactive', limit: 'market-data', waitedMs: 0 } as const;
  const narrowest = { limit: 'endpoint.listStockBars', remaining: 4, capacity: 59 };
  record({ ...granted, remaining: 250, narrowest });
  record({ ...granted, remaining: 249 });
  write();
  time.now += 5000;
  record({ ...granted, remaining: 251 });
  write();
  assert.deepEqual(each(logged, 'BudgetLeft'), [4, 251]);
});

test('a 429 of the upstream is one line at once, with metrics of the table that all functions share', () => {
  const { logged, time, rateLimited } = listening();
  time.steps = 1;
  rateLimited({ operation: 'listAccounts', verdict: 'tightened', kept: 'published', steps: 1 });
  time.steps = 0;
  rateLimited({ operation: 'listAccounts', verdict: 'not_ours', kept: 'interface', steps: 0 });
  const [first, second] = logged;
  const { _aws, ...members } = first!;
  assert.deepEqual(members, {
    level: 'error',
    event: 'upstream_rate_limited',
    LimiterTable: 't',
    UpstreamRateLimited: 1,
    LimitsTightened: 1,
    operation: 'listAccounts',
    verdict: 'tightened',
    kept: 'published',
  });
  assert.deepEqual((_aws as { CloudWatchMetrics: object[] }).CloudWatchMetrics, [
    {
      Namespace: 'Countersign',
      Dimensions: [['LimiterTable']],
      Metrics: [
        { Name: 'UpstreamRateLimited', Unit: 'Count' },
        { Name: 'LimitsTightened', Unit: 'Count' },
      ],
    },
  ]);
  assert.ok(second && !('LimitsTightened' in second));
});

test('while tighter limits are in force each function says so once a minute, if it is called', () => {
  const { logged, time, write } = listening();
  time.steps = 2;
  for (let second = 0; second < 150; second++) {
    write();
    time.now += 1000;
  }
  assert.deepEqual(
    logged.map(({ event, LimitsTightened, UpstreamRateLimited }) => [
      event,
      LimitsTightened,
      UpstreamRateLimited,
    ]),
    Array(3).fill(['limits_in_force', 2, undefined]),
  );
  time.steps = 0;
  time.now += 60_000;
  write();
  assert.equal(logged.length, 3);
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
  assert.deepEqual(each(logged, 'given'), [1, 5, 5]);
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
  assert.deepEqual(each(logged, 'BudgetLeft'), [0, undefined]);
  assert.doesNotMatch(JSON.stringify(logged[1]), /BudgetLeft/);
});

test('a refresh without a permit is no refused request; one that never asked the limiter is', () => {
  const { logged, time, record, usedUp, write } = listening();
  record({
    kind: 'refused',
    priority: 'interactive',
    limit: 'market-data',
    reason: 'exhausted',
    waitedMs: 206,
    retryAfterMs: 1,
  });
  write();
  time.now += 5000;
  usedUp();
  write();
  assert.deepEqual(each(logged, 'BudgetRefused', 'refused'), [
    [0, 1],
    [1, 0],
  ]);
});

test('failures and closings are told at once, without the words of others', () => {
  const { logged, record } = listening();
  const cause = Object.assign(new Error('canary'), { name: 'ThrottlingException' });
  record({ kind: 'store_unavailable', cause });
  record({ kind: 'store_busy', cause });
  record({ kind: 'store_recovered' });
  record({ kind: 'blocked', limit: 'market-data', until: Date.UTC(2026, 0, 1) });
  assert.deepEqual(each(logged, 'level', 'event', 'name'), [
    ['error', 'budget_store_failed', 'ThrottlingException'],
    ['warn', 'budget_store_busy', 'ThrottlingException'],
    ['info', 'budget_store_back', undefined],
    ['warn', 'budget_closed', undefined],
  ]);
  assert.equal(logged[3]?.until, '2026-01-01T00:00:00.000Z');
  assert.doesNotMatch(JSON.stringify(logged), /canary/);
});
