/** Puts the declarations of `entry-declarations.ts` in place of the compiler's, in the built package. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { declaredOperations, entryDeclarations } from './entry-declarations.ts';

/** @param folder the built `lib/catalogue` */
export function declareEntries(folder: string): void {
  const entries = join(folder, 'entries.d.ts');
  const waiting = new Set(declaredOperations.map(({ id }) => id));
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name);
    if (!name.endsWith('.d.ts') || file === entries) continue;
    const path = relative(dirname(file), entries)
      .replace(/^(?!\.)/, './')
      .replace(/\.d\.ts$/, '.ts');
    const before = readFileSync(file, 'utf8');
    const after = before.replaceAll(entry, (whole, id: string) =>
      waiting.delete(id) ? `export { ${id} } from '${path}';\n` : whole,
    );
    if (after !== before) writeFileSync(file, after);
  }
  if (waiting.size > 0) throw new Error(`The compiler declared no ${[...waiting].join(', ')}`);
  writeFileSync(entries, entryDeclarations());
}

/** A constant whose type the compiler writes out, over several lines. */
const entry = /^export declare const (\w+): \{\n[\s\S]*?^\};\n/gm;
