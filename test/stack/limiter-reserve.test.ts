/** Functions, workers and instances that are cut off from the table count under one limit, of which a part is reserved. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { composeLimiter } from '../../functions/compose/limiter.ts';
import { type Environment, type Read, readFunctionSettings } from '../../functions/settings/environment.ts';
import type { FunctionSettings } from '../../functions/settings/settings.ts';
import {
  readMarketStreamSettings,
  readMassCancelSettings,
  readSettlementSettings,
  readTradeEventsSettings,
} from '../../functions/settings/worker-environment.ts';
import { cancelOrder, getOrder, getStockSnapshots } from '../../lib/catalogue/index.ts';
import { limitsOf } from '../../lib/gateway/operation-limits.ts';
import { createMemoryLimiterStore, type LimiterStore } from '../../lib/limiter/index.ts';
import { Upstream } from '../limiter/world/upstream.ts';
import { partOf, synthesise, variablesOf } from './synthesise.ts';

const stage = synthesise({
  upstream: { baseUrl: 'https://upstream.example', limits: 'published' },
  limiter: { reserve: 0.5 },
  groups: { instruments: 'closed', screeners: 'closed', fundamentals: 'closed', orders: 'iam' },
  functions: { reservedConcurrency: { 'market-data': 5, orders: 3, 'order-cancels': 1, 'order-reads': 1 } },
  tradeEvents: {},
  marketStream: { url: 'mqtts://quotes.example:1883' },
});

/** The variables of the function whose logical id begins so. */
const environmentOf = (id: string): Environment =>
  Object.fromEntries(
    Object.entries(variablesOf(partOf(id).only(stage, 'AWS::Lambda::Function')[1].Properties)).map(
      ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)],
    ),
  );

function settingsOf<Settings>(read: Read<Settings>): Settings {
  assert.ok(read.ok, JSON.stringify(read));
  return read.settings;
}

for (const [worker, read, beside, operation, requests] of [
  ['MarketStream', readMarketStreamSettings, 'marketdata', getStockSnapshots, 300],
  ['MassCancels', readMassCancelSettings, 'ordercancels', cancelOrder, 600],
  ['OrderSettlement', readSettlementSettings, 'orderreads', getOrder, 2],
  ['TradeEvents', readTradeEventsSettings, 'orderreads', getOrder, 2],
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
    const serving = settingsOf(readFunctionSettings(environmentOf(beside), [operation]));
    const working = settingsOf<{ readonly function: FunctionSettings }>(read(environmentOf(worker))).function;
    const instances = Number(environmentOf(beside).LIMITER_INSTANCES);
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
