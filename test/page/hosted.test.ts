/** The files of the step `page` on an origin of their own, before a gateway that allows it, and before others. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, describe, type TestContext, test } from 'vitest';
import { listenOn } from '../../infra/listen.ts';
import { writePage } from '../../infra/page-bundle.ts';
import { noChromium } from '../support/chromium.ts';
import { closedPort } from '../support/closed-port.ts';
import { orSkip } from '../support/missing.ts';
import { browser, includes, key, press, priceOf, runFor } from './page.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** A static host, as any is: files, and nothing that the page would need of a server. */
async function staticHost(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-page-'));
  const server = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://host');
    const name = pathname === '/' ? 'index.html' : pathname.slice(1);
    if (!/^(index\.html|page\.(js|css))$/.test(name)) return void response.writeHead(404).end();
    response.setHeader('content-type', types[extname(name)] ?? '').end(readFileSync(join(folder, name)));
  });
  const port = await listenOn(server, 0, '127.0.0.1');
  t.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, origin: `http://localhost:${port}` };
}

async function pageBefore(t: TestContext, folder: string, origin: string, gateway: string) {
  await writePage(folder, { gateway, issuer: `${gateway}/issuer`, clientId: 'page' });
  const page = await browser.open();
  t.onTestFinished(() => page.close());
  await page.open(`${origin}/`);
  return page;
}

afterAll(() => browser.close());

describe('the page on a static host', orSkip(noChromium), () => {
  test('takes a key, shows quotes, and signs a user in with a code and PKCE', async (t) => {
    const { folder, origin } = await staticHost(t);
    const { url } = await runFor(t, { CORS_ORIGINS: origin });
    const page = await pageBefore(t, folder, origin, url);
    await page.until(includes('#key-state', 'No key yet'));
    await page.click(`document.querySelector('#key-form input')`);
    await page.type(key);
    await press(page, 'Use', '#key-form');
    await page.until(`${priceOf('AAPL')}?.length > 2`);
    await page.until(`document.querySelector('select[name=account]')?.value`);
    await press(page, 'Sign in', '#people');
    await page.until(`location.pathname === '/issuer/authorize'`);
    await press(page, 'Sign in as ben');
    await page.until(includes('#who', 'ben has signed in'));
    assert.equal(await page.evaluate('location.href'), `${origin}/`);
    await page.until(`${priceOf('AAPL')}?.length > 2`);
    await press(page, 'Place', '#orders');
    await page.until(includes('li[data-order]', 'the upstream took it'));
    // What only a local run tells is not asked of a gateway that is deployed.
    assert.equal(await page.evaluate(`document.querySelector('#limit, #requests, #guard, #faults')`), null);
    assert.equal(await page.evaluate(`document.getElementById('silence')`), null);
    assert.deepEqual(page.errors, []);
  });

  test('says that the gateway does not allow its origin, or that it does not answer', async (t) => {
    const { folder, origin } = await staticHost(t);
    const { url } = await runFor(t, { CORS_ORIGINS: 'https://elsewhere.example' });
    const page = await pageBefore(t, folder, origin, url);
    await page.until(includes('#silence', `lets no page of ${origin} read its answers`));
    await page.until(includes('#silence', 'cors.origins must name this origin'));
    const nowhere = `http://127.0.0.1:${await closedPort()}`;
    const other = await pageBefore(t, folder, origin, nowhere);
    await other.until(includes('#silence', `The gateway ${nowhere} does not answer`));
  });
});
