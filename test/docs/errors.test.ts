/** docs/errors.md has every code of the gateway. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { refusalKinds } from '../../lib/gateway/index.ts';
import type { SignError } from '../../lib/signer/index.ts';
import { ask, coreFor } from '../support/core.ts';
import { blocksOf, codesIn, rowsOf, textOf } from './pages.ts';

const page = 'docs/errors.md';
const rows = rowsOf(page).filter((row) => /^\| \d{3}/.test(row));

test('it has every error code in one row with its status, and no other code', () => {
  for (const [code, { status }] of Object.entries(refusalKinds)) {
    const own = rows.filter((row) => (row.split('|')[2] ?? '').includes(`\`${code}\``));
    assert.equal(own.length, 1, `${code} stands in ${own.length} rows`);
    assert.match(own[0] ?? '', new RegExp(`^\\|[^|]*\\b${status}\\b`), code);
  }
  for (const row of rows)
    for (const code of codesIn(row.split('|')[2] ?? ''))
      assert.ok(Object.hasOwn(refusalKinds, code), `${code} is no code`);
});

test('it has a row of what to do for each', () => {
  for (const row of rows) assert.ok(row.split('|')[4]?.trim(), row);
});

test('its examples are what the gateway answers, to a client that names no form and to one that does', async (t) => {
  const { gateway } = await coreFor(t);
  const anyId = (json: string) => ({ ...JSON.parse(json), request_id: '' });
  const [, named] = /`accept: ([^`]+)`/.exec(textOf(page)) ?? [];
  const accepts = ['*/*', named ?? assert.fail('no accept')];
  const shown = blocksOf(page, 'json');
  assert.equal(shown.length, accepts.length);
  for (const [index, accept] of accepts.entries()) {
    const target = '/openapi/market-data/stock/snapshot?symbols=AAPL&category=US';
    const { text } = await ask(gateway, target, { headers: { accept } });
    assert.deepEqual(anyId(shown[index] ?? ''), anyId(text));
  }
});

test('docs/library.md has every code of the signer', () => {
  const codes: readonly SignError['code'][] = [
    'invalid_credentials',
    'invalid_url',
    'path_not_plain',
    'invalid_method',
    'invalid_body',
    'lone_surrogate',
    'invalid_nonce_or_time',
  ];
  for (const code of codes) assert.ok(textOf('docs/library.md').includes(`\`${code}\``), code);
});
