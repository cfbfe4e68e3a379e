/**
 * The built package's forms: CommonJS that any loader of scripts can read, groups of operations for bundlers that keep
 * whole modules, and entries whose loading touches nothing of a runtime.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction, createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entries, sourceOf } from '../../infra/package/entries.ts';
import { isClientError, type RefusedError } from '../../lib/client/index.ts';
import { bundle, root } from '../support/bundle.ts';
import { buildPackage } from '../support/package.ts';

mkdirSync(join(import.meta.dirname, '.build'), { recursive: true });
const home = mkdtempSync(join(import.meta.dirname, '.build/forms-'));
beforeAll(() => buildPackage(home));
afterAll(() => rmSync(home, { recursive: true }));

const commonJsEntries = entries().filter(({ name }) =>
  /^\.\/(signer|verifier|client|catalogue|events)$/.test(name),
);
const groupFiles = () =>
  readdirSync(join(home, 'dist/client')).filter((name) => name.endsWith('.cjs') && !name.startsWith('part-'));

type Loaded = Readonly<Record<string, unknown>>;

/** Loads scripts into a context that has the language's own names and nothing of a runtime, as no ES module could be. */
function loadBare(file: string, context = createContext({}), loaded = new Map<string, Loaded>()): Loaded {
  const known = loaded.get(file);
  if (known) return known;
  const module = { exports: {} as Loaded };
  loaded.set(file, module.exports);
  const resolve = createRequire(file).resolve;
  const code = readFileSync(file, 'utf8');
  const run = compileFunction(code, ['module', 'exports', 'require'], {
    parsingContext: context,
    filename: file,
  });
  run(module, module.exports, (name: string) => loadBare(resolve(name), context, loaded));
  loaded.set(file, module.exports);
  return module.exports;
}

describe('CommonJS, in a context without globals', () => {
  for (const { name, path } of commonJsEntries)
    test(`${name} has the names of the module`, async () => {
      const imported = (await import(pathToFileURL(join(home, `${path}.js`)).href)) as Loaded;
      const required = loadBare(join(home, `${path}.cjs`));
      assert.deepEqual(Object.keys(required).sort(), Object.keys(imported).sort());
    });

  test('groups of operations load, too', () => {
    const files = groupFiles();
    assert.ok(files.length > 8);
    for (const name of files)
      assert.ok(Object.keys(loadBare(join(home, 'dist/client', name))).length > 1, name);
  });
});

describe('loading touches no global', () => {
  for (const entry of entries())
    test(entry.name, async () => {
      const { text } = await bundle(`export * from './${sourceOf(entry)}'`, {
        format: 'iife',
        globalName: 'loaded',
        platform: 'node',
        packages: 'external',
        define: { 'import.meta.url': '"file:///package/dist/infra/stack/index.js"' },
      });
      const context = createContext({ require: createRequire(join(root, 'package.json')) });
      runInContext(`${text}; globalThis.names = Object.keys(loaded).length`, context);
      assert.ok((context as { names?: number }).names);
    });
});

test('an error of one form is recognised in the other by its code', async () => {
  const imported = (await import(pathToFileURL(join(home, 'dist/lib/client/index.js')).href)) as Loaded;
  const required = createRequire(import.meta.url)(join(home, 'dist/lib/client/index.cjs')) as Loaded;
  const group = createRequire(import.meta.url)(join(home, 'dist/client/orders.cjs')) as Loaded;
  for (const { RefusedError: Refused, isClientError: recognises } of [imported, required, group]) {
    const error = new (Refused as typeof RefusedError)(
      'placeOrder',
      { status: 429, code: 'rate_limited' },
      '',
    );
    for (const recognisesError of [isClientError, recognises as typeof isClientError])
      assert.ok(recognisesError(error));
    assert.equal(error.code, 'rate_limited');
  }
  assert.ok(!isClientError(Object.assign(new Error('no answer'), { kind: 'other' })));
});

describe('groups of operations', () => {
  /** All that a bundler without tree shaking keeps of an entry. */
  function filesOf(file: string, found = new Set<string>()): ReadonlySet<string> {
    if (found.has(file)) return found;
    found.add(file);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/\b(?:from|import) ?"(\.[^"]+)"/g))
      filesOf(join(dirname(file), name), found);
    return found;
  }
  const zipped = (...names: readonly string[]) => {
    const found = new Set<string>();
    for (const name of names) filesOf(join(home, `dist/client/${name}.js`), found);
    return gzipSync([...found].map((file) => readFileSync(file, 'utf8')).join('\n')).length;
  };

  test('are small although whole modules are kept', () => {
    const sizes = {
      quotes: zipped('market-data'),
      trading: zipped('market-data', 'orders'),
      live: zipped('market-data', 'live'),
    };
    console.log(`zipped, without tree shaking: ${JSON.stringify(sizes)}`);
    expect(sizes.quotes).toBeLessThanOrEqual(12_000);
    expect(sizes.trading).toBeLessThanOrEqual(14_500);
    expect(sizes.live).toBeLessThanOrEqual(14_500);
  });

  test('call as the whole client does, and refuse what the catalogue refuses', async () => {
    const { createClient, viaGateway, placeOrder, getOrder } = (await import(
      pathToFileURL(join(home, 'dist/client/orders.js')).href
    )) as typeof import('../../lib/client/index.ts') & typeof import('../../lib/catalogue/index.ts');
    const urls: string[] = [];
    const fetch = async (url: string | URL | Request) => {
      urls.push(`${url}`);
      return Response.json({ order_id: '1' });
    };
    const client = createClient(
      { placeOrder, getOrder },
      viaGateway({ baseUrl: 'https://gateway.example.com', apiKey: 'key', fetch }),
    );
    await client.getOrder({ account_id: 'A', client_order_id: 'order-0001' });
    assert.deepEqual(urls, [
      'https://gateway.example.com/trading/orders/get?account_id=A&client_order_id=order-0001',
    ]);
    await assert.rejects(
      client.placeOrder({ account_id: 'A', new_orders: [{ side: 'HOLD' }] } as never),
      (error) => isClientError(error) && error.kind === 'invalid_request' && /side/.test(error.message),
    );
  });
});

test('package.json names each CommonJS file for resolution without exports', () => {
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
    readonly 'react-native': Readonly<Record<string, string>>;
  };
  const files = [
    ...commonJsEntries.map(({ name, path }) => [name, `./${path}.cjs`]),
    ...groupFiles().map((file) => [`./client/${file.slice(0, -4)}`, `./dist/client/${file}`]),
  ];
  assert.deepEqual(manifest['react-native'], Object.fromEntries(files));
});
