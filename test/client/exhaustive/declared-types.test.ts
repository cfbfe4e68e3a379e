/**
 * The declarations that the build makes of the catalogue's entries: they say the types that the client derives from
 * the entries, and the same programs compile.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { declaredOperations } from '../../../infra/package/entry-declarations.ts';
import { glossary } from '../../../lib/catalogue/glossary.ts';
import { root } from '../../support/bundle.ts';
import { buildPackage } from '../../support/package.ts';

mkdirSync(join(import.meta.dirname, '../.build'), { recursive: true });
const folder = mkdtempSync(join(import.meta.dirname, '../.build/declared-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** What the compiler says of both comparisons. */
let said: readonly string[];
beforeAll(async () => {
  await buildPackage(join(folder, 'node_modules/countersign'));
  said = compile({ same: comparison(sameTypes), different: comparison(otherTypes) });
});

/** What the compiler says of files in the folder, together: most of its time goes into what they import. */
function compile(files: Readonly<Record<string, string>>): readonly string[] {
  const include = Object.keys(files).map((name) => `${name}.ts`);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.ts`), text);
  const config = { extends: '../../../../tsconfig.json', include, exclude: [] };
  writeFileSync(join(folder, 'all.json'), JSON.stringify(config));
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'all.json'], { cwd: folder });
    return [];
  } catch (error) {
    return String((error as { stdout: Buffer }).stdout).match(/^\S.*/gm) ?? [];
  }
}

/** All but what is said of this file. */
const besides = (name: string) => said.filter((line) => !line.startsWith(`${name}.ts(`));

const comparison = (body: string) => `
import * as declared from 'countersign/catalogue';
import type { BodyOf, ItemOf, Method, OptionsOf, QueryOf, ResultOf } from './node_modules/countersign/dist/lib/client/types.ts';
import type * as derived from '../../../../lib/catalogue/index.ts';
import type * as source from '../../../../lib/client/types.ts';
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._: Same<A, B> extends true ? [] : ['these types differ']) => {};
/** Each can stand for the other. */
const alike = <A, B>(..._: [A, B] extends [B, A] ? [] : ['these types differ']) => {};
${body}`;

const sameTypes = declaredOperations
  .flatMap(({ id, anyQuery, paging, body }) => {
    const [one, other] = [`typeof declared.${id}`, `typeof derived.${id}`];
    return [
      `${anyQuery ? 'alike' : 'same'}<QueryOf<${one}>, source.QueryOf<${other}>>();`,
      `same<ResultOf<${one}>, source.ResultOf<${other}>>();`,
      `alike<OptionsOf<${one}>, source.OptionsOf<${other}>>();`,
      // What is joined of two types is the same in another order.
      ...(body ? [`alike<BodyOf<${one}>, source.BodyOf<${other}>>();`] : []),
      ...(paging ? [`same<ItemOf<${one}>, source.ItemOf<${other}>>();`] : []),
      `alike<(typeof declared.${id})['aliases'], (typeof derived.${id})['aliases']>();`,
      ...[0, 1].map(
        (at) =>
          `alike<NonNullable<Parameters<Method<${one}>>[${at}]>, NonNullable<source.Arguments<${other}>[${at}]>>();`,
      ),
      `same<Parameters<Method<${one}>>['length'], source.Arguments<${other}>['length']>();`,
    ];
  })
  .join('\n');
const otherTypes = 'same<ResultOf<typeof declared.getOrder>, source.ResultOf<typeof derived.placeOrder>>();';
const program = readFileSync(join(import.meta.dirname, '../integration/types.test.ts'), 'utf8').replaceAll(
  /'(?:\.\.\/){3}lib\/(\w+)\/index\.ts'/g,
  "'countersign/$1'",
);

describe('the declared types are the derived ones', () => {
  test('of every operation: parameters, body, answer, records', () => {
    assert.deepEqual(besides('different'), []);
  });

  test('which the comparison would notice', () => {
    assert.match(besides('same').join(), /^different\.ts\S* error TS2554/);
  });

  test('and a program compiles with them as it does with the source', () => {
    assert.match(program, /'countersign\/client'/);
    // Alone: beside the comparisons, it could take from the source what the package lacks.
    assert.deepEqual(compile({ program }), []);
  });
});

test('no word of the glossary is left over', () => {
  const names = new Set(
    declaredOperations.flatMap(({ body, response }) =>
      [body, response].flatMap((schema) => (schema ? namesIn(schema) : [])),
    ),
  );
  assert.deepEqual(
    Object.keys(glossary).filter((name) => !names.has(name)),
    [],
  );
});

function namesIn(schema: unknown, seen = new Set<unknown>()): string[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return [];
  seen.add(schema);
  const entries = 'entries' in schema ? Object.keys(schema.entries as object) : [];
  return [...entries, ...Object.values(schema).flatMap((inner) => namesIn(inner, seen))];
}
