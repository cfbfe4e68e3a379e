/** The command behind `npm run docs`: writes what the documentation takes from the catalogue and from figures. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operations } from '../../lib/catalogue/index.ts';
import { eventSchemas } from '../events/schemas.ts';
import { costPage } from './cost-page.ts';
import { operationsTable } from './operations-table.ts';

const schemas = Object.entries(eventSchemas()).map(
  ([name, schema]) => [`events/${name}.json`, `${JSON.stringify(schema, undefined, 2)}\n`] as const,
);
const pages = {
  'operations.md': operationsTable(operations),
  'cost.md': costPage(),
  ...Object.fromEntries(schemas),
};

const folder = fileURLToPath(new URL('../../docs/', import.meta.url));
mkdirSync(`${folder}events`, { recursive: true });
for (const [name, text] of Object.entries(pages)) {
  writeFileSync(`${folder}${name}`, text);
  console.log(`docs/${name} is written.`);
}
