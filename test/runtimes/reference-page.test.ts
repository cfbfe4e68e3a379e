/** The reference page of the local run in Chromium: what a person sees there, keeps over a reload, and sends. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { axeFaults } from '../support/axe.ts';
import { type BrowserPage, noChromium, openBrowser } from '../support/chromium.ts';
import { freePorts } from '../support/free-ports.ts';
import { orSkip } from '../support/missing.ts';

const key = 'a-key-that-is-nowhere';

async function pageOf(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const run = await startLocalRun(
    readSettings({
      ...freePorts,
      API_KEY: key,
      ...env,
    }),
  );
  t.onTestFinished(() => run.close());
  const page = await openBrowser();
  t.onTestFinished(() => page.close());
  return { ...run, page };
}

/** Opens one operation by its link. The page writes the address again while it opens: no reload may meet it there. */
async function openOperation(page: BrowserPage, group: string, operation: string): Promise<string> {
  await page.evaluate(`location.hash = '#/${group}/${operation}'`);
  const place = `#operations-${group}-${operation}`;
  await page.until(`document.querySelector('${place} .execute')`);
  return place;
}

/** Presses Execute. @returns the status that the page shows */
async function execute(page: BrowserPage, place: string): Promise<string> {
  const shown = `document.querySelector('${place} .live-responses-table tbody .response-col_status')`;
  await page.evaluate(`document.querySelector('${place} .btn-clear')?.click()`);
  await page.until(`!${shown}`);
  await page.evaluate(`document.querySelector('${place} .execute').click()`);
  await page.until(shown);
  return page.evaluate(`${shown}.textContent.trim()`);
}

const stateOf = (page: BrowserPage) =>
  page.evaluate<string>(`document.getElementById('key-state').textContent`);
const accepted = `document.querySelector('#key-state.well')`;

/** Types it over what stands there, as React hears of it. */
const typeInto = (page: BrowserPage, selector: string, text: string) =>
  page.evaluate(`(() => {
    const field = document.querySelector(${JSON.stringify(selector)});
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')
      .set.call(field, ${JSON.stringify(text)});
    field.dispatchEvent(new Event('input', { bubbles: true }));
  })()`);

describe('the reference page in Chromium', orSkip(noChromium), () => {
  test('keeps its key over a reload, in the tab alone', async (t) => {
    const { url, page } = await pageOf(t, { OPEN_GROUPS: 'accounts' });
    await page.open(`${url}/docs#key=${key}`);
    const place = await openOperation(page, 'accounts', 'listAccounts');
    assert.equal(await execute(page, place), '200');
    await page.reload();
    await page.until(`document.querySelector('${place} .execute')`);
    assert.equal(await execute(page, place), '200');
    const seen = `[location.href, document.cookie, JSON.stringify(localStorage), history.length]`;
    const [address, cookie, stored] = await page.evaluate<string[]>(seen);
    assert.deepEqual([address, cookie, stored], [`${url}/docs#/accounts/listAccounts`, '', '{}']);
    assert.match(await stateOf(page), /^The key is accepted/);
    // Another tab has a session of its own.
    const other = await openBrowser();
    t.onTestFinished(() => other.close());
    await other.open(`${url}/docs`);
    await other.until(`document.querySelector('#key-state.ill')`);
    assert.match(await stateOf(other), /^No key yet/);
    assert.deepEqual([...page.errors, ...other.errors], []);
  });

  test('sends what Execute is pressed for, also at the moment that it appears', async (t) => {
    const { url, page } = await pageOf(t, { OPEN_GROUPS: 'accounts' });
    await page.open(`${url}/docs#key=${key}`);
    const tag = `document.querySelector('#operations-tag-accounts')`;
    await page.until(tag);
    await page.evaluate(`{
      const press = () => {
        const button = document.querySelector('.execute');
        if (button) { seen.disconnect(); button.click(); }
      };
      const seen = new MutationObserver(press);
      seen.observe(document.body, { childList: true, subtree: true });
      ${tag}.click();
    }`);
    const operation = `document.querySelector('#operations-accounts-listAccounts .opblock-summary-control')`;
    await page.until(operation);
    await page.evaluate(`${operation}.click()`);
    await page.until(`document.querySelector('.live-responses-table .response-col_status')`);
    assert.deepEqual(page.errors, []);
  });

  test('says of a key whether it is missing, wrong or accepted, as soon as it is given', async (t) => {
    const { url, page } = await pageOf(t, {
      OPEN_GROUPS: 'instruments',
      OTHER_API_KEYS: 'another-key-of-this-run',
    });
    await page.open(`${url}/docs#key=of-an-earlier-run`);
    await page.until(`/not one of this run/.test(document.getElementById('key-state').textContent)`);
    assert.match(await stateOf(page), /^unknown_api_key: /);
    await page.reload();
    await page.until(`/^No key yet/.test(document.getElementById('key-state').textContent)`);
    for (const [given, state] of [
      ['mistyped', /^unknown_api_key/],
      ['another-key-of-this-run', /^The key is accepted/],
    ] as const) {
      await page.click(`document.getElementById('key')`);
      await page.type(given);
      await page.key('Enter');
      await page.until(`${state}.test(document.getElementById('key-state').textContent)`);
    }
    const place = await openOperation(page, 'instruments', 'listStockInstruments');
    assert.equal(await execute(page, place), '200');
    assert.deepEqual(page.errors, []);
  });

  test('a key that is typed under Authorize is looked at, too', async (t) => {
    const { url, page } = await pageOf(t, { OPEN_GROUPS: 'market-data' });
    await page.open(`${url}/docs`);
    await page.until(`document.querySelector('.btn.authorize')`);
    await page.click(`document.querySelector('.btn.authorize')`);
    await page.until(`document.querySelector('.auth-container input')`);
    await page.click(`document.querySelector('.auth-container input')`);
    await page.type(key);
    await page.click(`document.querySelector('.auth-btn-wrapper .authorize')`);
    await page.until(accepted);
    assert.deepEqual(page.errors, []);
  });

  test('the first quote is one Tab and one Enter away, on a phone above the fold', async (t) => {
    const { url, page } = await pageOf(t, { OPEN_GROUPS: 'market-data' });
    await page.look({ width: 360, height: 640, scheme: 'light' });
    await page.open(`${url}/docs#key=${key}`);
    await page.until(accepted);
    await page.until(`document.querySelector('.opblock-tag')`);
    const bottom = `document.getElementById('try').getBoundingClientRect().bottom`;
    assert.ok((await page.evaluate<number>(bottom)) < 640);
    await page.key('Tab');
    await page.key('Enter');
    await page.until(`document.getElementById('first-answer').textContent.includes('"symbol":"AAPL"')`);
    assert.match(
      await page.evaluate(`document.getElementById('first-status').textContent`),
      /^200 after \d+ ms$/,
    );
    assert.deepEqual(page.errors, []);
  });

  test('says which groups are open here, and none that is open is called closed', async (t) => {
    const { url, page } = await pageOf(t, { OPEN_GROUPS: 'market-data,accounts' });
    await page.open(`${url}/docs#key=${key}`);
    await page.until(`document.querySelector('.opblock-tag')`);
    assert.equal(
      await page.evaluate(`document.getElementById('groups').innerText`),
      'Open groups: accounts, market-data. Closed: orders, instruments, screeners, watchlists, fundamentals (OPEN_GROUPS says which are open).',
    );
    const tags = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.opblock-tag')].map((tag) => tag.innerText)`,
    );
    assert.ok(tags.some((text) => text.startsWith('accounts')));
    assert.ok(!tags.some((text) => /(orders|watchlists)\n|\bClosed\b/.test(text)));
    assert.deepEqual(page.errors, []);
  });

  test('folds errors: a row of codes for each status, whose examples open and close with a press', async (t) => {
    const { url, page } = await pageOf(t, { OPEN_GROUPS: 'orders' });
    await page.open(`${url}/docs#key=${key}`);
    const place = await openOperation(page, 'orders', 'placeOrder');
    await page.until(`document.querySelector('${place} [data-fold]')`);
    const statuses = await page.evaluate<string[]>(
      `[...document.querySelectorAll('${place} [data-fold]')].map((row) => row.dataset.fold)`,
    );
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, { post?: { operationId: string; responses: object } }>;
    };
    const { responses = {} } =
      Object.values(document.paths).find(({ post }) => post?.operationId === 'placeOrder')?.post ?? {};
    assert.deepEqual(
      statuses,
      Object.keys(responses).filter((status) => Number(status) >= 400),
    );
    const shown = `[...document.querySelectorAll('${place} .responses-table:not(.live-responses-table) .response[data-code]')].map((row) => row.dataset.code)`;
    assert.deepEqual(await page.evaluate(shown), ['200']);
    const button = `document.querySelector('${place} [data-fold="502"] button')`;
    assert.match(await page.evaluate(`${button}.innerText`), /outcome_unknown/);
    await page.evaluate(`${button}.click()`);
    await page.until(`document.querySelector('${place} .response[data-code="502"] .example')`);
    assert.deepEqual(await page.evaluate(shown), ['200', '502']);
    await page.evaluate(`${button}.click()`);
    await page.until(`!document.querySelector('${place} .response[data-code="502"]')`);
    assert.deepEqual(page.errors, []);
  });

  test('an order that is tried twice has another id each time; an id that was typed stays', async (t) => {
    const { url, page, simulator } = await pageOf(t, { OPEN_GROUPS: 'orders' });
    await page.open(`${url}/docs#key=${key}`);
    const place = await openOperation(page, 'orders', 'placeOrder');
    for (let tries = 0; tries < 2; tries++) assert.equal(await execute(page, place), '200');
    const bodies = () => simulator!.received.flatMap(({ method, body }) => (method === 'POST' ? [body] : []));
    const [first = '', second = ''] = bodies();
    const idOf = (body: string) => /"client_order_id":"([^"]+)"/.exec(body)?.[1] ?? '';
    assert.notEqual(idOf(first), idOf(second));
    assert.equal(first.replace(idOf(first), ''), second.replace(idOf(second), ''));
    const field = `${place} .body-param__text`;
    const text = await page.evaluate<string>(`document.querySelector(${JSON.stringify(field)}).value`);
    await typeInto(page, field, text.replace(/gw-\d+-\d+/, 'typed-by-a-person'));
    await page.until(`document.querySelector(${JSON.stringify(field)}).value.includes('typed-by-a-person')`);
    assert.equal(await execute(page, place), '200');
    // The same order again is answered with what became of the first, and not sent.
    assert.equal(await execute(page, place), '200');
    assert.deepEqual(bodies().slice(2).map(idOf), ['typed-by-a-person']);
    assert.deepEqual(page.errors, []);
  });

  test('the id of the last order stands in what changes, cancels and reads it; another that was typed stays', async (t) => {
    const { url, page, simulator } = await pageOf(t, { OPEN_GROUPS: 'orders' });
    await page.open(`${url}/docs#key=${key}`);
    const place = await openOperation(page, 'orders', 'placeOrder');
    await page.evaluate(`{
      const select = document.querySelector('${place} .examples-select-element');
      select.value = 'resting';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    }`);
    await page.until(`document.querySelector('${place} .body-param__text').value.includes('LIMIT')`);
    assert.equal(await execute(page, place), '200');
    const [{ clientOrderId: id } = { clientOrderId: '' }] = simulator?.orders ?? [];
    await page.until(`document.getElementById('last-order').textContent.includes('${id}')`);
    for (const operation of ['getOrder', 'replaceOrder', 'cancelOrder']) {
      const shown = `#operations-orders-${operation}`;
      await page.click(`document.querySelector('#next a[href$="/${operation}"]')`);
      await page.until(`document.querySelector('${shown} .execute')`);
      await page.until(
        `[...document.querySelectorAll('${shown} textarea, ${shown} input')].some(({ value }) => value.includes('${id}'))`,
      );
      assert.equal(await execute(page, shown), '200', operation);
    }
    const cancel = '#operations-orders-cancelOrder .body-param__text';
    await typeInto(page, cancel, '{"account_id":"A","client_order_id":"typed-by-a-person"}');
    await page.until(`document.querySelector('${cancel}').value.includes('typed-by-a-person')`);
    assert.equal(await execute(page, place), '200');
    assert.equal(simulator?.orders.length, 2);
    await page.until(`!document.getElementById('last-order').textContent.includes('${id}')`);
    assert.match(
      await page.evaluate(`document.querySelector('${cancel}').value`),
      /"client_order_id":"typed-by-a-person"/,
    );
    assert.deepEqual(page.errors, []);
  });

  test('on a desktop and a phone, light and dark: nothing is wider, notes are folded, and axe finds no fault in what is ours', async (t) => {
    const { url, page } = await pageOf(t, { OPEN_GROUPS: 'market-data,orders' });
    await page.open(`${url}/docs#key=${key}`);
    for (const [group, operation] of [
      ['market-data', 'getStockSnapshots'],
      ['orders', 'placeOrder'],
    ] as const) {
      const place = await openOperation(page, group, operation);
      await page.until(`${accepted} && document.querySelector('${place} .response[data-code="200"]')`);
      const folds = `[...document.querySelectorAll('${place} details')].map(({ open }) => open)`;
      assert.deepEqual(new Set(await page.evaluate<boolean[]>(folds)), new Set([false]));
      for (const width of [1280, 360])
        for (const scheme of ['light', 'dark'] as const) {
          await page.look({ width, height: 900, scheme });
          await page.until(
            `document.documentElement.classList.contains('dark-mode') === ${scheme === 'dark'}`,
          );
          assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
          const height = await page.evaluate<number>(`document.querySelector('${place}').offsetHeight`);
          console.log(JSON.stringify({ operation, width, height }));
          assert.deepEqual(await axeFaults(page, ['.run', '.folded > summary', '.fold']), []);
        }
    }
    assert.deepEqual(page.errors, []);
  });
});
