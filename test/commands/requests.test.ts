/** `sign`, `explain` and `verify`: what one signs another takes, and nothing of it shows the secret. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test, vi } from 'vitest';
import { root } from '../support/bundle.ts';
import { run } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-requests-'));
const url = 'https://api.example.com/openapi/market-data/stock/snapshot?symbols=AAPL&category=US_STOCK';
const keys = { APP_KEY: 'canary-key', APP_SECRET: 'canary-secret-4711' };

const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

beforeAll(() => {
  for (const [name, text] of Object.entries(keys)) vi.stubEnv(name, text);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test('verify takes what sign prints, and names what is wrong with anything else', async () => {
  const body = file('body.json', '{"a":1.10}\n');
  const { out, code } = await run(['sign', url.replace(/\?.*/, ''), '--body', body, '--json']);
  assert.equal(code, 0);
  const signed = JSON.parse(out);
  assert.deepEqual([signed.method, signed.body], ['POST', '{"a":1.10}\n']);
  const { headers } = signed;
  const other = file('other.json', JSON.stringify({ app_key: 'canary-key', app_secret: 'another' }));
  for (const [request, more, verdict] of [
    [signed, [], 'ok'],
    [{ ...signed, body: '{"a":1.1}\n' }, [], 'signature_mismatch'],
    [{ ...signed, url: `${signed.url}?b=1` }, [], 'signature_mismatch'],
    [{ ...signed, headers: { ...headers, 'x-timestamp': '2026-01-01T00:00:00Z' } }, [], 'clock_skew'],
    [{ ...signed, headers: { ...headers, 'x-app-key': 'stranger' } }, [], 'unknown_app_key'],
    [{ ...signed, headers: {} }, [], 'missing_header'],
    [signed, ['--credentials', other], 'signature_mismatch'],
  ] as const) {
    const words = ['verify', '--request', file('request.json', JSON.stringify(request)), ...more];
    const asJson = await run([...words, '--json']);
    const inWords = await run(words);
    const isRight = verdict === 'ok';
    assert.deepEqual([asJson.code, inWords.code], isRight ? [0, 0] : [1, 1], verdict);
    assert.equal(JSON.parse(asJson.out).code ?? 'ok', verdict);
    assert.match(inWords.out, isRight ? /^The signature is that of / : new RegExp(`^Refused: ${verdict}\\.`));
  }
});

test('explain shows every step, where another text differs, and never the secret', async () => {
  const sent = ['--nonce', 'n', '--timestamp', '2026-11-17T09:30:00Z'];
  const steps = JSON.parse((await run(['explain', url, ...sent, '--json'])).out);
  assert.equal(steps.path, '/openapi/market-data/stock/snapshot');
  const { out } = await run(['explain', url, ...sent]);
  for (const step of [steps.str1, steps.str3, steps.encodedString]) assert.ok(out.includes(step));
  const theirs = file('theirs.txt', `${steps.encodedString.replace('AAPL', 'MSFT')}\n`);
  const compared = await run(['explain', url, ...sent, '--compare', theirs]);
  assert.match(compared.out, /differs at character \d+\n {2}ours .*AAPL.*\n {2}theirs .*MSFT/);
  assert.ok(!(out + compared.out).includes(keys.APP_SECRET));
  vi.stubEnv('APP_SECRET', undefined);
  assert.equal((await run(['explain', url])).code, 0);
  vi.stubEnv('APP_SECRET', keys.APP_SECRET);
});

test('vectors: all of ours, and one that is wrong by name', async () => {
  const vectors = join(root, 'test/vectors/signature-vectors.json');
  const all = JSON.parse(readFileSync(vectors, 'utf8')) as { readonly name: string; signature: string }[];
  const right = await run(['verify', '--vectors', vectors]);
  assert.deepEqual(
    [right.code, right.out.split(' ').slice(0, 3).join(' ')],
    [0, `${all.length} of ${all.length}`],
  );
  const wrong = file('wrong.json', JSON.stringify([{ ...all[0], signature: all[1]?.signature }, all[1]]));
  const { code, out } = await run(['verify', '--vectors', wrong]);
  assert.deepEqual([code, out.split('\n')[1]], [1, `Another signature: ${all[0]?.name}`]);
  assert.deepEqual(JSON.parse((await run(['verify', '--vectors', wrong, '--json'])).out).ok, false);
  assert.equal((await run(['verify', '--vectors', file('none.json', '[]')])).code, 1);
});

test('what cannot be signed or read is one line, without the secret', async () => {
  for (const [words, line] of [
    [['sign', 'https://a.example/a%20b'], /^This request cannot be signed: path_not_plain/],
    [['sign', 'http://a.example/a'], /^This request cannot be signed: invalid_url/],
    [['sign', url, '--body', join(folder, 'nowhere')], /^A file cannot be read: ENOENT\.\n$/],
    [['sign', url, '--credentials', join(folder, 'nowhere')], /^A file cannot be read: ENOENT\.\n$/],
    [['sign', url, '--credentials', file('text', 'canary-secret-4711')], /^--credentials must be JSON like /],
    [['sign', url, '--credentials', file('half', '{"app_key":"k"}')], /^APP_SECRET is not set: /],
    [
      ['sign', url, '--credentials', file('odd', '{"app_key":"k y","app_secret":"canary-secret-4711"}')],
      /^APP_KEY must be /,
    ],
    [['verify', '--request', file('broken', '[1')], /^The file must be JSON like /],
    [['verify', '--request', file('no-url', '{"url":1}')], /^--request must be JSON like /],
    [
      ['verify', '--vectors', file('no-vectors', '[{"name":"one"}]')],
      /^--vectors must be JSON like .*: one is not\.\n$/,
    ],
  ] as const) {
    const { code, out, err } = await run(words);
    assert.deepEqual([code, out], [1, ''], `${words}`);
    assert.match(err, line);
    assert.ok(!err.includes('4711') && err.indexOf('\n') === err.length - 1, err);
  }
});
