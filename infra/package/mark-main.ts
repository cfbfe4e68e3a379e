/** `npm run build`, after the compiler: see pure-calls.ts. */

import { join } from 'node:path';
import { markFolder } from './pure-calls.ts';

markFolder(join(import.meta.dirname, '../../dist/lib/catalogue'));
