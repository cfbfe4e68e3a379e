/** The table of docs/examples/README.md: how far each generator comes with each document. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/bundle.ts';
import type { DocumentName } from './documents.ts';
import type { Generator } from './generator.ts';
import { stages, type Trial } from './trial.ts';

export const readme = join(root, 'docs/examples/README.md');

const begin = '<!-- Written by CLIENTS=all npm run test:clients -->';
const end = '<!-- End of what is written -->';

const cells = (texts: readonly string[]) => `| ${texts.join(' | ')} |`;

const columns = ['Generator', 'Document', ...stages.map((stage) => stage.replace(' ok', ''))];

/** What a row is known by. */
const aboutOf = ({ name, version, language }: Generator, document: DocumentName): readonly string[] => [
  `${name} ${version} (${language})`,
  document,
];

export function rowOf(generator: Generator, document: DocumentName, { failedAt }: Trial): string {
  const failed = failedAt === undefined ? stages.length : stages.indexOf(failedAt);
  return cells([
    ...aboutOf(generator, document),
    ...stages.map((_, at) => (at < failed ? wordOf(generator, at) : at === failed ? '**no**' : '')),
  ]);
}

const wordOf = ({ check }: Generator, at: number) =>
  check === undefined || at === 0 ? 'yes' : at === 1 ? 'parses' : '';

/** As it stands in the page; undefined where the page has none. */
export function rowInPage(generator: Generator, document: DocumentName): string | undefined {
  const about = cells(aboutOf(generator, document)).slice(0, -1);
  return partsOf(readFileSync(readme, 'utf8'))
    .table.split('\n')
    .find((line) => line.startsWith(about));
}

/** In place of the page's table. */
export function writeTable(rows: readonly string[]): void {
  const { before, after } = partsOf(readFileSync(readme, 'utf8'));
  const table = [cells(columns), cells(columns.map(() => '---')), ...rows].join('\n');
  writeFileSync(readme, `${before}${begin}\n\n${table}\n\n${end}${after}`);
}

function partsOf(page: string) {
  const [before = '', rest = ''] = page.split(begin);
  const [table = '', after = ''] = rest.split(end);
  return { before, table, after };
}
