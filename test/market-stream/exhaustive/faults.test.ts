/**
 * Each fault of the upstream's broker that was seen, over real connections: every caller is answered all the while, and the
 * stream carries the symbols again. How long that takes, the virtual clock says: `listener.test.ts`.
 */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { startLocalRun } from '../../../infra/local/local-run.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import type { MarketStreamFault } from '../../../infra/simulator/index.ts';
import { freePorts } from '../../support/free-ports.ts';
import { useCalmTime } from '../../world/test-time.ts';

useCalmTime();

const key = 'a-key-of-this-test';
const target = '/openapi/market-data/stock/snapshot?symbols=AAPL,MSFT&category=US_STOCK';

const faults: Readonly<Record<string, MarketStreamFault>> = {
  'goes mute until it is asked again': { kind: 'mute', until: 'subscribe' },
  'goes mute for good': { kind: 'mute', until: 'never' },
  freezes: { kind: 'freeze' },
  'forgets the session': { kind: 'forget' },
  'lets another client take the session over': { kind: 'take-over' },
  'drops the connection': { kind: 'drop' },
  'says goodbye': { kind: 'bye-bye' },
  'sends what is no message': { kind: 'send', what: 'not-protobuf' },
  'sends a message that is too large': { kind: 'send', what: 'too-large' },
  'sends a topic that is no text': { kind: 'send', what: 'unknown-topic-not-text' },
  'delivers with an acknowledgement, and from memory': { kind: 'deliver', qos: 1, retain: true },
};

test.concurrent.each(Object.entries(faults))('an upstream that %s', async (_, fault) => {
  const run = await startLocalRun(
    readSettings({
      API_KEY: key,
      ...freePorts,
      TRADE_EVENTS: 'off',
      PLAN: 'app',
    }),
  );
  try {
    const stream = run.simulator?.marketStream;
    assert.ok(stream);
    const ask = async () => {
      const response = await fetch(`${run.url}${target}`, { headers: { 'x-api-key': key } });
      assert.equal(response.status, 200, await response.text());
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const isCarried = () => Object.values(stream.sessions).some((symbols) => symbols.includes('AAPL'));
    const told = () => (stream.sent.snapshot ?? 0) + (stream.sent.quote ?? 0);
    while (!isCarried() || told() === 0) await ask();
    stream.bring(fault);
    // Long enough that each of them is noticed, and then until values come again.
    for (const until = Date.now() + 15_000; Date.now() < until; ) await ask();
    for (const before = told(); !isCarried() || told() <= before; ) await ask();
  } finally {
    await run.close();
  }
});
