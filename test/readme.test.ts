/** The examples of README and docs: what a reader pastes is run here, and answers what stands there. */

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { carriedByBucket } from '../infra/commands/capacity.ts';
import { type LocalRun, startLocalRun } from '../infra/local/local-run.ts';
import { readSettings } from '../infra/local/settings.ts';
import { welcome } from '../infra/local/welcome.ts';
import { entries, sourceOf } from '../infra/package/entries.ts';
import { startSimulator } from '../infra/simulator/index.ts';
import type { CountersignConfig } from '../infra/stack/config.ts';
import { resolveConfig } from '../infra/stack/resolve-config.ts';
import { planOfTier, planTiers } from '../lib/catalogue/index.ts';
import { priorities } from '../lib/limiter/index.ts';
import { type Given, given, programOf, results } from './docs/page-programs.ts';
import { blocksOf, commandsOf, firstColumn, pages, rowsOf, textOf } from './docs/pages.ts';
import { each } from './support/each.ts';

describe('in front of a local run', () => {
  const settings = { ...readSettings({ PORT: '1' }), port: 0, upstream: { simulatorPort: 0 } };
  let run: LocalRun;
  beforeAll(async () => {
    run = await startLocalRun(settings);
  });
  afterAll(() => run.close());

  /** Of a shell's curl: its headers and its address. */
  async function curl(command: string, variables: Readonly<Record<string, string>> = {}): Promise<Response> {
    const values: Readonly<Record<string, string>> = {
      API_URL: run.url,
      API_KEY: settings.apiKey,
      ...variables,
    };
    const [request = ''] = command.split(' | ');
    const words = [
      ...request.replace(`'$(date +%s)'`, '1795370000').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
    ].map(
      ([, single, double, bare]) =>
        single ?? (double ?? bare ?? '').replace(/\$(\w+)/g, (_, variable: string) => values[variable] ?? ''),
    );
    const headers: [string, string][] = [];
    let url = '';
    let body: string | undefined;
    for (let index = 1; index < words.length; index++) {
      const word = words[index] ?? '';
      if (word === '-H') {
        const [name = '', value = ''] = (words[++index] ?? '').split(': ');
        headers.push([name, value]);
      } else if (word === '-d') body = words[++index];
      else if (!word.startsWith('-')) url = word;
    }
    if (body === undefined) return fetch(url, { headers });
    if (!headers.some(([name]) => name === 'content-type'))
      headers.push(['content-type', 'application/x-www-form-urlencoded']);
    return fetch(url, { headers, method: 'POST', body });
  }

  const [shown = ''] = blocksOf('README.md', '').filter((block) => block.startsWith('Countersign on'));

  test('the README shows what npm start prints', () => {
    const printed = welcome(settings, run)
      .replaceAll(`:${new URL(run.url).port}`, ':8787')
      .replaceAll(run.upstreamUrl, 'http://127.0.0.1:8788');
    const anyKey = (text: string) => text.replaceAll(/\b[0-9a-f]{40}\b|\b[0-9a-f]{8}…/g, 'KEY');
    assert.ok(anyKey(printed).startsWith(anyKey(shown).trimEnd()), anyKey(printed));
  });

  test('its calls answer, the first one with records as it shows', async () => {
    const calls = shown
      .split('\n')
      .filter((line) => line.includes('curl '))
      .map((line) =>
        line
          .trim()
          .replaceAll(/\b[0-9a-f]{8}…/g, settings.apiKey)
          .replace('http://127.0.0.1:8787', run.url),
      );
    assert.equal(calls.length, 12);
    const [first, second] = await Promise.all(calls.slice(0, 2).map((call) => curl(call)));
    assert.deepEqual([first?.status, second?.status], [200, 200]);
    const [, asksForToken = ''] = /^TOKEN=\$\((.*)\)$/.exec(calls[2] ?? '') ?? [];
    const asOther = await curl(calls[3] ?? '', { TOKEN: await (await curl(asksForToken)).text() });
    const accounts = [(await second?.json()) ?? [], await asOther.json()] as { account_id: string }[][];
    assert.deepEqual(
      each(accounts.flat(), 'account_id'),
      [...textOf('README.md').matchAll(/: account (\w{26})/g)].map(([, id]) => id),
    );
    const [[record]] = blocksOf('README.md', 'json').map((text) => JSON.parse(text));
    const [answered] = (await (first as Response).json()) as object[];
    assert.deepEqual(Object.keys(answered ?? {}), Object.keys(record));
    for (const [name, value] of Object.entries(answered ?? {}))
      assert.equal(typeof value, typeof record[name]);
    const { replies } = (await (await curl(calls[4] ?? '')).json()) as {
      replies: { detail: { request_id: string; quotes: object[] } }[];
    };
    assert.deepEqual(
      replies.map(({ detail }) => [detail.request_id, detail.quotes.map((quote) => Object.keys(quote))]),
      [['try-1795370000', Array(2).fill(Object.keys(record))]],
    );
    for (const call of calls.slice(5, 7)) {
      const following = await curl(call);
      assert.equal(following.headers.get('content-type'), 'text/event-stream');
      await following.body?.cancel();
    }
    const placed = (await (await curl(calls[7] ?? '')).json()) as { client_order_id?: string };
    assert.equal(placed.client_order_id, 'try-1795370000');
    for (const call of calls.slice(8)) assert.equal((await curl(call)).status, 200, call);
  });

  for (const page of pages)
    for (const command of commandsOf(page).filter((one) => one.startsWith('curl ')))
      test(`${page}: ${command}`, async () => {
        const response = await curl(command);
        if (response.status !== 200) assert.fail(await response.text());
        // One of them never ends.
        await response.body?.cancel();
      });

  test('docs/orders.md: its first call sent again is replayed, with other contents a conflict', async () => {
    const [place = '', outcome = ''] = commandsOf('docs/orders.md').filter((one) => one.startsWith('curl '));
    const texts: string[] = [];
    for (const isReplayed of [null, 'true']) {
      const id = place.replace('order-to-send-twice', 'order-of-this-test');
      const response = await curl(id);
      assert.equal(response.headers.get('idempotent-replayed'), isReplayed);
      texts.push(await response.text());
      const other = await curl(id.replace('"quantity":"2"', '"quantity":"3"'));
      assert.equal(other.status, 409);
    }
    assert.equal(texts[1], texts[0]);
    const [shown = ''] = blocksOf('docs/orders.md', 'json');
    const answered = await curl(outcome.replace('order-to-send-twice', 'order-of-this-test'));
    assert.deepEqual(Object.keys((await answered.json()) as object), Object.keys(JSON.parse(shown)));
  });

  test('docs/shared-answers.md has the headers of an answer', async () => {
    const [command = ''] = commandsOf('docs/shared-answers.md').filter((one) => one.startsWith('curl '));
    const { headers } = await curl(command.replace('AAPL,MSFT', 'AAPL,NOSUCH'));
    for (const name of firstColumn('docs/shared-answers.md', 'How old an answer is'))
      assert.ok(headers.has(name), name);
  });
});

describe('TypeScript of the pages runs against the simulator', () => {
  const sources = new Map(
    entries().map((entry) => [entry.name.replace('.', 'countersign'), `../../${sourceOf(entry)}`]),
  );

  async function runPage(
    page: string,
    names: readonly string[],
    more: Partial<Given> = {},
    onLine = () => {},
  ) {
    const simulator = await startSimulator({ appKey: 'readme-key', appSecret: 'readme-secret' });
    const folder = join(import.meta.dirname, '.build');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${page.replaceAll(/\W/g, '-')}.ts`);
    writeFileSync(
      file,
      programOf(page, names, (from) => sources.get(from) ?? from),
    );
    const lines: string[] = [];
    const { run } = (await import(pathToFileURL(file).href)) as {
      run(values: Given, console: object): Promise<Record<string, unknown>>;
    };
    const log = (line: string) => {
      lines.push(line);
      onLine();
    };
    const made = await run({ ...given(simulator.url), ...more }, { log });
    return { lines, ...made, simulator };
  }

  test('each page with TypeScript is among them', () => {
    const having = pages.filter((page) => blocksOf(page, 'ts').length > 0);
    assert.deepEqual(having.sort(), [...Object.keys(results), 'docs/live.md'].sort());
  });

  for (const [page, { names, holds }] of Object.entries(results))
    test(page, async () => {
      const { simulator, ...made } = await runPage(page, names);
      await holds(made as never);
      await simulator.close();
    });

  test('docs/live.md', async () => {
    const settings = { ...readSettings({ PORT: '1' }), port: 0, upstream: { simulatorPort: 0 } };
    const gateway = await startLocalRun(settings);
    try {
      const end = new AbortController();
      const values = { baseUrl: gateway.url, apiKey: settings.apiKey, signal: end.signal };
      const { lines, simulator } = await runPage('docs/live.md', [], values, () => end.abort());
      await simulator.close();
      assert.match(lines[0] ?? '', /^AAPL \d+\.\d\d \d+ ms$/);
    } finally {
      await gateway.close();
    }
  });
});

test('the README shows a domain that can be deployed', () => {
  const [shown = ''] = blocksOf('README.md', 'js');
  const { domain } = runInNewContext(`({ ${shown} })`) as CountersignConfig;
  const upstream = { baseUrl: 'https://a.example', limits: 'interface' } as const;
  assert.equal(resolveConfig(JSON.parse(JSON.stringify({ upstream, domain }))).domain?.name, domain?.name);
  assert.ok(domain?.hostedZone);
});

test('docs/configuration.md shows a stage that can be deployed, and docs/limits.md what its plans carry', () => {
  const [shown = ''] = blocksOf('docs/configuration.md', 'js');
  const { dev } = runInNewContext(`({ ${shown} })`) as { dev: CountersignConfig };
  const { plans } = resolveConfig(JSON.parse(JSON.stringify(dev)));
  const phones = plans.map((plan) => carriedByBucket(plan, { everySeconds: 5, withinSeconds: 5 }).steady);
  assert.ok(phones[0] === 20 && (phones[1] ?? 0) >= 10_000, `${phones}`);
  assert.match(
    textOf('docs/limits.md'),
    /4 requests a second carry\s20 phones\*\*\s+that ask every five seconds/,
  );
});

test('docs/limits.md has each tier of usage plans with its figures', () => {
  for (const tier of planTiers) {
    const { burst, ratePerSecond } = planOfTier(tier);
    const [row = ''] = rowsOf('docs/limits.md').filter((one) => one.startsWith(`| \`${tier}\` |`));
    const figures = [burst, ratePerSecond].map((figure) => figure.toLocaleString('en-US'));
    assert.match(row, new RegExp(`\\| ${figures[0]} at once, then ${figures[1]} a second`), tier);
  }
});

test('docs/limits.md has each priority with its queue and its floor', () => {
  for (const [name, { aheadMs, floor }] of Object.entries(priorities)) {
    const [row = ''] = rowsOf('docs/limits.md').filter((one) => one.startsWith(`| \`${name}\` |`));
    assert.ok(row.includes(`| ${aheadMs.toLocaleString('en-US')} ms |`), name);
    assert.ok(row.endsWith(floor ? `| ${100 * floor} % |` : '| |'), name);
  }
});

test('every JSON example is JSON', () => {
  for (const page of pages) for (const block of blocksOf(page, 'json')) assert.ok(JSON.parse(block), page);
});
