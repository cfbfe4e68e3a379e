/**
 * What `require` finds of each entry: two small files beside the module. The module itself is loaded either way, so that a
 * program that both imports and requires the package has each class and each store once. Node does so from 20.19 and 22.12
 * on. For the compiler a file `.d.cts` declares the same names, because of a module it takes types alone from there
 * (TS1479).
 */

import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { entries, type PackageEntry, sourceOf } from './entries.ts';

const root = join(import.meta.dirname, '../..');

/** @param folder that of the built package, which has `dist` */
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

/** A class is a type, too, which a constant of its name would hide. */
const declarationOf = (name: string, value: unknown) =>
  `export declare const ${name}: typeof entry.${name};${
    typeof value === 'function' && /^class\b/.test(String(value))
      ? `\nexport type ${name} = entry.${name};`
      : ''
  }`;
