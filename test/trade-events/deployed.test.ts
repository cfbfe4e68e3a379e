/** The rim of the listener: its settings, and what its log says. The emulator's tests run it as a whole. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { tradeEventPorts } from '../../functions/aws/order-ports.ts';
import { start, tradeEvents } from '../../functions/compose/functions.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { createTradeEventsMetrics } from '../../functions/log/trade-events-metrics.ts';
import { readTradeEventsSettings } from '../../functions/settings/worker-environment.ts';
import { StreamError, type TradeEventReport } from '../../lib/trade-events/index.ts';
import { hostWith } from '../support/deployed.ts';
import { each } from '../support/each.ts';

const environment = {
  UPSTREAM_BASE_URL: 'https://upstream.example',
  SECRET_ID: 'secret',
  IDENTITY_KEY_SECRET_ID: 'identity-key',
  TRADE_EVENTS_URL: 'https://events.example:8443',
  TRADE_EVENTS_TABLE: 'table',
  TRADE_EVENTS_BUS: 'bus',
};

test('settings come from the environment', () => {
  const read = readTradeEventsSettings({ ...environment, TRADE_EVENTS_COMPARE_EVERY_MINUTES: '7' });
  assert.ok(read.ok);
  const { function: settings, ...own } = read.settings;
  assert.deepEqual(own, {
    url: 'https://events.example:8443',
    tableName: 'table',
    busName: 'bus',
    identityKeySecretId: 'identity-key',
    compareEveryMs: 420_000,
    historyTable: undefined,
  });
  assert.deepEqual([settings.secretId, settings.access, settings.cache], ['secret', undefined, undefined]);
});

test('each wrong variable is named once, and no value repeated', () => {
  for (const [change, faults] of [
    [{ TRADE_EVENTS_URL: undefined }, ['TRADE_EVENTS_URL: not set']],
    [
      { TRADE_EVENTS_URL: 'http://canary.example' },
      ['TRADE_EVENTS_URL: is http, and not on a loopback address'],
    ],
    [
      { TRADE_EVENTS_TABLE: '', TRADE_EVENTS_BUS: '' },
      ['TRADE_EVENTS_TABLE: not set', 'TRADE_EVENTS_BUS: not set'],
    ],
    [{ IDENTITY_KEY_SECRET_ID: undefined }, ['IDENTITY_KEY_SECRET_ID: not set']],
    [
      { TRADE_EVENTS_COMPARE_EVERY_MINUTES: '61' },
      ['TRADE_EVENTS_COMPARE_EVERY_MINUTES: not a whole number from 1 to 60'],
    ],
    [
      { SECRET_ID: undefined, TRADE_EVENTS_BUS: undefined },
      ['SECRET_ID: not set', 'TRADE_EVENTS_BUS: not set'],
    ],
    // Under the vendor's table the reads of orders are counted.
    [{ UPSTREAM_LIMITS: 'published' }, ['LIMITER_TABLE: not set']],
  ] as const)
    assert.deepEqual(readTradeEventsSettings({ ...environment, ...change }), { ok: false, faults });
});

test('a wrong environment is one line of the log, and each run rejects', async () => {
  const lines: LogEntry[] = [];
  const handler = start(tradeEvents, {}, tradeEventPorts(hostWith((entry) => lines.push(entry))));
  assert.deepEqual(each(lines, 'event'), ['wrong_configuration']);
  const context = { getRemainingTimeInMillis: () => 900_000 };
  await assert.rejects(handler({}, context), /wrong_configuration/);
});

/** Of one report, without what all have in common. */
function logged(report: TradeEventReport) {
  const lines: LogEntry[] = [];
  const metrics = createTradeEventsMetrics((entry) => lines.push(entry), {
    functionName: 'listener',
    clock: () => 7,
  });
  metrics.report(report);
  assert.equal(lines.length, 1);
  const { _aws, Function: name, ...line } = lines[0]!;
  const declared = (_aws as { CloudWatchMetrics: [{ Metrics: { Name: string }[] }] } | undefined)
    ?.CloudWatchMetrics[0].Metrics;
  assert.equal(name, declared && 'listener');
  // What is declared is there, and nothing else counts as a metric.
  const figures = Object.keys(line).filter((key) => key.startsWith('TradeEvents'));
  assert.deepEqual(declared?.map(({ Name }) => Name).sort() ?? [], figures.sort());
  return line;
}

test('each report is a line, with the metrics that the alarms look at', () => {
  assert.deepEqual(logged({ kind: 'state', connected: true, lastSignAgeMs: 1500 }), {
    level: 'info',
    event: 'trade_stream_state',
    TradeEventsConnected: 1,
    TradeEventsSilenceSeconds: 1.5,
  });
  assert.equal(logged({ kind: 'state', connected: false }).TradeEventsConnected, 0);
  assert.equal(logged({ kind: 'subscribed', waitedMs: 9, gapMs: 8 }).TradeEventsReconnects, 1);
  const refused = logged({ kind: 'ended', reason: 'authentication_error', code: 'UNAUTHENTICATED' });
  assert.deepEqual([refused.level, refused.TradeEventsRefused], ['error', 1]);
  assert.deepEqual(logged({ kind: 'ended', reason: 'handed_over' }), {
    level: 'info',
    event: 'trade_stream_ended',
    reason: 'handed_over',
    code: undefined,
  });
  const compared = logged({ kind: 'compared', orders: 5, reconciled: 2, mute: true });
  assert.deepEqual(
    [compared.TradeEventsReconciled, compared.TradeEventsMute, compared.level],
    [2, 1, 'warn'],
  );
  const published = logged({ kind: 'published', events: 2, reconciled: 1, delaysMs: [5, 6] });
  assert.deepEqual(
    [published.TradeEventsPublished, published.TradeEventsDelay, published.TradeEventsUnpublished],
    [2, [5, 6], 0],
  );
});

test('a failure is named by its step, its name and its status, and not by its words', () => {
  const cause = new StreamError('INTERNAL', { cause: new Error('CANARY') });
  const line = logged({ kind: 'failed', step: 'store', cause });
  assert.deepEqual([line.step, line.name, line.status], ['store', 'StreamError', 'INTERNAL']);
  const other = logged({ kind: 'failed', step: 'parse', cause: new Error('account CANARY') });
  assert.doesNotMatch(JSON.stringify([line, other]), /CANARY/);
});

test('a run that found the secret refused says so each time, and one that was not needed says nothing', () => {
  const lines: LogEntry[] = [];
  const { ran, refused } = createTradeEventsMetrics((entry) => lines.push(entry), { functionName: 'l' });
  ran({ result: 'not_needed' });
  assert.equal(lines.length, 0);
  ran({ result: 'refused' });
  refused(3);
  assert.deepEqual(
    lines.map(({ event, TradeEventsRefused, TradeEventsUnpublished }) => [
      event,
      TradeEventsRefused ?? TradeEventsUnpublished,
    ]),
    [
      ['trade_events_run', 1],
      ['trade_events_not_taken', 3],
    ],
  );
});
