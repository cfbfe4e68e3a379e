/**
 * Which folder may import which. The library knows nothing of what is built on it, and the simulator nothing
 * of the signer that it judges.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'vitest';
import { root } from './support/bundle.ts';

interface Rule {
  readonly from: RegExp;
  readonly never: RegExp;
}

const rules: readonly Rule[] = [
  { from: /^lib\//, never: /^(functions|infra|test)\// },
  { from: /^lib\//, never: /^(node:|@aws-|aws-|@smithy\/)/ },
  // No package at all: a bare name has no dot at its start, an own file a folder.
  { from: /^lib\/(signer|verifier)\//, never: /^(?!lib\/(signer|verifier)\/)/ },
  { from: /^functions\//, never: /^(infra|test)\// },
  { from: /^infra\//, never: /^test\// },
];

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (/^(node_modules|\..*|cdk\.out)$/.test(entry.name)) continue;
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* sources(path);
    else if (/\.[cm]?[jt]sx?$/.test(entry.name)) yield path;
  }
}

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
    [...sources(folder)].map((file) => [file, importsOf(file)] as const),
  ),
);

test('the scan finds what there is', () => {
  const found = (file: string) => importsOfFile.get(file) ?? [];
  assert.ok(found('lib/verifier/verifier.ts').includes('lib/signer/canonical.ts'));
  assert.ok(found('infra/simulator/canonical.ts').includes('node:crypto'));
  assert.ok(found('lib/index.ts').includes('lib/signer/index.ts'));
  assert.ok(found('test/direction.test.ts').includes('test/support/bundle.ts'));
});

for (const { from, never } of rules)
  test(`${from.source} never imports ${never.source}`, () => {
    const files = [...importsOfFile].filter(([file]) => from.test(file));
    assert.ok(files.length > 0);
    for (const [file, imports] of files)
      for (const name of imports) assert.ok(!never.test(name), `${file} imports ${name}`);
  });

test('the simulator reaches neither signer, verifier nor gateway, by no detour', () => {
  const reached = new Map<string, string>();
  const visit = (file: string) => {
    for (const name of importsOfFile.get(file) ?? [])
      if (!reached.has(name)) {
        reached.set(name, file);
        visit(name);
      }
  };
  for (const file of sources('infra/simulator')) visit(file);
  assert.ok(reached.has('lib/catalogue/index.ts'));
  for (const [name, file] of reached)
    assert.doesNotMatch(name, /^lib\/(?!catalogue\/)|^(functions|test)\//, `${file} imports ${name}`);
});
