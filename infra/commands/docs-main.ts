/** The command behind `npm run docs`: writes what the documentation takes from the catalogue. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operations } from '../../lib/catalogue/index.ts';
import { eventSchemas } from '../events/schemas.ts';
import { operationsTable } from './operations-table.ts';

const files = [
  ['docs/operations.md', operationsTable(operations)],
  ...Object.entries(eventSchemas()).map(
    ([name, schema]) => [`docs/events/${name}.json`, `${JSON.stringify(schema, undefined, 2)}\n`] as const,
  ),
] as const;
for (const [name, text] of files) {
  const file = fileURLToPath(new URL(`../../${name}`, import.meta.url));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(`${name} is written.`);
}
