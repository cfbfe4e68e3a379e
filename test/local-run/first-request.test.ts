/** A request may come as soon as the run listens: it waits for the grants, and is not refused for their absence. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import { closedPort } from '../support/closed-port.ts';
import { freePorts } from '../support/free-ports.ts';

test('the first request of an account’s user is answered, however early it comes', async (t) => {
  const port = await closedPort();
  const env = {
    ...freePorts,
    PORT: String(port),
    API_KEY: 'early',
  };
  const first = (async () => {
    for (;;)
      try {
        return await fetch(`http://127.0.0.1:${port}/trading/accounts/list`, {
          headers: { 'x-api-key': 'early' },
        });
      } catch {
        await sleep(0);
      }
  })();
  const run = await startLocalRun(readSettings(env));
  t.onTestFinished(() => run.close());
  const response = await first;
  assert.equal(response.status, 200, await response.text());
});
