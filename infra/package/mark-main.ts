/** The last step of `npm run build`, after the compiler: see pure-calls.ts and declarations.ts. */

import { join } from 'node:path';
import { declareEntries } from './declarations.ts';
import { markFolder } from './pure-calls.ts';

const catalogue = join(import.meta.dirname, '../../dist/lib/catalogue');
markFolder(catalogue);
declareEntries(catalogue);
