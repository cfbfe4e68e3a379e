/** Adds to a built package what the compiler does not write. */

import { join } from 'node:path';
import { writeClientGroups } from './client-groups.ts';
import { declareEntries } from './entry-declarations.ts';
import { writeForRequire } from './for-require.ts';
import { markFolder } from './pure-calls.ts';

/** Adds marks for bundlers, declarations with hover text, and files for `require`. @param folder contains `dist` */
export async function finishPackage(folder: string): Promise<void> {
  const catalogue = join(folder, 'dist/lib/catalogue');
  markFolder(catalogue);
  declareEntries(catalogue);
  await writeForRequire(folder, await writeClientGroups(folder));
}
