/**
 * Which folder may import which, and no circle. The library knows nothing of what is built on it, and the
 * simulator nothing of the signer that it judges.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'vitest';
import { root } from './support/bundle.ts';
import { sourcesIn } from './support/sources.ts';

interface Rule {
  readonly from: Pick<RegExp, 'source' | 'test'>;
  readonly never: RegExp;
}

const orders = /^lib\/(orders|guard-rails|trade-events|listener|gateway\/orders)\//;
const more = /^lib\/(live|lookups|market-stream|events)\//;
const roots = /^lib\/gateway\/(index|gateway)\.ts$/;
const core: Rule['from'] = {
  source: 'core',
  test: (file) => file.startsWith('lib/') && ![orders, more, roots].some((tier) => tier.test(file)),
};

const rules: readonly Rule[] = [
  { from: /^lib\//, never: /^(functions|infra|test)\// },
  { from: /^lib\//, never: /^(node:|@aws-|aws-|@smithy\/)/ },
  // No package at all: a bare name has no dot at its start, an own file a folder.
  { from: /^lib\/(signer|verifier)\//, never: /^(?!lib\/(signer|verifier)\/)/ },
  { from: /^lib\/kernel\//, never: /^lib\/(?!kernel\/)/ },
  // Tiers: the core works without the rest, and knows orders by their port alone; orders need nothing of what is more. The
  // gateway's entry and `createGateway` put tiers together.
  { from: core, never: orders },
  { from: core, never: more },
  { from: orders, never: more },
  { from: /^functions\//, never: /^(infra|test)\// },
  { from: /^infra\//, never: /^test\// },
];

/** Static, dynamic and type imports and re-exports; own files by their path from the root. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*(['"`])([^'"`\n]+)\1/g);
  return [...found].map(([, , name = '']) =>
    name.startsWith('.') ? relative(root, join(root, dirname(file), name)) : name,
  );
}

const importsOfFile = new Map(
  ['lib', 'functions', 'infra', 'test'].flatMap((folder) =>
    [...sourcesIn(folder)].map((file) => [file, importsOf(file)] as const),
  ),
);

test('the scan finds what there is', () => {
  const found = (file: string) => importsOfFile.get(file) ?? [];
  assert.ok(found('lib/verifier/verifier.ts').includes('lib/signer/canonical.ts'));
  assert.ok(found('infra/simulator/canonical.ts').includes('node:crypto'));
  assert.ok(found('test/direction.test.ts').includes('test/support/bundle.ts'));
});

for (const { from, never } of rules)
  test(`${from.source} never imports ${never.source}`, () => {
    const files = [...importsOfFile].filter(([file]) => from.test(file));
    assert.ok(files.length > 0);
    for (const [file, imports] of files)
      for (const name of imports) assert.ok(!never.test(name), `${file} imports ${name}`);
  });

test('the simulator reaches neither signer, verifier, gateway, the AWS SDK nor the CDK, by no detour', () => {
  const reached = new Map<string, string>();
  const visit = (file: string) => {
    for (const name of importsOfFile.get(file) ?? [])
      if (!reached.has(name)) {
        reached.set(name, file);
        visit(name);
      }
  };
  for (const file of sourcesIn('infra/simulator')) visit(file);
  assert.ok(reached.has('lib/catalogue/index.ts'));
  for (const [name, file] of reached)
    assert.doesNotMatch(
      name,
      /^lib\/(?!catalogue\/)|^(functions|test)\/|^@?aws-|^constructs/,
      `${file} imports ${name}`,
    );
});

/**
 * The files and folders of one folder and who among them imports whom: an import from `a/b/c.ts` to `a/d/e.ts` is one
 * from `b` to `d` in `a`.
 */
function importsByFolder(): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> {
  const folders = new Map<string, Map<string, Set<string>>>();
  for (const [file, imports] of importsOfFile)
    for (const imported of imports) {
      if (!importsOfFile.has(imported)) continue;
      const [from, to] = [file.split('/'), imported.split('/')];
      const common = from.findIndex((part, index) => part !== to[index]);
      const [importer, target] = [from[common], to[common]];
      if (importer === undefined || target === undefined) continue;
      const folder = from.slice(0, common).join('/');
      const members = folders.get(folder) ?? new Map<string, Set<string>>();
      members.set(importer, (members.get(importer) ?? new Set()).add(target));
      folders.set(folder, members);
    }
  return folders;
}

/** A way from a member back to itself, if there is one. */
function circleIn(members: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (member: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(member)) return [...way.slice(way.indexOf(member)), member];
    if (done.has(member)) return undefined;
    for (const next of members.get(member) ?? []) {
      const circle = visit(next, [...way, member]);
      if (circle) return circle;
    }
    done.add(member);
    return undefined;
  };
  for (const member of members.keys()) {
    const circle = visit(member, []);
    if (circle) return circle;
  }
  return undefined;
}

test('a circle is found', () => {
  const members = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c', 'd'])],
    ['d', new Set(['b'])],
  ]);
  assert.deepEqual(circleIn(members), ['b', 'd', 'b']);
  assert.equal(circleIn(new Map([['a', new Set(['b'])]])), undefined);
});

describe('no files and no folders import each other in a circle', () => {
  for (const [folder, members] of importsByFolder())
    test(folder === '' ? 'the top folders' : folder, () => {
      assert.equal(circleIn(members)?.join(' → '), undefined);
    });
});
