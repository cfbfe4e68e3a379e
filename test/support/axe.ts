/** What axe-core finds on a page that is open in Chromium. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserPage } from './chromium.ts';

/** @param within selectors; default: the whole page @returns faults that axe calls serious or critical, each with its elements */
export async function axeFaults(page: BrowserPage, within?: readonly string[]): Promise<readonly string[]> {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(`${axe}; 0`);
  const context = within ? JSON.stringify({ include: within }) : 'document';
  return page.evaluate(`axe.run(${context}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
}
