/** The command behind `npm run docs`: writes what the documentation takes from the catalogue and from figures. */

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operations } from '../../lib/catalogue/index.ts';
import { costPage } from './cost-page.ts';
import { operationsTable } from './operations-table.ts';

const pages = { 'operations.md': operationsTable(operations), 'cost.md': costPage() };

const folder = fileURLToPath(new URL('../../docs/', import.meta.url));
for (const [name, text] of Object.entries(pages)) {
  writeFileSync(`${folder}${name}`, text);
  console.log(`docs/${name} is written.`);
}
