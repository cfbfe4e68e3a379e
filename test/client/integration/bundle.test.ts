/**
 * What an app bundles with the client, from the package as it is built: one operation does not bring the others, a
 * client behind a gateway brings no signer, and no API is used that a supported runtime lacks.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { markCalls, markFolder } from '../../../infra/package/pure-calls.ts';
import { operations } from '../../../lib/catalogue/index.ts';
import { bundle, root } from '../../support/bundle.ts';
import { each } from '../../support/each.ts';

/** Bytes, minified and zipped. */
const limits = { one: 9_960, whole: 34_610 };

// Below the root, whose package.json declares that no module has side effects.
mkdirSync(join(import.meta.dirname, '../.build'), { recursive: true });
const built = mkdtempSync(join(import.meta.dirname, '../.build/package-'));
afterAll(() => rmSync(built, { recursive: true }));
beforeAll(() => {
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json', '--outDir', built], {
    cwd: root,
  });
  markFolder(join(built, 'lib/catalogue'));
});

const folder = built.slice(root.length + 1);
const bundled = (code: string, more = {}) =>
  bundle(code.replaceAll('countersign', `./${folder}/lib`), {
    minify: true,
    mainFields: ['module', 'main'],
    ...more,
  });

const clientOf = (what: string, argument = `{ ${what} }`) => `
  import { createClient, viaGateway } from 'countersign/client/index.js';
  import ${what === 'catalogue' ? '* as catalogue' : `{ ${what} }`} from 'countersign/catalogue/index.js';
  export const client = createClient(${argument}, viaGateway({ baseUrl: 'https://example.com' }));`;

const pathsIn = (text: string) =>
  operations.filter(({ path, aliases }) => [path, ...aliases].some((one) => text.includes(`"${one}"`)));

describe('the client as an app has it', () => {
  test(`with one operation: at most ${limits.one} bytes`, async () => {
    const { text, bytes } = await bundled(clientOf('getStockSnapshots'));
    const zipped = gzipSync(bytes, { level: 9 }).length;
    console.log(`client with one operation: ${bytes.length} bytes, zipped ${zipped}`);
    assert.ok(zipped <= limits.one, `${zipped} bytes`);
    assert.deepEqual(each(pathsIn(text), 'id'), ['getStockSnapshots']);
  });

  test(`with all of them: at most ${limits.whole} bytes`, async () => {
    const { text, bytes } = await bundled(clientOf('catalogue', 'catalogue'));
    const zipped = gzipSync(bytes, { level: 9 }).length;
    console.log(`client with ${operations.length} operations: ${bytes.length} bytes, zipped ${zipped}`);
    assert.ok(zipped <= limits.whole, `${zipped} bytes`);
    assert.equal(pathsIn(text).length, operations.length);
  });

  test('no operation brings another', async () => {
    for (const { id } of operations.filter(({ legacyOf }) => !legacyOf)) {
      const { text } = await bundled(`export { ${id} } from 'countersign/catalogue/index.js'`);
      assert.deepEqual(each(pathsIn(text), 'id'), [id]);
    }
  });

  test('behind a gateway there is no signer, and no API that React Native lacks', async () => {
    const { text, meta } = await bundled(clientOf('getStockSnapshots'), { minify: false });
    const [output] = Object.values(meta.outputs);
    // The base of the client's errors stands beside the signer's own, which are left out.
    for (const [input, { bytesInOutput }] of Object.entries(output?.inputs ?? {}))
      if (/lib\/signer\/errors\.js$/.test(input)) assert.ok(bytesInOutput < 250, `${bytesInOutput} bytes`);
      else if (/lib\/(signer|gateway|verifier)\//.test(input)) assert.equal(bytesInOutput, 0, input);
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    assert.doesNotMatch(
      code,
      /\bURL(SearchParams)?\b|AbortSignal|TextDecoder|TextEncoder|crypto|structuredClone|DOMException|x-signature|SignError/,
    );
  });

  test('a helper brings nothing else', async () => {
    const { text } = await bundled("export { plainDecimal } from 'countersign/client/index.js'");
    assert.ok(text.length < 1000, `${text.length} bytes`);
  });

  test('the marked catalogue is the same catalogue', async () => {
    const { operations: marked } = (await import(join(built, 'lib/catalogue/index.js'))) as {
      operations: unknown;
    };
    assert.equal(JSON.stringify(marked), JSON.stringify(operations));
  });
});

test('marks stand at calls for a value, nowhere else', () => {
  const code = [
    "const a = f('g(1)', v.pipe(x, (y) => h(y)));",
    'const b = { c: d(), e: [i()], r: /k(1)/, s: `l(1)`, t: (1) / u(2) / w };',
    '// a comment that ends with (',
    'n(); function o(p) { return q(p) + 1; }',
    'const z = /* one */ // two\n  y();',
  ].join('\n');
  assert.deepEqual(
    [...markCalls(code).matchAll(/\/\* @__PURE__ \*\/ ([\w.]+)/g)].map(([, name]) => name),
    ['f', 'v.pipe', 'h', 'd', 'i', 'y'],
  );
  assert.equal(markCalls(code).replaceAll('/* @__PURE__ */ ', ''), code);
});
