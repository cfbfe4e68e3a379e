/** What the local run answers beside the API: its document, and the page to read it. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type TestContext, test } from 'vitest';
import { openApiText } from '../../infra/commands/open-api.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import type { DocumentForm } from '../../infra/open-api/document-form.ts';
import { exposedOperations, type Group, openable, operations } from '../../lib/catalogue/index.ts';
import { liveOperations, streamOrderEvents, streamStockSnapshots } from '../../lib/catalogue/live.ts';
import { given } from '../commands/given.ts';
import { firstColumn } from '../docs/pages.ts';
import type { Document } from '../open-api/support.ts';

const key = 'a-key-that-is-nowhere';

async function runWith(t: TestContext, openGroups: readonly Group[] = openable, env = {}) {
  const read = readSettings({ API_KEY: key, ...env });
  const settings = { ...read, port: 0, upstream: { simulatorPort: 0 }, openGroups };
  const run = await startLocalRun(settings);
  t.onTestFinished(() => run.close());
  return run;
}

test('/openapi.json needs no key, names this server and what it exposes', async (t) => {
  for (const [open, schemes] of [
    [openable, ['api_key', 'bearerAuth']],
    [['market-data'], ['api_key']],
  ] as const) {
    const { url } = await runWith(t, open);
    const response = await fetch(`${url}/openapi.json`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json');
    const document = (await response.json()) as Document;
    assert.equal(document.servers[0]?.url, url);
    const exposed = exposedOperations([...operations, ...liveOperations], open);
    assert.deepEqual(Object.keys(document.paths).sort(), exposed.map(({ path }) => path).sort());
    assert.deepEqual(Object.keys(document.components.securitySchemes), schemes);
    assert.ok((await new Validator().validate({ ...document })).valid);
  }
});

test('/openapi.json offers no stream of trade events where nothing listens for them', async (t) => {
  const { url } = await runWith(t, openable, { TRADE_EVENTS: 'off' });
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  assert.equal(paths[streamOrderEvents.path], undefined);
  assert.ok(paths[streamStockSnapshots.path]);
});

test('/openapi.json is what the command prints, in each form that both have', async (t) => {
  const { url } = await runWith(t);
  const forms = [
    ['', ''],
    ['version=3.0', '--version 3.0'],
    ['for=generators', '--for generators'],
    ['version=3.1&for=generators', '--for generators --version 3.1'],
  ] as const;
  // All before anything is compared: a connection that idles for seconds would be closed.
  const served: Document[] = [];
  for (const [query] of forms)
    served.push((await (await fetch(`${url}/openapi.json?${query}`)).json()) as Document);
  for (const [index, [, line]] of forms.entries()) {
    const { form } = await given<{ readonly form: DocumentForm }>(`openapi ${line}`);
    const { servers, ...document } = served[index] as Document;
    const printed = JSON.parse(openApiText({ ...form, stage: 'local', server: url }));
    assert.deepEqual({ ...document, servers: [{ url: servers[0]?.url }] }, printed);
    assert.ok((await new Validator().validate({ ...printed })).valid);
  }
});

test('/openapi.json in a form that there is not is refused, naming those that there are', async (t) => {
  const { url } = await runWith(t);
  for (const [query, detail] of [
    ['for=people', 'for: not an allowed value (generators)'],
    ['version=2.0', 'version: not an allowed value (3.1 or 3.0)'],
    ['for=generators&version=3', 'version: not an allowed value (3.1 or 3.0)'],
    ['versoin=3.0', 'versoin: no parameter (for, version)'],
    ['version=3.0&version=3.1', 'version: given twice'],
    ['for=people&version=3.0&x', 'for: not an allowed value (generators); x: no parameter (for, version)'],
  ]) {
    const response = await fetch(`${url}/openapi.json?${query}`);
    const problem = (await response.json()) as { code: string; detail: string };
    assert.deepEqual([response.status, problem.code, problem.detail], [400, 'invalid_parameter', detail]);
  }
});

test('docs/configuration.md has what the run has beside the API', async (t) => {
  const { url } = await runWith(t);
  const paths = firstColumn('docs/configuration.md', 'Beside the API');
  const behindKeys = ['POST /_events', '/_trading', '/_run', 'GET /_orders/audit'];
  assert.deepEqual(paths, ['/', '/docs', '/openapi.json', ...behindKeys, '/issuer']);
  for (const path of ['/page.js', '/docs', '/openapi.json', '/issuer/jwks.json'])
    assert.equal((await fetch(url + path)).status, 200, path);
  assert.equal((await fetch(`${url}/_events`)).headers.get('allow'), 'POST');
});

test('/ is the page to a browser and to curl, and tells an app where the reference is', async (t) => {
  const { url } = await runWith(t);
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  // The second is what curl sends.
  for (const headers of [{ accept }, { accept: '*/*' }]) {
    const shown = await fetch(url, { headers });
    assert.equal(shown.status, 200);
    assert.match(await shown.text(), /<script type="module" src="\.\/page\.js">/);
    const head = await fetch(url, { headers, method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    assert.equal(head.headers.get('content-type'), shown.headers.get('content-type'));
  }
  const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual' });
  assert.equal(response.status, 404);
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  assert.equal(code, 'unknown_operation');
  assert.match(detail, /\/docs shows all that are\.$/);
});

test.for(['/', '/docs'])(
  '%s has its parts here, under a policy that lets nothing in or out',
  async (path, t) => {
    const { url } = await runWith(t);
    const page = await fetch(url + path, { headers: { accept: 'text/html' } });
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    const html = await page.text();
    const linked = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, target = '']) => target);
    assert.ok(linked.length >= 3);
    for (const target of linked.filter((one) => one !== 'data:,' && one !== '/')) {
      const response = await fetch(new URL(target, url));
      assert.equal(response.status, 200, target);
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      const policy = response.headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self';/);
      assert.doesNotMatch(policy, /https?:|unsafe-eval|\*/);
    }
    assert.doesNotMatch(html, /https?:\/\//, 'no CDN');
  },
);

test('nothing there holds the key: it comes behind the # of the address, which is not sent', async (t) => {
  const { url } = await runWith(t);
  for (const path of [
    '/openapi.json',
    '/docs',
    '/docs/start.js',
    '/docs/openapi.json',
    '/page.js',
    '/page.css',
    '/',
  ])
    assert.ok(!(await (await fetch(url + path)).text()).includes(key), path);
});

test('pages answer GET and HEAD only, and none of another origin reads them', async (t) => {
  const { url } = await runWith(t);
  const posted = await fetch(`${url}/docs`, { method: 'POST' });
  assert.equal(posted.status, 405);
  assert.equal(posted.headers.get('allow'), 'GET, HEAD');
  const foreign = await fetch(`${url}/openapi.json`, { headers: { origin: 'https://elsewhere.example' } });
  assert.equal(foreign.headers.get('access-control-allow-origin'), null);
});

test('the scripts of the reference call what Swagger UI has', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  const scripts = ['start', 'orders', 'folds'].map((name) => read(`infra/local/reference-page/${name}.js`));
  const bundle = read('node_modules/swagger-ui-dist/swagger-ui-bundle.js');
  for (const name of [
    'SwaggerUIBundle',
    'preauthorizeApiKey',
    'tryItOutEnabled',
    'displayOperationId',
    'parseDeepLinkHash',
    'parameterWithMeta',
    'setRequestBodyValue',
    'setRetainRequestBodyValueFlag',
    'ServersContainer',
  ])
    assert.ok(scripts.join('').includes(name) && bundle.includes(name), name);
});
