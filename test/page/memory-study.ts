/**
 * What the page holds in Chromium while its watchlist streams, in real time: after one minute, the half and all of the time.
 * A page that lets go of what it has shown holds about the same at each.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { noChromium, openBrowser } from '../support/chromium.ts';
import { freePorts } from '../support/free-ports.ts';
import { priceOf } from './page.ts';

const key = 'a-key-that-is-nowhere';
/** The last look beside the first: charts and the list of requests have filled by then. */
const mostGrowth = 1.5;

/** @param args for how many seconds; default 600 @returns whether it holds about what it held after a minute */
export async function studyPageMemory([given = '600']: readonly string[]): Promise<boolean> {
  if (noChromium) throw new Error(noChromium);
  const seconds = Number(given);
  const run = await startLocalRun(readSettings({ ...freePorts, API_KEY: key }));
  const page = await openBrowser();
  const bytes: number[] = [];
  try {
    await page.open(`${run.url}/#key=${key}`);
    await page.until(`${priceOf('AAPL')}?.length > 2`);
    const began = performance.now();
    for (const at of [...new Set([Math.min(60, seconds), seconds / 2, seconds])].sort((a, b) => a - b)) {
      await delay(Math.max(0, at * 1000 - (performance.now() - began)));
      const held = await page.held();
      bytes.push(held.bytes);
      console.log(`after ${at} s: ${(held.bytes / 1e6).toFixed(2)} MB of heap, ${held.nodes} nodes`);
    }
    for (const error of page.errors) console.log(error);
    return page.errors.length === 0 && (bytes.at(-1) ?? 0) <= mostGrowth * (bytes[0] ?? 0);
  } finally {
    await page.close();
    await run.close();
  }
}
