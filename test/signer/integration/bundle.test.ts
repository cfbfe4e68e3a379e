/** What a bundle for an app or the edge contains: its size, and what it must not contain. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'vitest';
import { bundle, root } from '../../support/bundle.ts';

const limitBytes = 1860;

/** Packages that each entry may bring. */
const entries = {
  './lib/signer/index.ts': [],
  './lib/verifier/index.ts': [],
  './lib/catalogue/index.ts': ['valibot'],
  './lib/client/index.ts': ['valibot'],
  './lib/access/index.ts': ['jose'],
  './lib/gateway/index.ts': ['valibot'],
  './lib/trade-events/index.ts': ['@bufbuild/protobuf', 'valibot'],
} as const;

/** How the messages' package asks whether it runs on Node; elsewhere it does not look further. */
const askedOfNode = /typeof process != "object" \|\| typeof process\.env != "object" \|\| process\.env\.\w+/;

const forbidden = /["'`](node:|@aws-|aws-|@smithy\/)|\bprocess\.|\bBuffer\b|\brequire\(|__dirname|aws-sdk/;

test(`createSigner alone is at most ${limitBytes} bytes, minified and zipped`, async () => {
  const { bytes } = await bundle("export { createSigner } from './lib/signer/index.ts'", { minify: true });
  const zipped = gzipSync(bytes, { level: 9 }).length;
  assert.ok(zipped <= limitBytes, `${zipped} bytes`);
});

test('all refusals are in that bundle', async () => {
  const { text } = await bundle("export { createSigner } from './lib/signer/index.ts'", { minify: true });
  for (const code of [
    'invalid_credentials',
    'invalid_url',
    'path_not_plain',
    'invalid_method',
    'invalid_query',
    'invalid_body',
    'lone_surrogate',
    'invalid_nonce_or_time',
  ])
    assert.ok(text.includes(code), code);
});

for (const [entry, allowed] of Object.entries(entries))
  test(`${entry} brings ${allowed.length > 0 ? `only ${allowed.join(', ')}` : 'no package'}`, async () => {
    assert.ok(existsSync(join(root, entry)));
    // A Node module is an error of its own here: platform neutral resolves none.
    const { text, meta } = await bundle(`export * from '${entry}'`, { mainFields: ['module', 'main'] });
    const outside = Object.keys(meta.inputs).filter((input) => !/^(lib\/|<stdin>$)/.test(input));
    for (const input of outside)
      assert.ok(
        allowed.some((name) => input.startsWith(`node_modules/${name}/`)),
        input,
      );
    const external = Object.values(meta.inputs).flatMap(({ imports }) =>
      imports.filter((one) => one.external),
    );
    assert.deepEqual(external, []);
    assert.doesNotMatch(text.replace(askedOfNode, ''), forbidden);
  });

test('the gate closes: a Node or an AWS import does not pass', async () => {
  for (const name of ['node:crypto', 'crypto', '@aws-sdk/client-secrets-manager'])
    await assert.rejects(async () => {
      const { text, meta } = await bundle(`export * from './lib/signer/index.ts'; export * from '${name}'`);
      assert.doesNotMatch(text, forbidden);
      assert.ok(Object.keys(meta.inputs).every((input) => /^(lib\/|<stdin>$)/.test(input)));
    }, name);
});
