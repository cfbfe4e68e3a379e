/**
 * Writes two small files for `require` beside each entry's module. They load the module itself, so that a program that
 * both imports and requires the package has each class and each store once; Node can do so from 20.19 and 22.12 on. A
 * file `.d.cts` declares the same names for the compiler, because `require` gets nothing but types from a module's own
 * declarations (TS1479).
 */

import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { entries, type PackageEntry, sourceOf } from './entries.ts';

const root = join(import.meta.dirname, '../..');

/** @param folder of the built package, which contains `dist` */
export async function writeForRequire(folder: string): Promise<void> {
  const written = new Set<string>();
  for (const entry of entries()) {
    if (written.has(entry.path)) continue;
    written.add(entry.path);
    const module = `./${basename(entry.path)}.js`;
    writeFileSync(join(folder, `${entry.path}.cjs`), `module.exports = require('${module}');\n`);
    writeFileSync(join(folder, `${entry.path}.d.cts`), declarationsOf(module, await valuesOf(entry)));
  }
}

async function valuesOf(entry: PackageEntry): Promise<Readonly<Record<string, unknown>>> {
  return (await import(pathToFileURL(join(root, sourceOf(entry))).href)) as Record<string, unknown>;
}

const declarationsOf = (module: string, values: Readonly<Record<string, unknown>>) =>
  `import type * as entry from '${module}' with { 'resolution-mode': 'import' };
export type * from '${module}' with { 'resolution-mode': 'import' };
${Object.entries(values)
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([name, value]) => declarationOf(name, value))
  .join('\n')}
`;

/** Declares a class's type, too, which the constant of the same name would hide. */
const declarationOf = (name: string, value: unknown) =>
  `export declare const ${name}: typeof entry.${name};${
    typeof value === 'function' && /^class\b/.test(String(value))
      ? `\nexport type ${name} = entry.${name};`
      : ''
  }`;
