/** What the recipes of CONTRIBUTING.md name is there: files, and names in the code. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'vitest';
import { root } from '../support/bundle.ts';
import { sourcesIn } from '../support/sources.ts';

const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').replaceAll(/```.*?```/gs, '');
const sources = ['lib', 'functions', 'infra', 'test'].flatMap((folder) => [...sourcesIn(folder)]);
const named = [...new Set([...page.matchAll(/`([^`\s]+)`/g)].map(([, text = '']) => text))];

test('files that the page names are there', () => {
  const names = new Set(sources.map((file) => basename(file)));
  const isThere = (path: string) => (path.includes('/') ? existsSync(join(root, path)) : names.has(path));
  const paths = named.filter((text) =>
    /^[\w/.-]+\.(?:ts|json|md)$|^(?:docs|functions|infra|lib|test)\/[\w/.-]+$/.test(text),
  );
  assert.ok(paths.length > 40);
  assert.deepEqual(
    paths.filter((path) => !isThere(path) && !existsSync(join(root, path))),
    [],
  );
});

test('names that the page tells to look for are in the code', () => {
  const words = new Set(
    sources.flatMap((file) => readFileSync(join(root, file), 'utf8').match(/\w+/g) ?? []),
  );
  const names = named.filter((text) => /^[a-z]+[A-Z]\w*$|^[A-Z]\w+$/.test(text));
  assert.ok(names.length > 10);
  assert.deepEqual(
    names.filter((name) => !words.has(name)),
    [],
  );
});
