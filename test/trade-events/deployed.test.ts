/** The rim of the listener: its settings, and what its log says. The emulator's tests run it as a whole. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { tradeEventPorts } from '../../functions/aws/order-ports.ts';
import { start, tradeEvents } from '../../functions/compose/functions.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { createTradeEventsMetrics } from '../../functions/log/trade-events-metrics.ts';
import { writePart } from '../../functions/settings/parts.ts';
import { StreamError, type TradeEventReport } from '../../lib/trade-events/index.ts';
import { hostWith } from '../support/deployed.ts';
import { each } from '../support/each.ts';
import { part, parts } from '../support/parts.ts';

test('settings come from the environment', () => {
  const own = { url: 'https://events.example:8443', tableName: 'table', busName: 'bus', compareEveryMs: 7 };
  const environment = {
    ...parts('UPSTREAM', 'IDENTITY'),
    ...writePart('TRADE_EVENTS', own),
    // The look of a worker at callers and at what they share.
    ...parts('ACCESS', 'JOURNAL'),
  };
  const read = tradeEvents.read(environment);
  assert.ok(read.ok);
  const { function: settings, ...others } = read.settings;
  assert.deepEqual(others, { ...own, identityKeySecretId: 'identity-key', historyTable: undefined });
  assert.deepEqual([settings.secretId, settings.access, settings.cache], ['secret', undefined, undefined]);
  // Under the vendor's table the reads of orders are counted.
  assert.deepEqual(tradeEvents.read({ ...environment, ...part('UPSTREAM', { limits: 'published' }) }), {
    ok: false,
    faults: ['LIMITER: not set'],
  });
});

test('a wrong environment is one line of the log, and each run rejects', async () => {
  const lines: LogEntry[] = [];
  const handler = start(tradeEvents, {}, tradeEventPorts(hostWith((entry) => lines.push(entry))));
  assert.deepEqual(each(lines, 'event', 'faults'), [
    ['wrong_configuration', ['TRADE_EVENTS: not set', 'IDENTITY: not set', 'UPSTREAM: not set']],
  ]);
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
