/** The pages that people read, and what stands in them: blocks, commands, tables, links. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/bundle.ts';

export const docs: readonly string[] = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

export const pages: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...docs,
];

export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The fenced blocks of a language; the empty one is that of blocks without any. */
export const blocksOf = (page: string, language: string): readonly string[] =>
  [...textOf(page).matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === language)
    .map(([, , text = '']) => text);

/** The lines of a page's tables. */
export const rowsOf = (page: string): readonly string[] =>
  textOf(page)
    .split('\n')
    .filter((line) => line.startsWith('|'));

/** Of the table under a heading: the code in the first column. */
export function firstColumn(page: string, heading: string): readonly string[] {
  const [, section = ''] = textOf(page).split(new RegExp(`\\n#{2,3} ${heading}\\n`));
  const [own = ''] = section.split(/\n#{2,3} /);
  return own
    .split('\n')
    .filter((line) => /^\| `/.test(line))
    .flatMap((line) => codesIn(line.split('|')[1] ?? ''));
}

/** The rows, as cells, of a page's table with these columns. */
export function tableIn(page: string, ...columns: readonly string[]): readonly (readonly string[])[] {
  const [, after] = textOf(page).split(`\n| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}\n`);
  if (!after) throw new Error(`${page} has no table ${columns.join(', ')}`);
  const rows = after.slice(0, after.search(/^(?!\|)/m)).split('\n');
  return rows.filter(Boolean).map((row) => row.split('|').slice(1, -1));
}

/** The code in a cell. */
export const cell = (row: readonly string[], index: number) => codesIn(row[index] ?? '');

export const codesIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** Each command of a page: of its shell blocks, and what stands as `npm …`, `npx …` or `countersign …` in a sentence. */
export function commandsOf(page: string): readonly string[] {
  const inBlocks = blocksOf(page, 'sh').flatMap((block) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, '').trim())
      .filter(Boolean),
  );
  const outside = textOf(page).replaceAll(/^```.*?^```/gms, '');
  const inSentences = codesIn(outside.replaceAll('\n', ' ')).filter((code) =>
    /^(np[mx]|countersign) /.test(code),
  );
  return [...inBlocks, ...inSentences].flatMap((line) => line.split(/\s+&&\s+/));
}

/** As GitHub makes anchors of headings. */
export const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set(
    [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
