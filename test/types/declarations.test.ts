/**
 * The built package in TypeScript's own hands: hover text for every name that an editor shows, and no complaint from the
 * lowest version to the newest, in every way to find modules, without `skipLibCheck`.
 */

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { entries } from '../../infra/package/entries.ts';
import { declaredOperations } from '../../infra/package/entry-declarations.ts';
import { root } from '../support/bundle.ts';
import { orSkip } from '../support/missing.ts';
import { buildPackage } from '../support/package.ts';

const here = import.meta.dirname;
const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as {
  dependencies: Readonly<Record<string, string>>;
};
const versions = Object.keys(dependencies).filter((name) => name.startsWith('typescript-'));
const isMissing = !versions.every((name) => existsSync(join(here, 'node_modules', name)));
const options = orSkip(
  isMissing ? 'versions of TypeScript are missing: npm ci --prefix test/types' : undefined,
);

mkdirSync(join(here, '.build'), { recursive: true });
const folder = mkdtempSync(join(here, '.build/user-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
  if (isMissing) return;
  await buildPackage(join(folder, 'node_modules/countersign'));
  symlinkSync(join(root, 'node_modules/valibot'), join(folder, 'node_modules/valibot'));
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});

interface Share {
  readonly total: number;
  readonly without: readonly string[];
}

describe('hovering', options, () => {
  let hovers: Readonly<Record<'operations' | 'parameters' | 'members', Share>> & {
    readonly shown: Readonly<Record<string, string>>;
  };
  beforeAll(() => {
    const args = [join(here, 'hover.mjs'), folder, ...declaredOperations.map(({ id }) => id)];
    hovers = JSON.parse(execFileSync(process.execPath, args, { maxBuffer: 2 ** 26, encoding: 'utf8' }));
  });

  for (const [what, least] of [
    // Of a client of single operations, and of one of the whole catalogue.
    ['operations', 2 * declaredOperations.length],
    ['parameters', 300],
    ['members', 800],
  ] as const)
    test(`shows text for all ${what}`, () => {
      const { total, without } = hovers[what];
      console.log(`hover text: ${total - without.length} of ${total} ${what}`);
      assert.ok(total >= least, `${total} ${what}`);
      assert.deepEqual(without, []);
    });

  test('shows nothing of the schema library, nor of how types are derived', () => {
    for (const [name, text] of Object.entries(hovers.shown))
      assert.doesNotMatch(text, /Schema|Given|Got<|Open<|Flat<|Infer|Pipe|Declar|Either|Call<|~client/, name);
  });

  test('over a method shows what it takes and gives, by name', () => {
    assert.match(
      hovers.shown['some.getStockSnapshots'] ?? '',
      /\(input: GetStockSnapshotsQuery, options\?: CallOptions\) => Promise<GetStockSnapshotsItem\[\]>$/,
    );
  });
});

/** Those that need nothing of Node; `test/package` has the others. */
const modules = entries()
  .map(({ name }) => name.replace('.', 'countersign'))
  .filter((name) => !/\/(node|aws|cdk|simulator)$/.test(name));

/** All modules of the package, and a program like those in the documents. */
const program = `
${modules.map((name, at) => `import * as module${at} from '${name}';`).join('\n')}
import { createClient, direct, reported, viaGateway } from 'countersign/client';
import { getStockSnapshots, listOrderHistory, placeOrder } from 'countersign/catalogue';
import * as catalogue from 'countersign/catalogue';
import { createSigner } from 'countersign/signer';
import * as market from 'countersign/client/market-data';
import * as trading from 'countersign/client/orders';
import { follow } from 'countersign/client/live';
export const modules = [${modules.map((_, at) => `module${at}`).join(', ')}];
const few = createClient(
  { getStockSnapshots, placeOrder, listOrderHistory },
  viaGateway({ baseUrl: 'https://example.com', apiKey: 'key' }),
);
export async function main() {
  const signer = await createSigner({ appKey: 'key', appSecret: 'secret' });
  const all = createClient(catalogue, direct({ baseUrl: 'https://example.com', signer }));
  const [apple] = await few.getStockSnapshots({ symbols: ['AAPL'], category: 'US_STOCK' });
  const some = market.createClient({ ...market, ...trading }, viaGateway({ baseUrl: 'https://example.com', apiKey: 'key' }));
  const [same] = await some.getStockSnapshots({ symbols: ['AAPL'], category: 'US_STOCK' });
  void [follow, some.placeOrder, same?.price];
  // @ts-expect-error another group's operation
  some.listAccounts();
  const [account] = await all.listAccounts();
  for await (const { orders } of few.listOrderHistory.items({ account_id: account?.account_id ?? '' }))
    reported(orders[0]?.filled_price);
  // @ts-expect-error a price is text
  const price: number | undefined = apple?.price;
  return price;
}
`;

/** `node10` finds no \`exports\`, so that package.json says the same once more. */
const ways = [
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
  ['esnext', 'node10'],
] as const;

type Way = (typeof ways)[number];

const compilerOptions = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
};

function configOf([module, moduleResolution]: Way): string {
  const path = join(folder, `${moduleResolution}.json`);
  const options = { ...compilerOptions, module, moduleResolution };
  writeFileSync(join(folder, 'program.ts'), program);
  writeFileSync(path, JSON.stringify({ compilerOptions: options, files: ['program.ts'] }));
  return path;
}

const execute = (...args: readonly string[]) => promisify(execFile)(process.execPath, args);

describe('compiling without skipLibCheck', options, () => {
  for (const version of versions) {
    // The lowest version in every way, as 7.0 no longer has each; the others in the one that looks the closest.
    const own = ways.filter(([, name]) => version === versions[0] || name === 'nodenext');
    let checked: Promise<{ readonly stdout: string }> | undefined;
    for (const way of own)
      test(`with ${version}, modules found as ${way[1]} does`, async () => {
        checked ??= execute(join(here, 'check.mjs'), version, ...own.map(configOf));
        const { files, said } = JSON.parse((await checked).stdout)[configOf(way)];
        assert.equal(said, '');
        assert.ok(files > 200, `${files} files`);
      });
  }

  test('with the project’s own, modules found as nodenext does', async () =>
    assert.equal(await saidByOwn(configOf(ways[1])), ''));

  test('with the declarations of Node alone, as a server has them', async () => {
    const path = join(folder, 'node-alone.json');
    const options = { ...compilerOptions, module: 'nodenext', lib: ['es2022'], types: ['node'] };
    writeFileSync(join(folder, 'node-alone.ts'), program);
    writeFileSync(path, JSON.stringify({ compilerOptions: options, files: ['node-alone.ts'] }));
    assert.equal(await saidByOwn(path), '');
  });
});

async function saidByOwn(config: string): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await execute(compiler, '-p', config).catch((error: { stdout: string }) => error);
  return stdout;
}

test('package.json says the same of its modules in both places', () => {
  const { exports, typesVersions } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, { types?: string }>>;
    typesVersions: Readonly<Record<'*', Readonly<Record<string, readonly string[]>>>>;
  };
  const said = Object.entries(exports).flatMap(([name, { types }]) =>
    types && name !== '.' ? [[name.slice(2), [types]]] : [],
  );
  assert.deepEqual(typesVersions['*'], Object.fromEntries(said));
});
