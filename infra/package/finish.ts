/** What a built package has besides the compiler's files. */

import { join } from 'node:path';
import { declareEntries } from './entry-declarations.ts';
import { writeForRequire } from './for-require.ts';
import { markFolder } from './pure-calls.ts';

/** Marks for bundlers, declarations with hover text, and what `require` finds. @param folder which has `dist` */
export async function finishPackage(folder: string): Promise<void> {
  const catalogue = join(folder, 'dist/lib/catalogue');
  markFolder(catalogue);
  declareEntries(catalogue);
  await writeForRequire(folder);
}
