/** The page of a local run in Chromium, driven as a person does: by what is seen, with real clicks and keys. */

import type { TestContext } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { type BrowserPage, shareBrowser } from '../support/chromium.ts';
import { freePorts } from '../support/free-ports.ts';

export const key = 'a-key-that-is-nowhere';

/** Who opens a page closes it in the end. */
export const browser = shareBrowser();

export async function runFor(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const run = await startLocalRun(
    readSettings({
      ...freePorts,
      API_KEY: key,
      ...env,
    }),
  );
  t.onTestFinished(() => run.close());
  return run;
}

/** The page with the key, once quotes are there. */
export async function pageFor(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const run = await runFor(t, env);
  const page = await browser.open();
  t.onTestFinished(() => page.close());
  await page.open(`${run.url}/#key=${key}`);
  await page.until(`${priceOf('AAPL')}?.length > 2`);
  await page.until(`document.querySelector('select[name=account]')?.value`);
  await page.until(`document.getElementById('counted')`);
  return { ...run, page };
}

/** Expressions, for `until` and `evaluate`. */
export const priceOf = (symbol: string) =>
  `document.querySelector('tr[data-symbol="${symbol}"] .price')?.textContent`;
export const textOf = (selector: string) =>
  `(document.querySelector(${JSON.stringify(selector)})?.innerText ?? '')`;
export const includes = (selector: string, text: string) =>
  `${textOf(selector)}.includes(${JSON.stringify(text)})`;

const button = (text: string, within: string) =>
  `[...document.querySelectorAll(${JSON.stringify(`${within} button, ${within} a, ${within} label, ${within} summary`)})].find((one) => one.innerText.trim().startsWith(${JSON.stringify(text)}) || one.ariaLabel === ${JSON.stringify(text)})`;

/** Waits until it can be pressed. */
export async function press(page: BrowserPage, text: string, within = 'body'): Promise<void> {
  await page.until(
    `(${button(text, within)})?.disabled === false || (${button(text, within)} && !('disabled' in ${button(text, within)}))`,
  );
  await page.click(button(text, within));
}
