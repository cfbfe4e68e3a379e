/** The command behind `npm run docs`: writes what the documentation takes from the catalogue. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operations } from '../../lib/catalogue/index.ts';
import { operationsTable } from './operations-table.ts';

const file = fileURLToPath(new URL('../../docs/operations.md', import.meta.url));
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, operationsTable(operations));
console.log('docs/operations.md is written.');
