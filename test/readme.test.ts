/** What the README says that a command can check. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { describe, test } from 'vitest';
import { carriedByBucket } from '../infra/commands/capacity.ts';
import { startLocalRun } from '../infra/local/local-run.ts';
import { readSettings } from '../infra/local/settings.ts';
import { welcome } from '../infra/local/welcome.ts';
import { startSimulator } from '../infra/simulator/index.ts';
import type { CountersignConfig } from '../infra/stack/config.ts';
import { resolveConfig } from '../infra/stack/resolve-config.ts';
import { groups, planOfTier, planTiers } from '../lib/catalogue/index.ts';
import { refusalKinds } from '../lib/gateway/index.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);
const rows = readme.split('\n').filter((line) => line.startsWith('|'));

describe('the README', () => {
  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script);
    assert.ok(named.length > 5);
    for (const script of named) assert.ok(scripts[script], `npm run ${script}`);
  });

  test('has every error code in one row with its status, and no other code', () => {
    for (const [code, { status }] of Object.entries(refusalKinds)) {
      const inRows = rows.filter((row) => row.includes(`\`${code}\``));
      assert.equal(inRows.length, 1, `${code} stands in ${inRows.length} rows`);
      assert.match(inRows[0] ?? '', new RegExp(`^\\|[^|]*\\b${status}\\b`), code);
    }
    for (const row of rows.filter((line) => /^\| \d{3}/.test(line)))
      for (const [, code = ''] of (row.split('|')[2] ?? '').matchAll(/`(\w+)`/g))
        assert.ok(Object.hasOwn(refusalKinds, code), `${code} is no code`);
  });

  test('has every group with its exposure', () => {
    for (const [group, { exposure }] of Object.entries(groups))
      assert.ok(
        rows.some((row) => row.includes(`\`${group}\``) && row.includes(`| ${exposure}`)),
        `${group} is ${exposure}`,
      );
  });

  test('has each tier of usage plans with its figures', () => {
    for (const tier of planTiers) {
      const { burst, ratePerSecond } = planOfTier(tier);
      const [row = ''] = rows.filter((one) => one.startsWith(`| \`${tier}\` |`));
      const figures = [burst, ratePerSecond].map((figure) => figure.toLocaleString('en-US'));
      assert.match(row, new RegExp(`\\| ${figures[0]} at once, then ${figures[1]} a second`), tier);
    }
  });

  test('shows a stage that can be deployed, and what the plans carry in phones', () => {
    const [shown = ''] = blocks('js');
    const { dev } = runInNewContext(`({ ${shown} })`) as { dev: CountersignConfig };
    const { plans } = resolveConfig(JSON.parse(JSON.stringify(dev)));
    const phones = plans.map((plan) => carriedByBucket(plan, { everySeconds: 5, withinSeconds: 5 }).steady);
    assert.ok(phones[0] === 20 && (phones[1] ?? 0) >= 10_000, `${phones}`);
    assert.match(readme, /4 requests a second carry\s20 phones that ask every five seconds/);
  });

  test('shows what npm start prints', async () => {
    const settings = { ...readSettings({ PORT: '1' }), port: 0, upstream: { simulatorPort: 0 } };
    const run = await startLocalRun(settings);
    try {
      const printed = welcome(settings, run)
        .replaceAll(run.url, 'http://127.0.0.1:8787')
        .replaceAll(run.upstreamUrl, 'http://127.0.0.1:8788');
      const anyKey = (text: string) => text.replaceAll(/\b[0-9a-f]{40}\b|\b[0-9a-f]{8}…/g, 'KEY');
      const [shown = ''] = blocks('').filter((block) => block.startsWith('Countersign on'));
      assert.ok(anyKey(printed).startsWith(anyKey(shown).trimEnd()), anyKey(printed));
    } finally {
      await run.close();
    }
  });

  test('has TypeScript that runs against the simulator', async () => {
    const credentials = { appKey: 'readme-key', appSecret: 'readme-secret' };
    const simulator = await startSimulator(credentials);
    const folder = join(import.meta.dirname, '.build');
    mkdirSync(folder, { recursive: true });
    try {
      const imports = new Set<string>();
      const body = blocks('ts')
        .join('\n')
        .replaceAll(/^import .*$/gm, (line) => {
          imports.add(line.replace(/'countersign\/(\w+)'/, "'../../lib/$1/index.ts'"));
          return '';
        });
      const file = join(folder, 'readme.ts');
      writeFileSync(
        file,
        `${[...imports].join('\n')}
export async function run({ appKey, appSecret, baseUrl, yourStringToSign, nonce, timestamp }, console) {
${body}
return { signed: { method, url, headers, body }, response };
}`,
      );
      const lines: string[] = [];
      const { run } = (await import(pathToFileURL(file).href)) as {
        run(values: object, console: object): Promise<{ response: Response; signed: { url: string } }>;
      };
      const { response, signed } = await run(
        {
          ...credentials,
          baseUrl: simulator.url,
          yourStringToSign: '/somewhere/else',
          nonce: 'n',
          timestamp: '2026-11-17T09:30:00Z',
        },
        { log: (line: string) => lines.push(line) },
      );
      assert.equal(response.status, 200);
      assert.match(signed.url, /symbols=AAPL%2CMSFT/);
      assert.match(lines.join('\n'), /differs at character 1/);
    } finally {
      await simulator.close();
    }
  });
});
