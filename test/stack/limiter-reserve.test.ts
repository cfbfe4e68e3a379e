/** Functions, workers and instances that are cut off from the table count under one limit, of which a part is reserved. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { marketStream, massCancels, settlement, tradeEvents } from '../../functions/compose/functions.ts';
import { composeLimiter } from '../../functions/compose/limiter.ts';
import { type FunctionSettings, readFunctionSettings } from '../../functions/settings/function-settings.ts';
import type { Read } from '../../functions/settings/parts.ts';
import { cancelOrder, getOrder, getStockSnapshots } from '../../lib/catalogue/index.ts';
import { limitsOf } from '../../lib/gateway/limits/operation-limits.ts';
import { createMemoryLimiterStore, type LimiterStore } from '../../lib/limiter/index.ts';
import { Upstream } from '../limiter/world/upstream.ts';
import { environmentOf, partOf, synthesise } from './synthesise.ts';

const stage = synthesise({
  upstream: { baseUrl: 'https://upstream.example', limits: 'published' },
  limiter: { reserve: 0.5 },
  groups: { instruments: 'closed', screeners: 'closed', fundamentals: 'closed', orders: 'iam' },
  functions: { reservedConcurrency: { 'market-data': 5, orders: 3, 'order-cancels': 1, 'order-reads': 1 } },
  tradeEvents: {},
  marketStream: { url: 'mqtts://quotes.example:1883' },
});

/** Of the function whose logical id begins so. */
const variablesOf = (id: string) =>
  environmentOf(partOf(id).only(stage, 'AWS::Lambda::Function')[1].Properties);

function settingsOf<Settings>(read: Read<Settings>): Settings {
  assert.ok(read.ok, JSON.stringify(read));
  return read.settings;
}

for (const [worker, read, beside, operation, requests] of [
  ['MarketStream', marketStream.read, 'marketdata', getStockSnapshots, 300],
  ['MassCancels', massCancels.read, 'ordercancels', cancelOrder, 600],
  ['OrderSettlement', settlement.read, 'orderreads', getOrder, 2],
  ['TradeEvents', tradeEvents.read, 'orderreads', getOrder, 2],
] as const)
  test(`${worker}, ${beside} and instances that are cut off send ${requests} together at most`, async () => {
    const [limit] = limitsOf(operation, { operationLimits: {}, upstreamLimits: 'published' }) ?? [''];
    let now = 1_795_000_000_000;
    const store = createMemoryLimiterStore();
    const away = () => Promise.reject(new Error('away'));
    const limiterOf = ({ limiter }: FunctionSettings, limiterStore: LimiterStore = store) => {
      const ports = { functionName: '', log() {}, clock: () => now, marketDataLimit: undefined };
      const all = { ...ports, limiterStore: () => limiterStore };
      return composeLimiter(limiter!, [operation], all, undefined).limiter;
    };
    const cutOff = { read: away, add: away, replace: away };
    const serving = settingsOf(readFunctionSettings(variablesOf(beside), [operation]));
    const working = settingsOf<{ readonly function: FunctionSettings }>(read(variablesOf(worker))).function;
    const instances = serving.limiter?.reserve?.instances ?? 0;
    const asking = [limiterOf(serving), limiterOf(working), limiterOf(working, cutOff)];
    for (let instance = 0; instance < instances; instance++) asking.push(limiterOf(serving, cutOff));
    const sent = asking.map(() => 0);
    const upstream = new Upstream();
    // All are older than a window and a request.
    now += 100_000;
    for (let tick = 0; tick < 300; tick++, now += 500)
      for (const [index, limiter] of asking.entries())
        while ((await limiter.acquire({ appKey: 'k', limits: [limit], waitMs: 0 })).ok) {
          sent[index]!++;
          upstream.arrive(now);
        }
    const worst = upstream.worstWindow(requests === 2 ? 2000 : 60_000);
    assert.ok(worst <= requests, `${worst} in one window, ${sent} in all`);
    const [served = 0, worked = 0, workedCutOff, servedCutOff = 0] = sent;
    assert.ok(served + worked > 0 && (servedCutOff > 0 || requests < instances), `${sent}`);
    // The reserve is divided among instances that serve callers.
    assert.equal(workedCutOff, 0);
  });
